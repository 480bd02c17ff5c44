/* Rule `overlap`: buffers of operations under way do not overlap. Rule `modified`: a send buffer stays as it
 * is until the send is complete. */
#include "common.h"

static void overlap_receives(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 1, W);
        MPI_Send(a, 4, MPI_INT, 1, 2, W);
    } else {
        MPI_Irecv(b, 4, MPI_INT, 0, 1, W, &requests[0]);
        MPI_Irecv(b + 3, 4, MPI_INT, 0, 2, W, &requests[1]); /* finding: overlap */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void overlap_receives_clean(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 1, W);
        MPI_Send(a, 4, MPI_INT, 1, 2, W);
    } else {
        MPI_Irecv(b, 4, MPI_INT, 0, 1, W, &requests[0]);
        MPI_Irecv(b + 4, 4, MPI_INT, 0, 2, W, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void overlap_columns(void)
{
    MPI_Datatype column;
    MPI_Request requests[2];
    MPI_Type_vector(8, 2, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Send(a, 1, column, 1, 1, W);
        MPI_Send(a, 1, column, 1, 2, W);
    } else {
        MPI_Irecv(b, 1, column, 0, 1, W, &requests[0]);
        MPI_Irecv(b + 1, 1, column, 0, 2, W, &requests[1]); /* finding: overlap */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
}

static void overlap_columns_clean(void)
{
    MPI_Datatype column;
    MPI_Request requests[2];
    MPI_Type_vector(8, 2, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Send(a, 1, column, 1, 1, W);
        MPI_Send(a, 1, column, 1, 2, W);
    } else {
        MPI_Irecv(b, 1, column, 0, 1, W, &requests[0]);
        MPI_Irecv(b + 2, 1, column, 0, 2, W, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
}

static void overlap_send(void)
{
    MPI_Request requests[2];
    MPI_Irecv(a, 4, MPI_INT, peer, 0, W, &requests[0]);
    MPI_Isend(a, 4, MPI_INT, peer, 0, W, &requests[1]); /* finding: overlap */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void overlap_send_clean(void)
{
    MPI_Request requests[5];
    MPI_Irecv(b, 8, MPI_INT, peer, 0, W, &requests[0]);
    MPI_Irecv(b + 8, 8, MPI_INT, peer, 1, W, &requests[1]);
    for (int tag = 0; tag < 2; tag++) /* one buffer may be sent twice at once */
        MPI_Isend(a, 4, MPI_INT, peer, tag, W, &requests[2 + tag]);
    MPI_Irecv(a, 4, MPI_INT, MPI_PROC_NULL, 0, W, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
}

static void overlap_collective(void)
{
    MPI_Request request;
    MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, W, &request);
    MPI_Sendrecv(a, 1, MPI_INT, peer, 0, b + 2, 1, MPI_INT, peer, 0, W, IGNORE); /* finding: overlap */
    MPI_Wait(&request, IGNORE);
}

static void overlap_collective_clean(void)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, W, &request);
    MPI_Sendrecv(a, 1, MPI_INT, peer, 0, b + 4, 1, MPI_INT, peer, 0, W, IGNORE);
    MPI_Wait(&request, IGNORE);
}

/* Large enough that no library is done with it before it is received. */
enum { LARGE = 1 << 20 };
static int large[LARGE], other[LARGE];

static void exchange_large(MPI_Request *request)
{
    MPI_Barrier(W);
    if (rank == 1)
        MPI_Recv(other, LARGE, MPI_INT, 0, 0, W, IGNORE);
    else
        MPI_Wait(request, IGNORE);
}

static void modified_large(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Isend(large, LARGE, MPI_INT, 1, 0, W, &request); /* finding: modified */
        large[LARGE - 1] = 7;
    }
    exchange_large(&request);
}

static void modified_large_clean(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_Isend(large, LARGE, MPI_INT, 1, 0, W, &request);
    exchange_large(&request);
    large[0] = 7;
}

static void modified_persistent(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Send_init(large, LARGE, MPI_INT, 1, 0, W, &request);
        large[1] = 2;
        MPI_Start(&request); /* finding: modified */
        large[1] = 3;
    }
    exchange_large(&request);
    if (rank == 0)
        MPI_Request_free(&request);
}

static void modified_persistent_clean(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Send_init(large, LARGE, MPI_INT, 1, 0, W, &request);
        large[1] = 2;
        MPI_Start(&request);
    }
    exchange_large(&request);
    large[1] = 3;
    if (rank == 0)
        MPI_Request_free(&request);
}

static void modified_strided(void)
{
    MPI_Datatype column;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Type_vector(500, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Issend(a, 1, column, 1, 0, W, &request); /* finding: modified */
        a[400] = 9;
    }
    MPI_Barrier(W);
    if (rank == 1)
        MPI_Recv(b, 500, MPI_INT, 0, 0, W, IGNORE);
    else
        MPI_Wait(&request, IGNORE);
    MPI_Type_free(&column);
}

static void modified_strided_clean(void)
{
    MPI_Datatype column;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Type_vector(500, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Issend(a, 1, column, 1, 0, W, &request);
        a[401] = 9; /* between the elements */
    }
    MPI_Barrier(W);
    if (rank == 1)
        MPI_Recv(b, 500, MPI_INT, 0, 0, W, IGNORE);
    else
        MPI_Wait(&request, IGNORE);
    MPI_Type_free(&column);
}

static void modified_tested(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    if (rank == 0) {
        MPI_Issend(a, 10, MPI_INT, 1, 0, W, &request); /* finding: modified */
        a[3] = 9;
        while (!done)
            MPI_Test(&request, &done, IGNORE);
    } else {
        MPI_Recv(b, 10, MPI_INT, 0, 0, W, IGNORE);
    }
}

static void modified_tested_clean(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    if (rank == 0) {
        MPI_Issend(a, 10, MPI_INT, 1, 0, W, &request);
        while (!done)
            MPI_Test(&request, &done, IGNORE);
        a[3] = 9;
    } else {
        MPI_Recv(b, 10, MPI_INT, 0, 0, W, IGNORE);
    }
}
