/* Requests for messages that evenkeel carries: nonblocking and persistent calls, buffered sends, cancelling. See message.h. */
#include "message.h"

/* ---- the table: handle to transfer ------------------------------------------------------------------------------- */

uint32_t ek_transfer_bits;
ek_transfer **ek_transfers;
static ek_transfer *unused;
static uint32_t entries;
static char nowhere;

static uint32_t size_of_table(void) { return 1u << ek_transfer_bits; }

ek_transfer *ek_transfer_find_slowly(uintptr_t key)
{
    uint32_t mask = size_of_table() - 1, at = (uint32_t)ek_hash(key, ek_transfer_bits);
    while (ek_transfers[at] && ek_transfers[at]->key != key)
        at = (at + 1) & mask;
    return ek_transfers[at] && ek_transfers[at]->state != EK_FREE ? ek_transfers[at] : NULL;
}

static void place(ek_transfer *t)
{
    uint32_t mask = size_of_table() - 1, at = (uint32_t)ek_hash(t->key, ek_transfer_bits);
    while (ek_transfers[at])
        at = (at + 1) & mask;
    ek_transfers[at] = t;
}

static bool grow(void)
{
    uint32_t     bits = ek_transfers ? ek_transfer_bits + 1 : 8;
    ek_transfer **larger = calloc((size_t)1 << bits, sizeof(*larger)), **old = ek_transfers;
    uint32_t     count = old ? size_of_table() : 0;
    if (!larger)
        return false;
    ek_transfers = larger;
    ek_transfer_bits = bits;
    for (uint32_t i = 0; i < count; i++)
        if (old[i])
            place(old[i]);
    free(old);
    return true;
}

/* Handles are kept and used again: the host makes one only when more are in use than ever before. */
static ek_transfer *obtain(ek_entry *e, MPI_Comm comm)
{
    ek_transfer *t = unused;
    if (t) {
        unused = t->next;
    } else {
        if ((!ek_transfers || 2 * entries >= size_of_table()) && !grow())
            return NULL;
        if (!(t = calloc(1, sizeof *t)))
            return NULL;
        ek_depth++;
        int code = ek_host.Recv_init(&nowhere, 0, ek_handles.byte, 0, 0, ek_handles.self, &t->handle);
        ek_depth--;
        if (code) {
            free(t);
            return NULL;
        }
        t->key = (uintptr_t)t->handle;
        entries++;
        place(t);
    }
    uintptr_t   key = t->key;
    MPI_Request handle = t->handle;
    *t = (ek_transfer){.key = key, .handle = handle, .state = EK_ACTIVE, .comm = comm, .entry = e};
    return t;
}

static void release(ek_transfer *t)
{
    if (t->own_type)
        ek_host.Type_free(&t->type);
    t->own_type = false;
    t->state = EK_FREE;
    t->next = unused;
    unused = t;
}

/* ---- buffered sends ---------------------------------------------------------------------------------------------- */

/* Their data are copied to memory of our own; of the program's buffer only the size matters. */
static struct buffered { ek_half half; size_t bytes; struct buffered *next; } *buffered;
static size_t buffer_bytes, buffer_used;
static bool   buffer_unlimited;

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

static int buffered_send(ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag)
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
    int code = buffered_send(e, buf, count, type, dest, tag);
    return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static int begin_send(ek_transfer *t, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, enum ek_mode mode)
{
    t->sends = true;
    t->in = t->out = (ek_half){0};
    if (mode == EK_BUFFERED)
        return buffered_send(t->entry, buf, count, type, dest, tag);
    return ek_half_send(&t->out, t->entry, buf, count, type, dest, tag, mode);
}

static int begin_receive(ek_transfer *t, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag)
{
    t->receives = true;
    t->in = t->out = (ek_half){0};
    return ek_half_receive(&t->in, t->entry, buf, count, type, source, tag, NULL);
}

static int handed_out(ek_transfer *t, int code, MPI_Request *request)
{
    if (!code) {
        *request = t->handle;
        return MPI_SUCCESS;
    }
    MPI_Comm  comm = t->comm;
    ek_entry *e = t->entry;
    release(t);
    return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

static int nonblocking_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request,
                            enum ek_mode mode)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e || dest == MPI_PROC_NULL || !request)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = obtain(e, comm);
    return t ? handed_out(t, begin_send(t, buf, count, type, dest, tag, mode), request) : ek_raise(comm, e, MPI_ERR_NO_MEM);
}

