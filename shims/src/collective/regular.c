/* Ranks may describe the same bytes by different counts and types, so the decision may depend on the number
 * of bytes only. */
#include "collective/regular.h"
#include "host/pack.h"
#include <string.h>

static bool is_contiguous(const ek_elements *elements) { return elements->type->contiguous; }

static bool is_root(const ek_marshal *m) { return m->entry->rank == m->arguments->root; }

/* ---- Bcast ---- */

static int bcast_data(ek_marshal *m)
{
    void *buffer = m->arguments->recvbuf;
    return is_root(m) ? ek_marshal_send(m, &m->sent, buffer, m->sent.count, NULL, &m->call.send)
                      : ek_marshal_receive(m, &m->sent, buffer, m->sent.count, &m->call.recv);
}

static int describe_bcast(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    if (!ek_elements_measure(&m->sent, a->sendcount, a->sendtype) || a->recvbuf == MPI_IN_PLACE)
        return EK_DECLINED;
    m->call.bytes = m->sent.bytes;
    return ek_marshal_data(m, is_contiguous(&m->sent), bcast_data);
}

/* ---- Gather and Allgather: one block in, at some ranks all blocks out ---- */

static bool gathers(const ek_marshal *m) { return m->arguments->kind == EK_KIND_ALLGATHER || is_root(m); }

/* In place, the own block is where it belongs already. */
static int gather_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    const ek_elements *out = &m->received;
    ek_call *call = &m->call;
    int code;
    if (gathers(m) &&
        (code = ek_marshal_receive(m, out, a->recvbuf, out->count * m->entry->size, &call->recv)))
        return code;
    if (a->sendbuf != MPI_IN_PLACE)
        return ek_marshal_send(m, &m->sent, a->sendbuf, m->sent.count, NULL, &call->send);
    const char *own = (char *)a->recvbuf + m->entry->rank * out->count * out->type->layout.extent;
    char *place = (char *)call->recv + (size_t)m->entry->rank * out->bytes;
    return ek_marshal_send(m, out, own, out->count, place, &call->send);
}

static int describe_gather(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool in_place = a->sendbuf == MPI_IN_PLACE, receives = gathers(m);
    if ((in_place && !receives) || (receives && a->recvbuf == MPI_IN_PLACE))
        return EK_DECLINED;
    if ((!in_place && !ek_elements_measure(&m->sent, a->sendcount, a->sendtype)) ||
        (receives && !ek_elements_measure(&m->received, a->recvcount, a->recvtype)))
        return EK_DECLINED;
    m->call.bytes = in_place ? m->received.bytes : m->sent.bytes;
    bool contiguous = (in_place || is_contiguous(&m->sent)) && (!receives || is_contiguous(&m->received));
    return ek_marshal_data(m, contiguous, gather_data);
}

/* ---- Scatter ---- */

static int scatter_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    ek_call *call = &m->call;
    int code;
    if (is_root(m) &&
        (code = ek_marshal_send(m, &m->sent, a->sendbuf, m->sent.count * m->entry->size, NULL, &call->send)))
        return code;
    if (a->recvbuf != MPI_IN_PLACE)
        return ek_marshal_receive(m, &m->received, a->recvbuf, m->received.count, &call->recv);
    call->recv = (uint8_t *)(uintptr_t)call->send + (size_t)m->entry->rank * m->sent.bytes;
    return MPI_SUCCESS;
}

static int describe_scatter(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool root = is_root(m), in_place = a->recvbuf == MPI_IN_PLACE;
    if ((in_place && !root) || (root && a->sendbuf == MPI_IN_PLACE))
        return EK_DECLINED;
    if ((root && !ek_elements_measure(&m->sent, a->sendcount, a->sendtype)) ||
        (!in_place && !ek_elements_measure(&m->received, a->recvcount, a->recvtype)))
        return EK_DECLINED;
    m->call.bytes = in_place ? m->sent.bytes : m->received.bytes;
    bool contiguous = (!root || is_contiguous(&m->sent)) && (in_place || is_contiguous(&m->received));
    return ek_marshal_data(m, contiguous, scatter_data);
}

/* ---- Alltoall ---- */

static int alltoall_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    const ek_elements *out = &m->received;
    ek_call *call = &m->call;
    MPI_Count all = out->count * m->entry->size;
    int code = ek_marshal_receive(m, out, a->recvbuf, all, &call->recv);
    if (code)
        return code;
    if (a->sendbuf != MPI_IN_PLACE)
        return ek_marshal_send(m, &m->sent, a->sendbuf, m->sent.count * m->entry->size, NULL, &call->send);
    /* In place, the blocks that are sent must not be overwritten by those that come. */
    size_t bytes = out->bytes * (size_t)m->entry->size;
    char *copy = ek_marshal_allocate(m, bytes);
    if (!copy)
        return MPI_ERR_NO_MEM;
    call->send = (const uint8_t *)copy;
    if (!is_contiguous(out))
        return ek_pack(a->recvbuf, all, &out->type->layout, copy) ? MPI_ERR_TYPE : MPI_SUCCESS;
    if (bytes)
        memcpy(copy, a->recvbuf, bytes);
    return MPI_SUCCESS;
}

static int describe_alltoall(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    if (a->recvbuf == MPI_IN_PLACE || !ek_elements_measure(&m->received, a->recvcount, a->recvtype) ||
        (!in_place && !ek_elements_measure(&m->sent, a->sendcount, a->sendtype)))
        return EK_DECLINED;
    m->call.bytes = in_place ? m->received.bytes : m->sent.bytes;
    bool contiguous = !in_place && is_contiguous(&m->sent) && is_contiguous(&m->received);
    return ek_marshal_data(m, contiguous, alltoall_data);
}

int ek_describe_regular(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool is_rooted = a->kind == EK_KIND_BCAST || a->kind == EK_KIND_GATHER || a->kind == EK_KIND_SCATTER;
    if (is_rooted && (a->root < 0 || a->root >= m->entry->size))
        return EK_DECLINED;
    switch (a->kind) {
    case EK_KIND_BCAST: return describe_bcast(m);
    case EK_KIND_GATHER:
    case EK_KIND_ALLGATHER: return describe_gather(m);
    case EK_KIND_SCATTER: return describe_scatter(m);
    default: return describe_alltoall(m);
    }
}
