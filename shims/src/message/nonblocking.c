/* Requests for messages that evenkeel carries: nonblocking calls, finishing, cancelling. See message.h. */
#include "message/message.h"

/* ---- the table: handle to transfer ---- */

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
    uint32_t bits = ek_transfers ? ek_transfer_bits + 1 : 8;
    ek_transfer **larger = calloc((size_t)1 << bits, sizeof(*larger)), **old = ek_transfers;
    uint32_t count = old ? size_of_table() : 0;
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
ek_transfer *ek_transfer_obtain(ek_entry *e, MPI_Comm comm)
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
    t->state = EK_ACTIVE;
    t->persistent = t->receives = t->sends = t->own_type = false;
    t->in = t->out = (ek_half){0};
    t->comm = comm;
    t->entry = e;
    return t;
}

/* Of all sends that were complete when they had been started: there is nothing to tell them apart by. */
static ek_transfer *sent;

static ek_transfer *obtain_sent(ek_entry *e, MPI_Comm comm)
{
    if (EK_UNLIKELY(!sent) && (sent = ek_transfer_obtain(e, comm)))
        sent->sends = true;
    return sent;
}

static void release(ek_transfer *t)
{
    if (t == sent)
        return;
    if (t->own_type)
        ek_host.Type_free(&t->type);
    t->own_type = false;
    t->state = EK_FREE;
    t->next = unused;
    unused = t;
}

/* ---- starting ---- */

int ek_transfer_hand_out(ek_transfer *t, int code, MPI_Request *request)
{
    if (!code) {
        *request = t->handle;
        return MPI_SUCCESS;
    }
    MPI_Comm comm = t->comm;
    ek_entry *e = t->entry;
    release(t);
    return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

static int nonblocking_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                            MPI_Comm comm, MPI_Request *request, enum ek_mode mode)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e || dest == MPI_PROC_NULL || !request)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half h = {0};
    int code = ek_begin_send(&h, e, buf, count, type, dest, tag, mode);
    if (EK_UNLIKELY(code))
        return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
    ek_transfer *t = h.message ? ek_transfer_obtain(e, comm) : obtain_sent(e, comm);
    if (EK_UNLIKELY(!t)) {
        ek_half_abandon(&h);
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    }
    if (h.message) {
        t->sends = true;
        t->out = h;
    }
    *request = t->handle;
    return MPI_SUCCESS;
}

#define NONBLOCKING_SEND(name, mode)                                                                      \
    int ekm_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                   MPI_Request *request)                                                                  \
    {                                                                                                     \
        return nonblocking_send(buf, count, type, dest, tag, comm, request, mode);                        \
    }
NONBLOCKING_SEND(isend, EK_STANDARD)
NONBLOCKING_SEND(irsend, EK_STANDARD)
NONBLOCKING_SEND(issend, EK_SYNCHRONOUS)
NONBLOCKING_SEND(ibsend, EK_BUFFERED)

int ekm_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e || source == MPI_PROC_NULL || !request)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = ek_transfer_obtain(e, comm);
    return t ? ek_transfer_hand_out(t, ek_transfer_receive(t, buf, count, type, source, tag), request)
             : ek_raise(comm, e, MPI_ERR_NO_MEM);
}

int ekm_imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    EK_PASS;
    ek_half h;
    ek_entry *e;
    MPI_Comm comm;
    int code = ek_half_matched(&h, buf, count, type, message, &e, &comm);
    if (code == EK_HOST_SHALL)
        return code;
    if (code)
        return ek_raise(comm, e, code);
    ek_transfer *t = ek_transfer_obtain(e, comm);
    if (!t)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    t->receives = true;
    t->in = h;
    return ek_transfer_hand_out(t, MPI_SUCCESS, request);
}

int ekm_isendrecv(const void *out, MPI_Count out_count, MPI_Datatype out_type, int dest, int out_tag,
                  void *in, MPI_Count in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side side;
    if (!e || (dest == MPI_PROC_NULL && source == MPI_PROC_NULL) || !request ||
        (dest != MPI_PROC_NULL && (!ek_message_peer(e, dest, false) || !ek_message_tag(out_tag, false) ||
                                   !ek_measure(&side, out_count, out_type))) ||
        (source != MPI_PROC_NULL && (!ek_message_peer(e, source, true) || !ek_message_tag(in_tag, true) ||
                                     !ek_measure(&side, in_count, in_type))))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = ek_transfer_obtain(e, comm);
    if (!t)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    t->receives = t->sends = true;
    int code = source == MPI_PROC_NULL
                   ? MPI_SUCCESS
                   : ek_half_receive(&t->in, e, in, in_count, in_type, source, in_tag, NULL);
    t->peer = source;
    if (!code && dest != MPI_PROC_NULL)
        code = ek_half_send(&t->out, e, out, out_count, out_type, dest, out_tag, EK_STANDARD);
    return ek_transfer_hand_out(t, code == EK_HOST_SHALL ? MPI_ERR_BUFFER : code, request);
}

int ekm_isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int out_tag, int source,
                          int in_tag, MPI_Comm comm, MPI_Request *request)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side side;
    if (!e || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    char *copy = malloc(side.bytes + 1);
    if (!copy)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    int code = side.bytes ? ek_pack(buf, count, type, side.type, copy) : MPI_SUCCESS;
    if (!code)
        code = ekm_isendrecv(copy, (MPI_Count)side.bytes, ek_handles.byte, dest, out_tag, buf, count, type,
                             source, in_tag, comm, request);
    ek_transfer *t = code ? NULL : ek_transfer_of(*request);
    if (t && t->out.message)
        t->out.packed = copy; /* until it has been sent */
    else
        free(copy);
    return code;
}

/* ---- finishing ---- */

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
    const ek_half *h = t->receives ? &t->in : &t->out;
    const ek_message *m = t->state == EK_ACTIVE ? h->message : NULL;
    if (!m || m->source < 0)
        ek_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, m && m->cancelled);
    else
        ek_status(status, m->source, m->tag, m->truncated ? (size_t)(h->count * h->size) : m->bytes,
                  m->cancelled);
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

int ekm_request_free(MPI_Request *request)
{
    ek_transfer *t = ek_transfer_of(*request);
    if (!t)
        return EK_HOST_SHALL;
    EK_PASS;
    if (t->state == EK_ACTIVE) {
        ek_half_abandon(&t->in);
        ek_half_abandon(&t->out);
    }
    release(t);
    *request = ek_handles.request_null;
    return MPI_SUCCESS;
}

void ek_transfers_end(void)
{
    ek_detached_end();
    for (uint32_t i = 0; ek_transfers && i < size_of_table(); i++) {
        if (ek_transfers[i]) {
            ek_host.Request_free(&ek_transfers[i]->handle);
            free(ek_transfers[i]);
        }
    }
    free(ek_transfers);
    ek_transfers = NULL;
    unused = sent = NULL;
    entries = 0;
}
