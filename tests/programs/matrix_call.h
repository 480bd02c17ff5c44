/* One call of a collective in any of its forms, and its completion by any of MPI's waits and tests. */
#ifndef EVENKEEL_TESTS_MATRIX_CALL_H
#define EVENKEEL_TESTS_MATRIX_CALL_H
#include "matrix_combination.h"

/* The arguments; counts and displacements per rank. */
typedef struct call {
    const void *sendbuf;
    void *recvbuf;
    int count, scounts[RANKS_MAX], rcounts[RANKS_MAX], sdispls[RANKS_MAX], rdispls[RANKS_MAX];
    MPI_Datatype t;
    MPI_Op op;
    int root;
} call;

/* Arrays that outlive a nonblocking call, in the widths that the two interfaces want. */
static MPI_Datatype all_types[RANKS_MAX];
static int byte_sdispls[RANKS_MAX], byte_rdispls[RANKS_MAX];
#if MPI_VERSION >= 4
static MPI_Count large_scounts[RANKS_MAX], large_rcounts[RANKS_MAX];
static MPI_Aint large_sdispls[RANKS_MAX], large_rdispls[RANKS_MAX];
static MPI_Aint large_byte_sdispls[RANKS_MAX], large_byte_rdispls[RANKS_MAX];
#endif

static void fill_arrays(const call *k, int extent)
{
    for (int r = 0; r < world_size; r++) {
        all_types[r] = k->t;
        byte_sdispls[r] = k->sdispls[r] * extent, byte_rdispls[r] = k->rdispls[r] * extent;
#if MPI_VERSION >= 4
        large_scounts[r] = k->scounts[r], large_rcounts[r] = k->rcounts[r];
        large_sdispls[r] = k->sdispls[r], large_rdispls[r] = k->rdispls[r];
        large_byte_sdispls[r] = byte_sdispls[r], large_byte_rdispls[r] = byte_rdispls[r];
#endif
    }
}

#if MPI_VERSION >= 4
#define LARGE(NAME, INAME, ...)                                 \
    case 2: return MPI_##NAME##_c(__VA_ARGS__, MPI_COMM_WORLD); \
    case 3: return MPI_##INAME##_c(__VA_ARGS__, MPI_COMM_WORLD, request);
#else
#define LARGE(NAME, INAME, ...)
#endif
#define FORM_OF(NAME, INAME, ...)                                                                     \
    switch (form) {                                                                                   \
    case 0: return MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD);                                           \
    case 1: return MPI_##INAME(__VA_ARGS__, MPI_COMM_WORLD, request); LARGE(NAME, INAME, __VA_ARGS__) \
    }                                                                                                 \
    break

