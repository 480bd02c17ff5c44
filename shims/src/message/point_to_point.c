#include "message/point_to_point.h"
#include "gate/deferral.h"
#include "host/pack.h"
#include "host/status.h"
#include "message/arguments.h"
#include "message/send_receive.h"
#include "message/wait.h"
#include "process/errors.h"
#include <stdlib.h>

static int send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                ek_send_mode mode, const char *name)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_transfer t;
    int code = ek_transfer_send(&t, e, buf, count, type, dest, tag, mode);
    if (EK_LIKELY(code == MPI_SUCCESS)) {
        if (EK_LIKELY(!t.message))
            return MPI_SUCCESS;
        code = ek_transfer_wait(&t, e, MPI_STATUS_IGNORE, name, comm, dest, tag);
    }
    return code == EK_DECLINED ? code : ek_raise_checked(comm, e, code);
}

#define SEND(name, mode, mpi_name)                                                                           \
    int ek_try_##name(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
    {                                                                                                        \
        return send(buf, count, type, dest, tag, comm, mode, mpi_name);                                      \
    }
SEND(send, EK_STANDARD, "MPI_Send")
SEND(rsend, EK_STANDARD, "MPI_Rsend")
SEND(ssend, EK_SYNCHRONOUS, "MPI_Ssend")

int ek_try_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_transfer t;
    int code = ek_transfer_receive(&t, e, buf, count, type, source, tag);
    if (EK_LIKELY(code == MPI_SUCCESS))
        code = ek_transfer_wait(&t, e, status, "MPI_Recv", comm, source, tag);
    return EK_LIKELY(code == MPI_SUCCESS) || code == EK_DECLINED ? code : ek_raise_checked(comm, e, code);
}

static int send_and_receive(const ek_send_receive *x, MPI_Comm comm, MPI_Status *status)
{
    ek_comm_entry *e = ek_message_comm(comm);
    if (!e || !ek_send_receive_is_valid(x, e))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_transfer in = {0}, out = {0};
    int code = ek_send_receive_start(x, e, &in, &out);
    if (!code)
        code = ek_transfer_wait(&out, e, MPI_STATUS_IGNORE, "MPI_Sendrecv", comm, x->dest, x->sent_tag);
    if (x->source == MPI_PROC_NULL)
        ek_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    else if (!code)
        code = ek_transfer_wait(&in, e, status, "MPI_Sendrecv", comm, x->source, x->received_tag);
    return ek_raise_checked(comm, e, code);
}

int ek_try_sendrecv(const void *sent, MPI_Count sent_count, MPI_Datatype sent_type, int dest, int sent_tag,
                    void *received, MPI_Count received_count, MPI_Datatype received_type, int source,
                    int received_tag, MPI_Comm comm, MPI_Status *status)
{
    const ek_send_receive x = {sent,     sent_count,     sent_type,     dest,   sent_tag,
                               received, received_count, received_type, source, received_tag};
    return send_and_receive(&x, comm, status);
}

int ek_try_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sent_tag, int source,
                            int received_tag, MPI_Comm comm, MPI_Status *status)
{
    ek_comm_entry *e = ek_message_comm(comm);
    ek_elements elements;
    if (!e || !ek_elements_measure(&elements, count, type))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    char *copy = malloc(elements.bytes + 1);
    if (!copy)
        return ek_raise_checked(comm, e, MPI_ERR_NO_MEM);
    int code = EK_DECLINED;
    if (!elements.bytes || !ek_pack(buf, count, &elements.type->layout, copy))
        code = ek_try_sendrecv(copy, (MPI_Count)elements.bytes, ek_handles.byte, dest, sent_tag, buf, count,
                               type, source, received_tag, comm, status);
    free(copy);
    return code;
}