#define NONBLOCKING_SEND(name, mode)                                                                                    \
    int ekm_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
    {                                                                                                                  \
        return nonblocking_send(buf, count, type, dest, tag, comm, request, mode);                                     \
    }
NONBLOCKING_SEND(isend, EK_STANDARD)
NONBLOCKING_SEND(irsend, EK_STANDARD)
NONBLOCKING_SEND(issend, EK_SYNCHRONOUS)
NONBLOCKING_SEND(ibsend, EK_BUFFERED)

int ekm_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e || source == MPI_PROC_NULL || !request)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = obtain(e, comm);
    return t ? handed_out(t, begin_receive(t, buf, count, type, source, tag), request) : ek_raise(comm, e, MPI_ERR_NO_MEM);
}

int ekm_imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    EK_PASS;
    ek_half   h;
    ek_entry *e;
    MPI_Comm  comm;
    int code = ek_half_matched(&h, buf, count, type, message, &e, &comm);
    if (code == EK_HOST_SHALL)
        return code;
    if (code)
        return ek_raise(comm, e, code);
    ek_transfer *t = obtain(e, comm);
    if (!t)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    t->receives = true;
    t->in = h;
    return handed_out(t, MPI_SUCCESS, request);
}

int ekm_isendrecv(const void *out, MPI_Count out_count, MPI_Datatype out_type, int dest, int out_tag, void *in, MPI_Count in_count,
                  MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side   side;
    if (!e || (dest == MPI_PROC_NULL && source == MPI_PROC_NULL) || !request ||
        (dest != MPI_PROC_NULL && (!ek_message_peer(e, dest, false) || !ek_message_tag(out_tag, false) || !ek_measure(&side, out_count, out_type))) ||
        (source != MPI_PROC_NULL && (!ek_message_peer(e, source, true) || !ek_message_tag(in_tag, true) || !ek_measure(&side, in_count, in_type))))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = obtain(e, comm);
    if (!t)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    t->receives = t->sends = true;
    int code = source == MPI_PROC_NULL ? MPI_SUCCESS : ek_half_receive(&t->in, e, in, in_count, in_type, source, in_tag, NULL);
    t->peer = source;
    if (!code && dest != MPI_PROC_NULL)
        code = ek_half_send(&t->out, e, out, out_count, out_type, dest, out_tag, EK_STANDARD);
    return handed_out(t, code == EK_HOST_SHALL ? MPI_ERR_BUFFER : code, request);
}

int ekm_isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag, MPI_Comm comm,
                          MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side   side;
    if (!e || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    char *copy = malloc(side.bytes + 1);
    if (!copy)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    int code = side.bytes ? ek_pack(buf, count, type, side.type, copy) : MPI_SUCCESS;
    if (!code)
        code = ekm_isendrecv(copy, (MPI_Count)side.bytes, ek_handles.byte, dest, out_tag, buf, count, type, source, in_tag, comm, request);
    ek_transfer *t = code ? NULL : ek_transfer_of(*request);
    if (t && t->out.message)
        t->out.packed = copy; /* until it has been sent */
    else
        free(copy);
    return code;
}

/* ---- persistent requests ------------------------------------------------------------------------------------------- */

static int make_persistent(void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request,
                           bool receives, enum ek_mode mode)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side   side;
    if (!e || peer == MPI_PROC_NULL || !request || !ek_message_peer(e, peer, receives) || !ek_message_tag(tag, receives) ||
        !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = obtain(e, comm);
    if (!t)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    t->state = EK_INACTIVE;
    t->persistent = true;
    t->receives = receives;
    t->sends = !receives;
    t->mode = mode;
    t->buf = buf;
    t->count = count;
    t->type = type;
    t->peer = peer;
    t->tag = tag;
    if (!side.type->named)
        t->own_type = !ek_host.Type_dup(type, &t->type);
    return handed_out(t, MPI_SUCCESS, request);
}

#define PERSISTENT_SEND(name, mode)                                                                                     \
    int ekm_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
    {                                                                                                                  \
        return make_persistent((void *)(uintptr_t)buf, count, type, dest, tag, comm, request, false, mode);            \
    }
PERSISTENT_SEND(send_init, EK_STANDARD)
PERSISTENT_SEND(rsend_init, EK_STANDARD)
PERSISTENT_SEND(ssend_init, EK_SYNCHRONOUS)
PERSISTENT_SEND(bsend_init, EK_BUFFERED)

int ekm_recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buf, count, type, source, tag, comm, request, true, EK_STANDARD);
}

