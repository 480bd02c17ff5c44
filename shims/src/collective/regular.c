/* Making ready what moves blocks of one size: Bcast, Gather, Scatter, Allgather, Alltoall.
 * Ranks may describe the same bytes by different counts and types; only the number of bytes decides. */
#include "shim.h"

static char *block_at(const void *buffer, const ek_side *side, int rank)
{
    return (char *)(uintptr_t)buffer + (MPI_Count)rank * side->count * side->type->extent;
}

static int bcast(ek_job *job, const ek_args *a)
{
    bool root = job->entry->rank == a->root;
    ek_side side;
    if (!ek_measure(&side, a->sendcount, a->sendtype) || a->recvbuf == MPI_IN_PLACE)
        return EK_HOST_SHALL;
    job->call.bytes = side.bytes;
    if (!ek_granted(job, a, side.bytes))
        return EK_HOST_SHALL;
    return root ? ek_hand_over(job, &side, a->recvbuf, side.count, NULL, &job->call.send)
                : ek_expect(job, &side, a->recvbuf, side.count, &job->call.recv);
}

/* Gather and Allgather: one block in, at some ranks all blocks out. In place: the own block is where it
 * belongs. */
static int gather(ek_job *job, const ek_args *a, bool receives)
{
    ek_call *call = &job->call;
    int me = job->entry->rank, n = job->entry->size, code;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    ek_side in, out;
    if ((in_place && !receives) || (receives && a->recvbuf == MPI_IN_PLACE))
        return EK_HOST_SHALL;
    if ((!in_place && !ek_measure(&in, a->sendcount, a->sendtype)) ||
        (receives && !ek_measure(&out, a->recvcount, a->recvtype)))
        return EK_HOST_SHALL;
    call->bytes = in_place ? out.bytes : in.bytes;
    if (!ek_granted(job, a, call->bytes))
        return EK_HOST_SHALL;
    if (receives && (code = ek_expect(job, &out, a->recvbuf, out.count * n, &call->recv)))
        return code;
    if (!in_place)
        return ek_hand_over(job, &in, a->sendbuf, in.count, NULL, &call->send);
    return ek_hand_over(job, &out, block_at(a->recvbuf, &out, me), out.count,
                        (char *)call->recv + (size_t)me * out.bytes, &call->send);
}

static int scatter(ek_job *job, const ek_args *a)
{
    ek_call *call = &job->call;
    int me = job->entry->rank, n = job->entry->size, code;
    bool root = me == a->root, in_place = a->recvbuf == MPI_IN_PLACE;
    ek_side in, out;
    if ((in_place && !root) || (root && a->sendbuf == MPI_IN_PLACE))
        return EK_HOST_SHALL;
    if ((root && !ek_measure(&in, a->sendcount, a->sendtype)) ||
        (!in_place && !ek_measure(&out, a->recvcount, a->recvtype)))
        return EK_HOST_SHALL;
    call->bytes = in_place ? in.bytes : out.bytes;
    if (!ek_granted(job, a, call->bytes))
        return EK_HOST_SHALL;
    if (root && (code = ek_hand_over(job, &in, a->sendbuf, in.count * n, NULL, &call->send)))
        return code;
    if (!in_place)
        return ek_expect(job, &out, a->recvbuf, out.count, &call->recv);
    call->recv = (char *)(uintptr_t)call->send + (size_t)me * in.bytes;
    return MPI_SUCCESS;
}

static int alltoall(ek_job *job, const ek_args *a)
{
    ek_call *call = &job->call;
    int n = job->entry->size, code;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    ek_side in, out;
    if (a->recvbuf == MPI_IN_PLACE || !ek_measure(&out, a->recvcount, a->recvtype) ||
        (!in_place && !ek_measure(&in, a->sendcount, a->sendtype)))
        return EK_HOST_SHALL;
    call->bytes = in_place ? out.bytes : in.bytes;
    if (!ek_granted(job, a, call->bytes))
        return EK_HOST_SHALL;
    if ((code = ek_expect(job, &out, a->recvbuf, out.count * n, &call->recv)))
        return code;
    if (!in_place)
        return ek_hand_over(job, &in, a->sendbuf, in.count * n, NULL, &call->send);
    char *copy = ek_job_alloc(job, out.bytes * (size_t)n);
    if (!copy)
        return MPI_ERR_NO_MEM;
    call->send = copy;
    if (!out.type->dense)
        return ek_pack(a->recvbuf, out.count * n, out.handle, out.type, copy) ? EK_HOST_SHALL : MPI_SUCCESS;
    if (out.bytes)
        memcpy(copy, a->recvbuf, out.bytes * (size_t)n);
    return MPI_SUCCESS;
}

int ek_prepare_even(ek_job *job, const ek_args *a)
{
    bool rooted = a->kind == EK_BCAST || a->kind == EK_GATHER || a->kind == EK_SCATTER;
    if (rooted && (a->root < 0 || a->root >= job->entry->size))
        return EK_HOST_SHALL;
    switch (a->kind) {
    case EK_BCAST: return bcast(job, a);
    case EK_GATHER: return gather(job, a, job->entry->rank == a->root);
    case EK_ALLGATHER: return gather(job, a, true);
    case EK_SCATTER: return scatter(job, a);
    default: return alltoall(job, a);
    }
}
