#include "message/nonblocking.h"
#include "gate/deferral.h"
#include "host/pack.h"
#include "message/abandoned.h"
#include "message/arguments.h"
#include "message/buffered.h"
#include "message/request.h"
#include "message/send_receive.h"
#include "process/errors.h"
#include <stdlib.h>

/* ---- sends ---- */

static int send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request *request, ek_send_mode mode)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e || dest == MPI_PROC_NULL || !request)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_transfer t = {0};
    int code = ek_begin_send(&t, e, buf, count, type, dest, tag, mode);
    if (EK_UNLIKELY(code))
        return code == EK_DECLINED ? code : ek_raise_checked(comm, e, code);
    ek_message_request *r =
        t.message ? ek_message_request_obtain(e, comm) : ek_message_request_obtain_sent(e, comm);
    if (EK_UNLIKELY(!r)) {
        ek_transfer_abandon(&t);
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    }
    if (t.message) {
        r->sends = true;
        r->out = t;
    }
    *request = r->handle;
    return MPI_SUCCESS;
}

#define SEND(name, mode)                                                                                     \
    int ek_try_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                      MPI_Request *request)                                                                  \
    {                                                                                                        \
        return send(buf, count, type, dest, tag, comm, request, mode);                                       \
    }
SEND(isend, EK_STANDARD)
SEND(irsend, EK_STANDARD)
SEND(issend, EK_SYNCHRONOUS)
SEND(ibsend, EK_BUFFERED)

/* ---- receives ---- */

int ek_try_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e || source == MPI_PROC_NULL || !request)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_message_request *r = ek_message_request_obtain(e, comm);
    if (!r)
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    r->receives = true;
    int code = ek_transfer_receive(&r->in, e, buf, count, type, source, tag);
    return ek_message_request_hand_out(r, code, request);
}

/* ---- both ---- */

static int send_and_receive(const ek_send_receive *x, MPI_Comm comm, MPI_Request *request)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e || !request || !ek_send_receive_is_valid(x, e))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_message_request *r = ek_message_request_obtain(e, comm);
    if (!r)
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    r->receives = r->sends = true;
    r->receives_nothing = x->source == MPI_PROC_NULL;
    return ek_message_request_hand_out(r, ek_send_receive_start(x, e, &r->in, &r->out), request);
}

int ek_try_isendrecv(const void *sent, MPI_Count sent_count, MPI_Datatype sent_type, int dest, int sent_tag,
                     void *received, MPI_Count received_count, MPI_Datatype received_type, int source,
                     int received_tag, MPI_Comm comm, MPI_Request *request)
{
    const ek_send_receive x = {sent,     sent_count,     sent_type,     dest,   sent_tag,
                               received, received_count, received_type, source, received_tag};
    return send_and_receive(&x, comm, request);
}

int ek_try_isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sent_tag,
                             int source, int received_tag, MPI_Comm comm, MPI_Request *request)
{
    ek_comm_entry *e = ek_message_comm(comm);
    ek_elements elements;
    if (!e || !ek_elements_measure(&elements, count, type))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    char *copy = malloc(elements.bytes + 1);
    if (!copy)
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    int code = elements.bytes ? ek_pack(buf, count, &elements.type->layout, copy) : MPI_SUCCESS;
    if (!code)
        code = ek_try_isendrecv(copy, (MPI_Count)elements.bytes, ek_handles.byte, dest, sent_tag, buf, count,
                                type, source, received_tag, comm, request);
    ek_message_request *r = code ? NULL : ek_message_request_of(*request);
    if (r && r->out.message)
        r->out.packed = copy; /* until it has been sent */
    else
        free(copy);
    return code;
}
