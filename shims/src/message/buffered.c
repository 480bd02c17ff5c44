/* Sends that nobody waits for any more: buffered ones, and those whose requests the program has freed. See
 * message.h. */
#include "message/message.h"

/* ---- buffered sends ---- */

/* Their data are copied to memory of our own; of the program's buffer only the size matters. */
static struct buffered {
    ek_half half;
    size_t bytes;
    struct buffered *next;
} *buffered;
static size_t buffer_bytes, buffer_used;
static bool buffer_unlimited;

static void reap_buffered(void)
{
    for (struct buffered **at = &buffered; *at;) {
        struct buffered *b = *at;
        if (b->half.message && !b->half.message->done) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        buffer_used -= b->bytes;
        ek_half_finish(&b->half, MPI_STATUS_IGNORE);
        free(b);
    }
}

int ek_buffered_send(ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag)
{
    ek_side side;
    ek_half h;
    if (!ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    ek_messages_progress();
    reap_buffered();
    size_t bytes = side.bytes + MPI_BSEND_OVERHEAD;
    if (!buffer_unlimited && (bytes > buffer_bytes || buffer_used > buffer_bytes - bytes))
        return MPI_ERR_BUFFER;
    int code = ek_half_send(&h, e, buf, count, type, dest, tag, EK_BUFFERED);
    if (code || !h.message)
        return code;
    struct buffered *b = malloc(sizeof *b);
    if (!b)
        return MPI_ERR_NO_MEM;
    *b = (struct buffered){.half = h, .bytes = bytes, .next = buffered};
    buffered = b;
    buffer_used += bytes;
    return MPI_SUCCESS;
}

static void wait_for_buffered(void)
{
    ek_message_wait_begin();
    for (reap_buffered(); buffered; reap_buffered())
        ek_message_pause(EK_BESIDE_NOTHING);
}

/* The host gets the buffer too, for the communicators that it serves. */
int ekm_buffer_attach(void *buffer, MPI_Count bytes)
{
#ifdef MPI_BUFFER_AUTOMATIC
    buffer_unlimited = buffer_unlimited || buffer == MPI_BUFFER_AUTOMATIC;
#endif
    (void)buffer;
    buffer_bytes = bytes > 0 ? (size_t)bytes : 0;
    return EK_HOST_SHALL;
}

int ekm_buffer_detach(void *buffer, void *bytes)
{
    (void)buffer, (void)bytes;
    EK_PASS;
    wait_for_buffered();
    buffer_bytes = 0;
    return EK_HOST_SHALL;
}

/* How much room which communicator has is not counted. */
int ekm_comm_attach_buffer(MPI_Comm comm, void *buffer, MPI_Count bytes)
{
    (void)comm, (void)buffer, (void)bytes;
    buffer_unlimited = true;
    return EK_HOST_SHALL;
}

int ekm_bsend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e || dest == MPI_PROC_NULL)
        return EK_HOST_SHALL;
    EK_PASS;
    int code = ek_buffered_send(e, buf, count, type, dest, tag);
    return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

/* ---- freed requests ---- */

/* Requests that the program has freed while they were active. */
static struct orphan {
    ek_half half;
    struct orphan *next;
} *orphans;

static void reap_orphans(void)
{
    for (struct orphan **at = &orphans; *at;) {
        struct orphan *o = *at;
        if (!ek_half_complete(&o->half, false)) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        ek_half_finish(&o->half, MPI_STATUS_IGNORE);
        free(o);
    }
}

void ek_half_abandon(ek_half *h)
{
    reap_orphans();
    struct orphan *o = h->message && h->packed ? malloc(sizeof *o) : NULL;
    if (o) {
        *o = (struct orphan){.half = *h, .next = orphans};
        orphans = o;
    } else if (h->message) {
        ek_message_free(h->message);
    }
    *h = (ek_half){0};
}

void ek_detached_end(void)
{
    wait_for_buffered();
    reap_orphans();
}
