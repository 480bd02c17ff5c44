/* Compares the clock of the machine between ranks.
 *
 *   clocks [rounds=300]
 *
 * In each round one rank stalls, reads the clock, and enters a barrier. What the others read behind that
 * barrier must not be earlier. Prints RESULT wrong N, the number of readings that were. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size, rounds = 300;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atoi(argv[i] + 7);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = calloc((size_t)rounds, sizeof *mine);
    double *all = calloc((size_t)rounds * (size_t)size, sizeof *all);
    for (int round = 0; round < rounds; round++) {
        int late = round % size;
        if (rank == late) {
            for (double until = now() + 100e-6; now() < until;)
                ;
            mine[round] = now();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != late)
            mine[round] = now();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Gather(mine, rounds, MPI_DOUBLE, all, rounds, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    long wrong = 0;
    for (int i = 0; rank == 0 && i < rounds * size; i++)
        wrong += all[i] < all[(i % rounds) % size * rounds + i % rounds];
    if (rank == 0)
        printf("RESULT wrong %ld\n", wrong);
    free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}
