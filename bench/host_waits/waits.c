/* Times calls in which a rank waits for other ranks, one after the other: waits ROUNDS
 *
 * Prints a line for each call: its name and microseconds a round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 64, NEIGHBOURS = 2 };

static int rank, size, left, right, target;
static char data[2 * NEIGHBOURS][BYTES];
static MPI_Win window, own_memory; /* the library's memory, and the program's */
static MPI_Comm ring;

static void ring_of_messages(void)
{
    if (rank > 0)
        MPI_Recv(data[0], BYTES, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data[0], BYTES, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(data[0], BYTES, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
    MPI_Sendrecv(data[0], BYTES, MPI_CHAR, right, 0, data[1], BYTES, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void halo(void)
{
    MPI_Request requests[2 * NEIGHBOURS];
    MPI_Irecv(data[0], BYTES, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data[1], BYTES, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(data[2], BYTES, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(data[3], BYTES, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
}

static void neighbour_alltoall(void)
{
    MPI_Neighbor_alltoall(data[0], BYTES, MPI_CHAR, data[NEIGHBOURS], BYTES, MPI_CHAR, ring);
}

static void fence(void)
{
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
}

static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Accumulate(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(right, window);
}

static void flush(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, own_memory);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, own_memory);
    MPI_Win_flush(right, own_memory);
    MPI_Win_unlock(right, own_memory);
}

static void duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void split(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {
    {"ring", ring_of_messages},
    {"sendrecv", sendrecv},
    {"halo", halo},
    {"neighbour_alltoall", neighbour_alltoall},
    {"fence", fence},
    {"lock", lock},
    {"flush", flush},
    {"dup", duplicate},
    {"split", split},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? atoi(argv[1]) : 100, is_periodic = 1;
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    int *cell;
    MPI_Win_create(&target, sizeof target, sizeof target, MPI_INFO_NULL, MPI_COMM_WORLD, &own_memory);
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &ring);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        MPI_Win_fence(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        const double began = MPI_Wtime();
        for (int round = 0; round < rounds; round++)
            calls[i].run();
        const double took = MPI_Wtime() - began;
        if (rank == 0)
            printf("%s %.2f\n", calls[i].name, took * 1e6 / rounds);
    }
    MPI_Win_fence(0, window);
    MPI_Comm_free(&ring);
    MPI_Win_free(&window);
    MPI_Win_free(&own_memory);
    MPI_Finalize();
    return 0;
}
