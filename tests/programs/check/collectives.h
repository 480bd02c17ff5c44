/* Rule `collective`: all members call the same, with arguments that fit. The calls do not wait for each other
 * where that is possible, so that the defects do not hang. */
#include "common.h"

static void collective_root(void)
{
    /* The library takes each root's own buffer. */
    MPI_Request request;
    if (rank == 0)
        MPI_Ibcast(a, 1, MPI_INT, 0, W, &request);
    else
        MPI_Ibcast(a, 1, MPI_INT, 1, W, &request); /* finding: collective */
    MPI_Wait(&request, IGNORE);
}

static void collective_root_clean(void)
{
    MPI_Request request;
    MPI_Ibcast(a, 1, MPI_INT, 1, W, &request);
    MPI_Wait(&request, IGNORE);
}

static void collective_operator(void)
{
    if (rank == 0)
        MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, W);
    else
        MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAX, W); /* finding: collective */
}

static void collective_operator_clean(void) { MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAX, W); }

static void collective_type(void)
{
    if (rank == 0)
        MPI_Bcast(a, 1, MPI_INT, 0, W);
    else
        MPI_Bcast(a, 1, MPI_FLOAT, 0, W); /* finding: collective */
}

static void collective_type_clean(void)
{
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    if (rank == 0)
        MPI_Bcast(a, 4, MPI_INT, 0, W);
    else
        MPI_Bcast(a, 2, two, 0, W);
    MPI_Type_free(&two);
}

static void collective_counts(void)
{
    const int counts[] = {1, 3}, places[] = {0, 1};
    if (rank == 0)
        MPI_Gatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, 0, W);
    else
        MPI_Gatherv(a, 2, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, W); /* finding: collective */
}

static void collective_counts_clean(void)
{
    const int counts[] = {1, 2}, places[] = {0, 1};
    if (rank == 0)
        MPI_Gatherv(MPI_IN_PLACE, 9, MPI_DATATYPE_NULL, b, counts, places, MPI_INT, 0, W);
    else
        MPI_Gatherv(a, 2, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, W);
}

static void collective_order(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Ibarrier(W, &requests[0]);
        MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 1, W, &requests[1]);
    } else {
        MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 1, W, &requests[0]); /* finding: collective */
        MPI_Ibarrier(W, &requests[1]);
    }
    alarm(1); /* some libraries wait for ever */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void collective_order_clean(void)
{
    MPI_Request requests[2];
    MPI_Ibarrier(W, &requests[0]);
    MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 1, W, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void collective_kind(void)
{
    alarm(1);
    if (rank == 0)
        MPI_Barrier(W);
    else
        MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, W); /* finding: collective */
}

static void collective_kind_clean(void)
{
    MPI_Comm half;
    MPI_Comm_split(W, rank, 0, &half);
    if (rank == 0)
        MPI_Barrier(half);
    else
        MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
}
