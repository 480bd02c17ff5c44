/* Rule `leak`: what was made is freed. Rule `handle`: handles are used while they stand for something. */
#include "common.h"

static void leak_request(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(a, 1, MPI_INT, 1, 0, W, &request); /* finding: leak */
    } else {
        MPI_Recv(b, 1, MPI_INT, 0, 0, W, IGNORE);
    }
}

static void leak_request_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(a, 1, MPI_INT, 1, 0, W, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Recv(b, 1, MPI_INT, 0, 0, W, IGNORE);
    }
}

static void leak_comm(void)
{
    MPI_Comm copy, again;
    MPI_Comm_dup(W, &copy); /* finding: leak */
    MPI_Comm_dup(W, &again);
    MPI_Comm_free(&again);
}

static void leak_comm_clean(void)
{
    MPI_Comm copy;
    MPI_Group all;
    MPI_Comm_group(W, &all);
    MPI_Comm_create(W, all, &copy);
    MPI_Group_free(&all);
    MPI_Comm_free(&copy);
}

static void leak_type(void)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair); /* finding: leak */
    MPI_Type_commit(&pair);
}

static void leak_type_clean(void)
{
    MPI_Datatype pair, pairs;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_contiguous(2, pair, &pairs);
    MPI_Type_free(&pair);
    MPI_Type_free(&pairs);
}

static void sum(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

static void leak_others(void)
{
    MPI_Op op;
    MPI_Group all;
    MPI_Request request;
    MPI_Op_create(sum, 1, &op);                         /* finding: leak */
    MPI_Comm_group(W, &all);                            /* finding: leak */
    MPI_Recv_init(b, 1, MPI_INT, peer, 0, W, &request); /* finding: leak */
    MPI_Allreduce(a, b, 1, MPI_INT, op, W);
}

static void leak_others_clean(void)
{
    MPI_Op op;
    MPI_Group all, some;
    MPI_Request request;
    const int first = 0;
    MPI_Op_create(sum, 1, &op);
    MPI_Comm_group(W, &all);
    MPI_Group_incl(all, 1, &first, &some);
    MPI_Recv_init(b, 1, MPI_INT, peer, 0, W, &request);
    MPI_Allreduce(a, b, 1, MPI_INT, op, W);
    MPI_Op_free(&op);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Request_free(&request);
}

static void handle_uncommitted(void)
{
    MPI_Datatype pair;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Bcast(a, 1, pair, 0, MPI_COMM_SELF); /* finding: handle */
    MPI_Type_free(&pair);
}

static void handle_uncommitted_clean(void)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(a, 1, pair, 0, MPI_COMM_SELF);
    MPI_Type_free(&pair);
}

static void handle_started_twice(void)
{
    MPI_Request request;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Recv_init(b, 1, MPI_INT, 1, 0, W, &request);
        MPI_Start(&request);
        MPI_Start(&request); /* finding: handle */
        alarm(1);
        MPI_Barrier(W);
    } else {
        alarm(1);
        MPI_Barrier(W);
    }
    _exit(1);
}

static void handle_started_twice_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Recv_init(b, 1, MPI_INT, 1, 0, W, &request);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        for (int i = 0; i < 2; i++)
            MPI_Send(a, 1, MPI_INT, 0, 0, W);
    }
}

static void handle_old_request(void)
{
    MPI_Request request, copy;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(b, 1, MPI_INT, peer, 0, W, &request);
    copy = request;
    MPI_Send(a, 1, MPI_INT, peer, 0, W);
    MPI_Wait(&request, IGNORE);
    if (rank == 0) {
        MPI_Wait(&copy, IGNORE); /* finding: handle */
        _exit(1);
    }
}

static void handle_old_request_clean(void)
{
    MPI_Request request, copy;
    MPI_Irecv(b, 1, MPI_INT, peer, 0, W, &request);
    copy = request;
    MPI_Send(a, 1, MPI_INT, peer, 0, W);
    MPI_Wait(&copy, IGNORE);
    MPI_Wait(&copy, IGNORE); /* it is MPI_REQUEST_NULL now */
}

static void handle_collective_freed(void)
{
    MPI_Request request;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Ibarrier(W, &request);
    MPI_Cancel(&request); /* finding: handle */
    _exit(1);
}

static void handle_collective_freed_clean(void)
{
    MPI_Request request;
    MPI_Ibarrier(W, &request);
    MPI_Wait(&request, IGNORE);
}
