// Rounds of work and a barrier, for so many seconds: what two jobs do together, beside what one does alone.
//
//   rounds SECONDS WORK [alone]     WORK: steps of computation in a round; alone: without barriers
//   rounds calibrate                prints how many steps take a microsecond
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static volatile unsigned long sink;

static void work(unsigned long steps)
{
    unsigned long value = sink;
    for (unsigned long step = 0; step < steps; step++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    sink = value;
}

static int calibrate(void)
{
    const unsigned long steps = 200UL * 1000 * 1000;
    double best = 1e9;
    for (int attempt = 0; attempt < 5; attempt++) {
        double begun = now(CLOCK_PROCESS_CPUTIME_ID);
        work(steps / 5);
        double took = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
        best = took < best ? took : best;
    }
    printf("%.1f\n", (double)(steps / 5) / best / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "calibrate") == 0)
        return calibrate();
    if (argc < 3)
        return 2;
    double seconds = atof(argv[1]);
    unsigned long steps = strtoul(argv[2], NULL, 10);
    int has_barriers = argc == 3;
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = now(CLOCK_MONOTONIC);
    unsigned long rounds = 0, goes_on = 1;
    double until = begun + seconds;
    while (goes_on) {
        work(steps);
        rounds++;
        if (has_barriers)
            MPI_Barrier(MPI_COMM_WORLD);
        // Rank 0 alone decides, now and then, so that all ranks do the same rounds.
        if (rounds % 64 == 0) {
            goes_on = now(CLOCK_MONOTONIC) < until;
            if (has_barriers)
                MPI_Bcast(&goes_on, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
        }
    }
    double took = now(CLOCK_MONOTONIC) - begun;
    printf("rank %d begun %.6f rounds %lu seconds %.6f per_second %.3f\n", rank, begun, rounds, took,
           (double)rounds / took);
    MPI_Finalize();
    return 0;
}
