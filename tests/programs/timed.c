/* Calls whose times are recorded: messages of each way of sending and receiving, collectives, communicators.
 *
 *   timed all           what its name says; ends in MPI_Finalize
 *   timed hang          rank 0 waits for a message that never comes
 *   timed loop N        N rounds of a ring, and a reduction */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void blocking_from_any(void)
{
    int value = rank;
    MPI_Status status;
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    else
        MPI_Send(&value, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD);
}

static void nonblocking_from_any(MPI_Comm comm)
{
    int in[16], out = rank;
    MPI_Request requests[17];
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[i - 1]);
        MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Isend(&out, 1, MPI_INT, 0, 3, comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
}

static void ring(void)
{
    char in[100], out[100] = {0};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(out, 100, MPI_CHAR, right, 5, in, 100, MPI_CHAR, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    double in = 0, out = rank;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, index;
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void all(void)
{
    MPI_Comm reversed, copy;
    blocking_from_any();
    MPI_Barrier(MPI_COMM_WORLD); /* or a receive with any tag takes a message of the ring */
    ring();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    nonblocking_from_any(copy);
    persistent();
    int sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, reversed);
    MPI_Bcast(&sum, 1, MPI_INT, 1, reversed);
    MPI_Barrier(copy);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&copy);
}

static void loop(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        double sum = i;
        ring();
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "all"))
        all();
    else if (!strcmp(what, "loop"))
        loop(atoi(argv[2]));
    else if (rank == 0)
        MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
