/* Rule `message`: a message fits its receive. Rule `unmatched`: all are received. */
#include "common.h"

/* The error is returned where the library finds it. */
static void tolerant(void) { MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN); }

static void message_truncated(void)
{
    tolerant();
    if (rank == 0)
        MPI_Send(a, 20, MPI_INT, 1, 0, W);
    else
        MPI_Recv(b, 10, MPI_INT, 0, 0, W, IGNORE); /* finding: message */
}

static void message_truncated_clean(void)
{
    if (rank == 0)
        MPI_Send(a, 20, MPI_INT, 1, 0, W);
    else
        MPI_Recv(b, 20, MPI_INT, 0, 0, W, IGNORE);
}

static void message_type(void)
{
    if (rank == 0)
        MPI_Send(a, 10, MPI_INT, 1, 0, W);
    else
        MPI_Recv(b, 10, MPI_FLOAT, 0, 0, W, IGNORE); /* finding: message */
}

static void message_type_clean(void)
{
    if (rank == 0)
        MPI_Send(a, 10, MPI_INT, 1, 0, W);
    else
        MPI_Recv(b, 12, MPI_INT, 0, 0, W, IGNORE);
}

static void message_struct(void)
{
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    MPI_Datatype pair, pairs, types[] = {MPI_INT, MPI_DOUBLE}, turned[] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, rank ? turned : types, &pair);
    MPI_Type_contiguous(3, pair, &pairs);
    MPI_Type_commit(&pairs);
    if (rank == 0)
        MPI_Send(d, 1, pairs, 1, 0, W);
    else
        MPI_Recv(d, 1, pairs, 0, 0, W, IGNORE); /* finding: message */
    MPI_Type_free(&pair);
    MPI_Type_free(&pairs);
}

static void message_struct_clean(void)
{
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    MPI_Datatype pair, pairs, types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_contiguous(3, pair, &pairs);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&pairs);
    if (rank == 0)
        MPI_Send(d, 2, pair, 1, 0, W);
    else
        MPI_Recv(d, 1, pairs, 0, 0, W, IGNORE);
    MPI_Type_free(&pair);
    MPI_Type_free(&pairs);
}

static void message_later(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 1, W);
        MPI_Send(d, 4, MPI_DOUBLE, 1, 2, W);
    } else {
        MPI_Irecv(d, 4, MPI_DOUBLE, 0, MPI_ANY_TAG, W, &requests[0]); /* finding: message */
        MPI_Irecv(b, 8, MPI_INT, 0, MPI_ANY_TAG, W, &requests[1]);    /* finding: message */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void message_later_clean(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Send(a, 4, MPI_INT, 1, 1, W);
        MPI_Send(d, 4, MPI_DOUBLE, 1, 2, W);
    } else {
        MPI_Irecv(d, 4, MPI_DOUBLE, 0, 2, W, &requests[0]);
        MPI_Irecv(b, 8, MPI_INT, 0, 1, W, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void unmatched_send(void)
{
    MPI_Send(a, 1, MPI_INT, peer, 0, W);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
    if (rank == 0)
        MPI_Send(a, 1, MPI_INT, 1, 5, W); /* finding: unmatched */
}

static void unmatched_send_clean(void)
{
    MPI_Sendrecv(a, 1, MPI_INT, peer, 0, b, 1, MPI_INT, peer, 0, W, IGNORE);
    if (rank == 0)
        MPI_Send(a, 1, MPI_INT, 1, 5, W);
    else
        MPI_Recv(b, 1, MPI_INT, 0, 5, W, IGNORE);
}

static void unmatched_receive(void)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Irecv(b, 1, MPI_INT, 1, 5, W, &request); /* finding: unmatched */
    MPI_Barrier(W);
}

static void unmatched_receive_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, 1, 5, W, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, IGNORE);
    }
    MPI_Barrier(W);
}

static void unmatched_freed(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, 1, 5, W, &request); /* finding: unmatched */
        MPI_Request_free(&request);
    }
    MPI_Barrier(W);
}

static void unmatched_freed_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, 1, 5, W, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Send(a, 1, MPI_INT, 0, 5, W);
    }
    MPI_Barrier(W);
}

static void unmatched_persistent(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Send_init(a, 1, MPI_INT, 1, 9, W, &request);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request); /* finding: unmatched */
            MPI_Wait(&request, IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        MPI_Recv(b, 1, MPI_INT, 0, 9, W, IGNORE);
    }
}

static void unmatched_persistent_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Send_init(a, 1, MPI_INT, 1, 9, W, &request);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        for (int i = 0; i < 2; i++)
            MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 9, W, IGNORE);
    }
}

static void unmatched_probed(void)
{
    MPI_Message message;
    if (rank == 0)
        MPI_Send(a, 1, MPI_INT, 1, 3, W);
    else
        MPI_Mprobe(0, 3, W, &message, IGNORE); /* finding: unmatched */
}

static void unmatched_probed_clean(void)
{
    MPI_Message message;
    if (rank == 0) {
        MPI_Send(a, 1, MPI_INT, 1, 3, W);
    } else {
        MPI_Mprobe(0, 3, W, &message, IGNORE);
        MPI_Mrecv(b, 1, MPI_INT, &message, IGNORE);
    }
}
