/* What litmus.c and background_progress.c share: each test has a name, runs for so many rounds, and counts
 * what is wrong. */
#define _GNU_SOURCE
#include "hold.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;
static long wrong, rounds = 200;

/* Burns time without a system call. */
static void stall(double seconds)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do
        clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < seconds);
}

#define WORLD MPI_COMM_WORLD
static const double LATE = 400e-6; /* seconds by which a rank is late */
static int is_held;                /* instead, late ranks are held until the others have passed them */
static long ahead;                 /* by how many barriers others may pass a rank */

/* Lets this rank be late: by some time or, with held=1, until `other` has made so many steps. */
static void be_late(double seconds, int other, long steps)
{
    if (is_held)
        hold_until(other, steps);
    else
        stall(seconds);
}

struct litmus {
    const char *name;
    void (*body)(void);
    int least; /* ranks that it needs */
};

/* Runs the test that the arguments name. Returns the exit code. */
static int run_litmus(int argc, char **argv, const struct litmus *cases, size_t count)
{
    const char *which = "";
    int level = MPI_THREAD_SINGLE;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "case=", 5))
            which = argv[i] + 5;
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atol(argv[i] + 7);
        if (!strncmp(argv[i], "ahead=", 6))
            ahead = atol(argv[i] + 6);
        is_held |= !strcmp(argv[i], "held=1");
        if (!strcmp(argv[i], "threads=multiple"))
            level = MPI_THREAD_MULTIPLE;
    }
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    if (is_held)
        hold_begin();
    for (size_t c = 0; c < count; c++)
        if (!strcmp(cases[c].name, which) && size >= cases[c].least) {
            cases[c].body();
            long all;
            MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, WORLD);
            if (rank == 0)
                printf("RESULT wrong %ld\n", all);
            MPI_Finalize();
            return 0;
        }
    fprintf(stderr, "litmus: no case \"%s\" for %d ranks\n", which, size);
    return MPI_Abort(WORLD, 2);
}
