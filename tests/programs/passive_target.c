/* Accesses to a window whose owner waits in a barrier and makes no other call.
 *
 *   passive_target [updates=2000]
 *
 * Prints how long an update took, and whether all of them arrived. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double update(MPI_Win window, long updates)
{
    long one = 1, before;
    double began = MPI_Wtime();
    for (long i = 0; i < updates; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(1, window);
    }
    return (MPI_Wtime() - began) / (double)updates;
}

int main(int argc, char **argv)
{
    long updates = 2000, *counter = malloc(sizeof *counter);
    int rank;
    MPI_Win window;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "updates=", 8))
            updates = atol(argv[i] + 8);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *counter = 0;
    MPI_Win_create(counter, sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.1f us an update\n", 1e6 * update(window, updates));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    if (rank == 1)
        printf("RESULT wrong %ld\n", updates - *counter);
    free(counter);
    MPI_Finalize();
    return 0;
}
