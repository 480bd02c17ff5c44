/* Shared memory beside the MPI library that is measured: the same separating barrier for every library, a
 * place for all ranks' samples, and how long to go on. The library's own barrier would let its ranks go in an
 * order of its own, and that order decides how long the next call takes. Uses MPI for set-up only, never
 * between timed calls. */
#ifndef BENCH_NEUTRAL_H
#define BENCH_NEUTRAL_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "clock.h"
#include "crossing.h"

#define NEUTRAL_RANKS 256

typedef struct neutral_shared {
    crossing gate;
    _Atomic int64_t plan;
    _Atomic uint64_t cores[NEUTRAL_RANKS]; /* the first 64 cores that each rank may run on */
    double value[NEUTRAL_RANKS]; /* one number of each rank, written before a crossing, read after it */
    double second[NEUTRAL_RANKS];
} neutral_shared;

typedef struct neutral {
    neutral_shared *shared;
    float *samples; /* samples[rank * stride + iteration] */
    size_t stride;
    int rank, ranks;
    enum patience patience;
    int mpi_separator;
    uint64_t epoch;
    uint64_t start_ns, cap_ns;
} neutral;

static inline void neutral_die(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    _exit(2);
}

static inline void neutral_cross(neutral *n)
{
    crossing_pass(&n->shared->gate, &n->epoch, (uint64_t)n->ranks, n->patience);
}

/* With a core for each rank they spin. Otherwise they yield, where that hands the core over: it does nothing
 * where the kernel schedules each session as one (sched_autogroup) and the launcher gives each rank a
 * session, as MPICH's does. There they sleep. */
static inline enum patience neutral_choose(neutral *n, int cores)
{
    if (n->ranks <= cores)
        return SPIN;
    FILE *file = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
    int grouped = file && fgetc(file) == '1';
    if (file)
        fclose(file);
    for (int r = 1; grouped && r < n->ranks; r++)
        if (n->shared->value[r] != n->shared->value[0])
            return SLEEP;
    return YIELD;
}

/* All ranks together, after MPI_Init. `samples`: floats to keep for each rank. */
static inline neutral neutral_open(size_t samples)
{
    neutral n = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &n.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n.ranks);
    if (n.ranks > NEUTRAL_RANKS) {
        fprintf(stderr, "at most %d ranks\n", NEUTRAL_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    n.stride = samples;
    size_t bytes = sizeof(neutral_shared) + (size_t)n.ranks * samples * sizeof(float);
    int where[2] = {getpid(), -1};
    if (n.rank == 0) {
        where[1] = memfd_create("bench", 0);
        if (where[1] < 0 || ftruncate(where[1], (off_t)bytes) != 0)
            neutral_die("memfd");
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    int fd = where[1];
    if (n.rank != 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
        fd = open(path, O_RDWR);
        if (fd < 0)
            neutral_die(path);
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED)
        neutral_die("mmap");
    n.shared = at;
    n.samples = (float *)(n.shared + 1);
    cpu_set_t set;
    uint64_t mask = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int c = 0; c < 64; c++)
            if (CPU_ISSET(c, &set))
                mask |= UINT64_C(1) << c;
    atomic_store(&n.shared->cores[n.rank], mask);
    n.shared->value[n.rank] = getsid(0);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
    uint64_t all = 0;
    for (int r = 0; r < n.ranks; r++)
        all |= atomic_load(&n.shared->cores[r]);
    n.patience = neutral_choose(&n, __builtin_popcountll(all));
    MPI_Barrier(MPI_COMM_WORLD);
    return n;
}

/* What stands between two timed calls. */
static inline void neutral_separate(neutral *n)
{
    if (n->mpi_separator)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        neutral_cross(n);
}

static inline float *neutral_mine(neutral *n) { return n->samples + (size_t)n->rank * n->stride; }

/* How many iterations to do next, the same answer on all ranks; 0 when the cap is reached or there is no more
 * room. */
static inline long neutral_next(neutral *n, long done)
{
    if (n->rank == 0) {
        uint64_t spent = wall_ns() - n->start_ns;
        int64_t plan = 0;
        if (done == 0)
            plan = 2;
        else if (spent < n->cap_ns) {
            double fit = (double)(n->cap_ns - spent) / ((double)spent / (double)done);
            plan = fit < 1 ? 1 : fit > 4.0 * (double)done ? 4 * done : (int64_t)fit;
        }
        if (plan > (int64_t)n->stride - done)
            plan = (int64_t)n->stride - done;
        atomic_store(&n->shared->plan, plan);
    }
    neutral_cross(n);
    long plan = (long)atomic_load(&n->shared->plan);
    neutral_cross(n);
    return plan;
}

static inline void neutral_begin(neutral *n, double cap_s)
{
    neutral_cross(n);
    n->start_ns = wall_ns();
    n->cap_ns = (uint64_t)(cap_s * 1e9);
}

/* One number from each rank, in rank order, seen by all until the next call of this function. */
static inline const double *neutral_gather(neutral *n, double mine)
{
    neutral_cross(n);
    n->shared->value[n->rank] = mine;
    neutral_cross(n);
    return n->shared->value;
}

/* Same, two numbers of each rank at once. */
static inline const double *neutral_gather_second(neutral *n, double mine)
{
    neutral_cross(n);
    n->shared->second[n->rank] = mine;
    neutral_cross(n);
    return n->shared->second;
}

/* One line about the library and where the ranks may run. */
static inline void neutral_introduce(neutral *n, const char *program)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '"' || *c == '\\')
            *c = ' ';
    if (n->rank != 0)
        return;
    printf("result {\"program\": \"%s\", \"library\": \"%.100s\", \"ranks\": %d, \"separator\": \"%s\", "
           "\"cores\": [",
           program, text, n->ranks, patience_names[n->patience]);
    for (int r = 0; r < n->ranks; r++)
        printf("%s\"%llx\"", r ? ", " : "", (unsigned long long)atomic_load(&n->shared->cores[r]));
    printf("]}\n");
    fflush(stdout);
}
#endif
