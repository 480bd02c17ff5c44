/* Many small calls on two ranks: `small_calls TURNS`. Rank 0 prints for each part: its name, nanoseconds of a
 * turn, and calls of a turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;
static double mine, theirs;

static void message(void)
{
    if (rank == 0) {
        MPI_Send(&mine, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
}

static void requests(void)
{
    MPI_Request both[2];
    MPI_Irecv(&theirs, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void allreduce(void) { MPI_Allreduce(&mine, &theirs, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void measure(const char *name, void (*turn)(void), int calls, int turns)
{
    for (int i = 0; i < turns / 10; i++)
        turn();
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < turns; i++)
        turn();
    double took = MPI_Wtime() - began;
    if (rank == 0)
        printf("%s %.1f %d\n", name, took / turns * 1e9, calls);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int turns = argc > 1 ? atoi(argv[1]) : 100000;
    measure("message", message, 2, turns);
    measure("requests", requests, 3, turns);
    measure("allreduce", allreduce, 1, turns);
    MPI_Finalize();
    return 0;
}
