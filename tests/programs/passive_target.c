/* Accesses to a window whose owner waits in a barrier and makes no other call.
 *
 *   passive_target [updates=2000] [after_ms=0] [enough_us=0]
 *
 * The owner has waited for so long when the first access comes: a rank that waits looks less and less often.
 * After 100 updates no further one is needed if one has taken less than enough_us.
 *
 * Prints how long the fastest update took, and whether all of them arrived. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the time of the fastest update; sets `updates`, before that the most, to their number. */
static double fastest_update(MPI_Win window, long *updates, double enough)
{
    long one = 1, before;
    double fastest = 1e9;
    const long most = *updates;
    for (*updates = 0; *updates < most && (*updates < 100 || fastest >= enough); ++*updates) {
        double began = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(1, window);
        double took = MPI_Wtime() - began;
        fastest = took < fastest ? took : fastest;
    }
    return fastest;
}

int main(int argc, char **argv)
{
    long updates = 2000, after_ms = 0, enough_us = 0, *counter = malloc(sizeof *counter);
    int rank;
    MPI_Win window;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "updates=", 8))
            updates = atol(argv[i] + 8);
        if (!strncmp(argv[i], "after_ms=", 9))
            after_ms = atol(argv[i] + 9);
        if (!strncmp(argv[i], "enough_us=", 10))
            enough_us = atol(argv[i] + 10);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *counter = 0;
    MPI_Win_create(counter, sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        usleep((useconds_t)(1000 * after_ms));
    if (rank == 0)
        printf("FASTEST %.1f us\n", 1e6 * fastest_update(window, &updates, 1e-6 * (double)enough_us));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Bcast(&updates, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank == 1)
        printf("RESULT wrong %ld\n", updates - *counter);
    free(counter);
    MPI_Finalize();
    return 0;
}
