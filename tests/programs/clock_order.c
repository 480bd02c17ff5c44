/* The clock stands no earlier behind a barrier than in front of it, whichever ranks read it.
 *
 *   clock_order clock=NAME [rounds=200] [held=1]
 *
 * In each round one rank stalls or, with held=1, waits until the others have read the clock. It then reads
 * the clock in front of the barrier, and all read it behind. Prints how often a rank read an earlier time
 * behind the barrier: RESULT checks N wrong N */
#define _GNU_SOURCE
#include "hold.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>
#include <unistd.h>

static double of(struct timespec t) { return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

static double by_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return of(t);
}

static double monotonic(void) { return by_clock(CLOCK_MONOTONIC); }
static double realtime(void) { return by_clock(CLOCK_REALTIME); }
static double raw(void) { return by_clock(CLOCK_MONOTONIC_RAW); }
static double boottime(void) { return by_clock(CLOCK_BOOTTIME); }

static double timeofday(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double standard(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return of(t);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static double milliseconds(void)
{
    struct timeb t;
    ftime(&t);
    return (double)t.time + 1e-3 * t.millitm;
}

static double by_syscall(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return of(t);
}

static double whole_seconds(void) { return (double)time(NULL); }

static const struct {
    const char *name;
    double (*read)(void);
} clocks[] = {
    {"monotonic", monotonic}, {"realtime", realtime},      {"raw", raw},
    {"boottime", boottime},   {"gettimeofday", timeofday}, {"timespec_get", standard},
    {"syscall", by_syscall},  {"time", whole_seconds},     {"ftime", milliseconds},
};

/* Burns time without a look at any clock. */
static void stall(void)
{
    static volatile unsigned sum;
    for (unsigned i = 0; i < 2000000; i++)
        sum += i;
}

int main(int argc, char **argv)
{
    double (*read_clock)(void) = NULL;
    long rounds = 200, checks = 0, wrong = 0;
    int rank, size, is_held = 0;
    for (int i = 1; i < argc; i++) {
        for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++)
            if (!strncmp(argv[i], "clock=", 6) && !strcmp(argv[i] + 6, clocks[c].name))
                read_clock = clocks[c].read;
        is_held |= !strcmp(argv[i], "held=1");
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atol(argv[i] + 7);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *behind = malloc(sizeof *behind * (size_t)size);
    if (!read_clock || !behind)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (is_held)
        hold_begin();
    for (long round = 0; round < rounds; round++) {
        const int late = (int)(round % size);
        double before = 0, mine;
        if (rank == late) {
            if (is_held)
                hold_until_all(rank, size, round + 1);
            else
                stall();
            before = read_clock();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        mine = read_clock();
        make_step();
        MPI_Gather(&mine, 1, MPI_DOUBLE, behind, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
        for (int r = 0; rank == late && r < size; r++, checks++)
            wrong += behind[r] < before;
    }
    long sums[2], all[2] = {checks, wrong};
    MPI_Reduce(all, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT checks %ld wrong %ld\n", sums[0], sums[1]);
    MPI_Finalize();
    return 0;
}