/* Operations whose arguments differ between the forms only in the width of the count. */
static int start_regular(const call *k, int kind, int form, MPI_Request *request)
{
    switch (kind) {
    case BARRIER: return form & 1 ? MPI_Ibarrier(MPI_COMM_WORLD, request) : MPI_Barrier(MPI_COMM_WORLD);
    case BCAST: FORM_OF(Bcast, Ibcast, k->recvbuf, k->count, k->t, k->root);
    case REDUCE: FORM_OF(Reduce, Ireduce, k->sendbuf, k->recvbuf, k->count, k->t, k->op, k->root);
    case ALLREDUCE: FORM_OF(Allreduce, Iallreduce, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case SCAN: FORM_OF(Scan, Iscan, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case EXSCAN: FORM_OF(Exscan, Iexscan, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case GATHER: FORM_OF(Gather, Igather, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t, k->root);
    case SCATTER: FORM_OF(Scatter, Iscatter, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t, k->root);
    case ALLGATHER: FORM_OF(Allgather, Iallgather, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t);
    case ALLTOALL: FORM_OF(Alltoall, Ialltoall, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t);
    case REDUCE_SCATTER_BLOCK:
        FORM_OF(Reduce_scatter_block, Ireduce_scatter_block, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    default: break;
    }
    return MPI_ERR_OTHER;
}

/* Calls one form of these operations: the names of its functions; its arrays of counts, of displacements, and
 * of displacements in bytes; the communicator, and the request if there is one. */
#define VECTOR_FORM(GATHERV_, SCATTERV_, ALLGATHERV_, ALLTOALLV_, ALLTOALLW_, REDUCE_SCATTER_, SC, RC, SD,  \
                    RD, BSD, BRD, ...)                                                                      \
    switch (kind) {                                                                                         \
    case GATHERV:                                                                                           \
        return GATHERV_(k->sendbuf, k->count, k->t, k->recvbuf, RC, RD, k->t, k->root, __VA_ARGS__);        \
    case SCATTERV:                                                                                          \
        return SCATTERV_(k->sendbuf, SC, SD, k->t, k->recvbuf, k->count, k->t, k->root, __VA_ARGS__);       \
    case ALLGATHERV: return ALLGATHERV_(k->sendbuf, k->count, k->t, k->recvbuf, RC, RD, k->t, __VA_ARGS__); \
    case ALLTOALLV: return ALLTOALLV_(k->sendbuf, SC, SD, k->t, k->recvbuf, RC, RD, k->t, __VA_ARGS__);     \
    case ALLTOALLW:                                                                                         \
        return ALLTOALLW_(k->sendbuf, SC, BSD, all_types, k->recvbuf, RC, BRD, all_types, __VA_ARGS__);     \
    default: return REDUCE_SCATTER_(k->sendbuf, k->recvbuf, RC, k->t, k->op, __VA_ARGS__);                  \
    }

/* Operations whose arrays of counts and displacements have other types in the large-count forms. */
static int start_vector(const call *k, int kind, int form, MPI_Request *request)
{
    if (form == 0)
        VECTOR_FORM(MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv, MPI_Alltoallv, MPI_Alltoallw,
                    MPI_Reduce_scatter, k->scounts, k->rcounts, k->sdispls, k->rdispls, byte_sdispls,
                    byte_rdispls, MPI_COMM_WORLD)
    if (form == 1)
        VECTOR_FORM(MPI_Igatherv, MPI_Iscatterv, MPI_Iallgatherv, MPI_Ialltoallv, MPI_Ialltoallw,
                    MPI_Ireduce_scatter, k->scounts, k->rcounts, k->sdispls, k->rdispls, byte_sdispls,
                    byte_rdispls, MPI_COMM_WORLD, request)
#if MPI_VERSION >= 4
    if (form == 2)
        VECTOR_FORM(MPI_Gatherv_c, MPI_Scatterv_c, MPI_Allgatherv_c, MPI_Alltoallv_c, MPI_Alltoallw_c,
                    MPI_Reduce_scatter_c, large_scounts, large_rcounts, large_sdispls, large_rdispls,
                    large_byte_sdispls, large_byte_rdispls, MPI_COMM_WORLD)
    VECTOR_FORM(MPI_Igatherv_c, MPI_Iscatterv_c, MPI_Iallgatherv_c, MPI_Ialltoallv_c, MPI_Ialltoallw_c,
                MPI_Ireduce_scatter_c, large_scounts, large_rcounts, large_sdispls, large_rdispls,
                large_byte_sdispls, large_byte_rdispls, MPI_COMM_WORLD, request)
#endif
    return MPI_ERR_OTHER;
}

/* Makes the call. A nonblocking one sets `request`. */
static int start(const call *k, const combination *c, MPI_Request *request)
{
    fill_arrays(k, types[c->type].extent);
    switch (c->kind) {
    case GATHERV:
    case SCATTERV:
    case ALLGATHERV:
    case ALLTOALLV:
    case ALLTOALLW:
    case REDUCE_SCATTER: return start_vector(k, c->kind, c->form, request);
    default: return start_regular(k, c->kind, c->form, request);
    }
}

/* Completes a request by one of six calls. */
static void complete(MPI_Request *request, uint64_t choice)
{
    MPI_Request two[2] = {MPI_REQUEST_NULL, *request};
    MPI_Status statuses[2];
    int flag = 0, index, count, indices[2];
    switch (choice % 6) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1:
        while (!flag)
            MPI_Test(request, &flag, &statuses[0]);
        break;
    case 2:
        MPI_Waitall(2, two, statuses);
        *request = two[1];
        break;
    case 3:
        MPI_Waitany(2, two, &index, &statuses[0]);
        CHECK(index == 1, "Waitany says %d", index);
        *request = two[1];
        break;
    case 4:
        MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 1 && indices[0] == 1, "Waitsome");
        *request = two[1];
        break;
    default:
        while (!flag)
            MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
        *request = two[1];
        break;
    }
    CHECK(*request == MPI_REQUEST_NULL, "a completed request is not MPI_REQUEST_NULL (choice %d)",
          (int)(choice % 6));
}
#endif
