/* Persistent requests. See message.h. */
#include "message/message.h"

static int make_persistent(void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                           MPI_Request *request, bool receives, enum ek_mode mode)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side side;
    if (!e || peer == MPI_PROC_NULL || !request || !ek_message_peer(e, peer, receives) ||
        !ek_message_tag(tag, receives) || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_transfer *t = ek_transfer_obtain(e, comm);
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
    return ek_transfer_hand_out(t, MPI_SUCCESS, request);
}

#define PERSISTENT_SEND(name, mode)                                                                         \
    int ekm_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,   \
                   MPI_Request *request)                                                                    \
    {                                                                                                       \
        return make_persistent((void *)(uintptr_t)buf, count, type, dest, tag, comm, request, false, mode); \
    }
PERSISTENT_SEND(send_init, EK_STANDARD)
PERSISTENT_SEND(rsend_init, EK_STANDARD)
PERSISTENT_SEND(ssend_init, EK_SYNCHRONOUS)
PERSISTENT_SEND(bsend_init, EK_BUFFERED)

int ekm_recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
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
    int code = t->receives
                   ? ek_transfer_receive(t, t->buf, t->count, t->type, t->peer, t->tag)
                   : ek_begin_send(&t->out, t->entry, t->buf, t->count, t->type, t->peer, t->tag, t->mode);
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
