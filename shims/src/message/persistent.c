#include "message/persistent.h"
#include "gate/deferral.h"
#include "gate/host_requests.h"
#include "message/arguments.h"
#include "message/buffered.h"
#include "message/request.h"
#include "process/errors.h"

/* ---- making ---- */

static int make(const ek_persistent_call *call, MPI_Comm comm, MPI_Request *request, bool receives)
{
    ek_comm_entry *e = ek_message_comm(comm);
    ek_elements elements;
    if (!e || call->peer == MPI_PROC_NULL || !request || !ek_message_rank_is_valid(e, call->peer, receives) ||
        !ek_message_tag_is_valid(call->tag, receives) ||
        !ek_elements_measure(&elements, call->count, call->type))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_message_request *r = ek_message_request_obtain(e, comm);
    if (!r)
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    r->state = EK_INACTIVE;
    r->is_persistent = true;
    r->receives = receives;
    r->sends = !receives;
    r->call = *call;
    if (!elements.type->predefined)
        r->call.owns_type = !ek_host.Type_dup(call->type, &r->call.type);
    return ek_message_request_hand_out(r, MPI_SUCCESS, request);
}

static int make_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request, ek_send_mode mode)
{
    const ek_persistent_call call = {
        .buf = (void *)(uintptr_t)buf, .count = count, .type = type, .peer = dest, .tag = tag, .mode = mode};
    return make(&call, comm, request, false);
}

#define MAKE_SEND(name, mode)                                                                                \
    int ek_try_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                      MPI_Request *request)                                                                  \
    {                                                                                                        \
        return make_send(buf, count, type, dest, tag, comm, request, mode);                                  \
    }
MAKE_SEND(send_init, EK_STANDARD)
MAKE_SEND(rsend_init, EK_STANDARD)
MAKE_SEND(ssend_init, EK_SYNCHRONOUS)
MAKE_SEND(bsend_init, EK_BUFFERED)

int ek_try_recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    const ek_persistent_call call = {.buf = buf, .count = count, .type = type, .peer = source, .tag = tag};
    return make(&call, comm, request, true);
}

/* ---- starting ---- */

int ek_try_start(MPI_Request *request)
{
    ek_message_request *r = ek_message_request_of(*request);
    if (!r || !r->is_persistent)
        return EK_DECLINED;
    if (r->state != EK_INACTIVE)
        return ek_raise_checked(r->comm, r->entry, MPI_ERR_REQUEST);
    EK_OPEN_GATE_SCOPE;
    const ek_persistent_call *c = &r->call;
    int code = r->receives
                   ? ek_transfer_receive(&r->in, r->entry, c->buf, c->count, c->type, c->peer, c->tag)
                   : ek_begin_send(&r->out, r->entry, c->buf, c->count, c->type, c->peer, c->tag, c->mode);
    if (code == EK_DECLINED)
        code = MPI_ERR_BUFFER;
    if (!code)
        r->state = EK_ACTIVE;
    return ek_raise_checked(r->comm, r->entry, code);
}

int ek_try_startall(int count, MPI_Request *requests)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any = any || ek_message_request_of(requests[i]);
    if (!any)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    for (int i = 0; i < count; i++) {
        int code = ek_try_start(&requests[i]);
        if (code == EK_DECLINED) {
            if (ek_deferred)
                ek_complete_deferred("MPI_Startall", false);
            code = ek_host.Start(&requests[i]);
            ek_host_requests_started(code == MPI_SUCCESS);
        }
        if (code)
            return code;
    }
    return MPI_SUCCESS;
}
