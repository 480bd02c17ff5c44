/* Rules `deadlock`, `buffering` and `race`. */
#include "common.h"

static void deadlock_receives(void)
{
    alarm(1);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE); /* finding: deadlock */
    MPI_Send(a, 1, MPI_INT, peer, 0, W);
}

static void deadlock_receives_clean(void)
{
    if (rank == 0)
        MPI_Send(a, 1, MPI_INT, peer, 0, W);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
    if (rank == 1)
        MPI_Send(a, 1, MPI_INT, peer, 0, W);
}

static void deadlock_sends(void)
{
    alarm(1);
    MPI_Ssend(a, 1, MPI_INT, peer, 0, W); /* finding: deadlock */
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
}

static void deadlock_sends_clean(void)
{
    MPI_Request request;
    MPI_Issend(a, 1, MPI_INT, peer, 0, W, &request);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
    MPI_Wait(&request, IGNORE);
}

static void deadlock_tag(void)
{
    alarm(1);
    if (rank == 0) {
        MPI_Recv(b, 1, MPI_INT, 1, 1, W, IGNORE); /* finding: deadlock */
    } else {
        MPI_Send(a, 1, MPI_INT, 0, 2, W);
        MPI_Barrier(W);
    }
}

static void deadlock_tag_clean(void)
{
    if (rank == 0)
        MPI_Recv(b, 1, MPI_INT, 1, 2, W, IGNORE);
    else
        MPI_Send(a, 1, MPI_INT, 0, 2, W);
    MPI_Barrier(W);
}

static void deadlock_wait(void)
{
    MPI_Request request;
    alarm(1);
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, 1, 0, W, &request);
        MPI_Wait(&request, IGNORE); /* finding: deadlock */
        MPI_Barrier(W);
    } else {
        MPI_Barrier(W);
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    }
}

static void deadlock_wait_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, 1, 0, W, &request);
        MPI_Barrier(W);
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Barrier(W);
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    }
}

static void buffering_sends(void)
{
    MPI_Send(a, 1, MPI_INT, peer, 0, W); /* finding: buffering */
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
}

static void buffering_sends_clean(void)
{
    MPI_Sendrecv(a, 1, MPI_INT, peer, 0, b, 1, MPI_INT, peer, 0, W, IGNORE);
}

static void buffering_order(void)
{
    if (rank == 0) {
        MPI_Send(a, 1, MPI_INT, 1, 1, W); /* finding: buffering */
        MPI_Send(a, 1, MPI_INT, 1, 2, W);
    } else {
        MPI_Recv(b, 1, MPI_INT, 0, 2, W, IGNORE);
        MPI_Recv(b, 1, MPI_INT, 0, 1, W, IGNORE);
    }
}

static void buffering_order_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(a, 1, MPI_INT, 1, 1, W);
        MPI_Send(a, 1, MPI_INT, 1, 2, W);
    } else {
        MPI_Irecv(b, 1, MPI_INT, 0, 1, W, &request);
        MPI_Recv(b + 1, 1, MPI_INT, 0, 2, W, IGNORE);
        MPI_Wait(&request, IGNORE);
    }
}

static void buffering_collective(void)
{
    if (rank == 0) {
        MPI_Send(a, 1, MPI_INT, 1, 1, W); /* finding: buffering */
        MPI_Barrier(W);
    } else {
        MPI_Barrier(W);
        MPI_Recv(b, 1, MPI_INT, 0, 1, W, IGNORE);
    }
}

static void buffering_collective_clean(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(a, 1, MPI_INT, 1, 1, W, &request);
        MPI_Barrier(W);
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Barrier(W);
        MPI_Recv(b, 1, MPI_INT, 0, 1, W, IGNORE);
    }
}

static void buffering_waits(void)
{
    MPI_Request request;
    MPI_Isend(a, 1, MPI_INT, peer, 0, W, &request);
    MPI_Send(d, 1, MPI_DOUBLE, peer, 1, W); /* finding: buffering */
    MPI_Wait(&request, IGNORE);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
    MPI_Recv(d + 1, 1, MPI_DOUBLE, peer, 1, W, IGNORE);
}

static void buffering_waits_clean(void)
{
    MPI_Request requests[2];
    MPI_Isend(a, 1, MPI_INT, peer, 0, W, &requests[0]);
    MPI_Isend(d, 1, MPI_DOUBLE, peer, 1, W, &requests[1]);
    MPI_Recv(b, 1, MPI_INT, peer, 0, W, IGNORE);
    MPI_Recv(d + 1, 1, MPI_DOUBLE, peer, 1, W, IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Three ranks. */
static void race_receives(void)
{
    if (rank != 0) {
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
        return;
    }
    for (int i = 1; i < ranks; i++)
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE); /* finding: race */
}

static void race_receives_clean(void)
{
    if (rank != 0) {
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
        return;
    }
    for (int i = 1; i < ranks; i++)
        MPI_Recv(b, 1, MPI_INT, i, 0, W, IGNORE);
}

static void race_posted(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &requests[0]); /* finding: race */
        MPI_Irecv(b + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(a, 1, MPI_INT, 0, rank, W);
    }
}

static void race_posted_clean(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, 1, W, &requests[0]);
        MPI_Irecv(b + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, W, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(a, 1, MPI_INT, 0, rank, W);
    }
}

/* The answer of rank 0 orders the messages. */
static void race_ordered(int is_ordered)
{
    if (rank == 0) {
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE); /* finding: race */
        if (is_ordered)
            MPI_Send(a, 1, MPI_INT, 2, 1, W);
        MPI_Recv(b, 1, MPI_INT, 2, 0, W, IGNORE);
    } else if (rank == 1) {
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    } else {
        if (is_ordered)
            MPI_Recv(b, 1, MPI_INT, 0, 1, W, IGNORE);
        else
            usleep(200000);
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    }
}

static void race_unordered(void) { race_ordered(0); }
static void race_unordered_clean(void) { race_ordered(1); }

/* A barrier orders them, too. */
static void race_barrier(void)
{
    if (rank == 1)
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    if (rank == 2)
        usleep(200000), MPI_Send(a, 1, MPI_INT, 0, 0, W);
    if (rank == 0)
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE); /* finding: race */
    MPI_Barrier(W);
    if (rank == 0)
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE);
}

static void race_barrier_clean(void)
{
    if (rank == 1)
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    if (rank == 0)
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE);
    MPI_Barrier(W);
    if (rank == 2)
        MPI_Send(a, 1, MPI_INT, 0, 0, W);
    if (rank == 0)
        MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, IGNORE);
}