int ekm_start(MPI_Request *request)
{
    ek_transfer *t = ek_transfer_of(*request);
    if (!t || !t->persistent)
        return EK_HOST_SHALL;
    if (t->state != EK_INACTIVE)
        return ek_raise(t->comm, t->entry, MPI_ERR_REQUEST);
    EK_PASS;
    int code = t->receives ? begin_receive(t, t->buf, t->count, t->type, t->peer, t->tag)
                           : begin_send(t, t->buf, t->count, t->type, t->peer, t->tag, t->mode);
    if (code == EK_HOST_SHALL)
        code = MPI_ERR_BUFFER;
    if (!code)
        t->state = EK_ACTIVE;
    return code ? ek_raise(t->comm, t->entry, code) : MPI_SUCCESS;
}

int ekm_startall(int count, MPI_Request *requests)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any = any || ek_transfer_of(requests[i]);
    if (!any)
        return EK_HOST_SHALL;
    for (int i = 0; i < count; i++) {
        int code = ekm_start(&requests[i]);
        if (code == EK_HOST_SHALL && !(code = ek_host.Start(&requests[i])))
            ek_host_requests++;
        if (code)
            return code;
    }
    return MPI_SUCCESS;
}

/* ---- finishing ----------------------------------------------------------------------------------------------------- */

static void freed(ek_half *h)
{
    if (h->message)
        ek_message_free(h->message);
    h->message = NULL;
    ek_half_drop(h);
}

int ek_transfer_finish(ek_transfer *t, MPI_Request *request, MPI_Status *status)
{
    if (t->state == EK_INACTIVE) {
        ek_status_empty(status);
        return MPI_SUCCESS;
    }
    int code = t->sends ? ek_half_finish(&t->out, t->receives ? MPI_STATUS_IGNORE : status) : MPI_SUCCESS;
    if (t->receives && t->sends && t->peer == MPI_PROC_NULL)
        ek_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    else if (t->receives)
        code = ek_half_finish(&t->in, status);
    if (t->persistent) {
        t->state = EK_INACTIVE;
    } else {
        release(t);
        *request = ek_handles.request_null;
    }
    return code;
}

int ek_transfer_status(ek_transfer *t, MPI_Status *status)
{
    const ek_half    *h = t->receives ? &t->in : &t->out;
    const ek_message *m = t->state == EK_ACTIVE ? h->message : NULL;
    if (!m || m->source < 0)
        ek_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, m && m->cancelled);
    else
        ek_status(status, m->source, m->tag, m->truncated ? (size_t)(h->count * h->size) : m->bytes, m->cancelled);
    return m && m->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

bool ek_transfer_gives_up(ek_transfer *t)
{
    if (t->state != EK_ACTIVE || !ek_message_revoked(t->entry))
        return false;
    freed(&t->in);
    freed(&t->out);
    return true;
}

int ekm_cancel(MPI_Request *request)
{
    ek_transfer *t = ek_transfer_of(*request);
    if (!t)
        return EK_HOST_SHALL;
    EK_PASS;
    if (t->state == EK_ACTIVE && t->in.message && !t->in.message->done)
        ek_message_cancel(t->in.message);
    return MPI_SUCCESS; /* sends go on: a cancelled send may be sent all the same */
}

/* Requests that the program has freed while they were active. */
static struct orphan { ek_half half; struct orphan *next; } *orphans;

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

static void abandon(ek_half *h)
{
    struct orphan *o = h->message && h->packed ? malloc(sizeof *o) : NULL;
    if (o) {
        *o = (struct orphan){.half = *h, .next = orphans};
        orphans = o;
    } else if (h->message) {
        ek_message_free(h->message);
    }
    *h = (ek_half){0};
}

int ekm_request_free(MPI_Request *request)
{
    ek_transfer *t = ek_transfer_of(*request);
    if (!t)
        return EK_HOST_SHALL;
    EK_PASS;
    reap_orphans();
    if (t->state == EK_ACTIVE) {
        abandon(&t->in);
        abandon(&t->out);
    }
    release(t);
    *request = ek_handles.request_null;
    return MPI_SUCCESS;
}

void ek_transfers_end(void)
{
    wait_for_buffered();
    reap_orphans();
    for (uint32_t i = 0; ek_transfers && i < size_of_table(); i++) {
        if (ek_transfers[i]) {
            ek_host.Request_free(&ek_transfers[i]->handle);
            free(ek_transfers[i]);
        }
    }
    free(ek_transfers);
    ek_transfers = NULL;
    unused = NULL;
    entries = 0;
}
