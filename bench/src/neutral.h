/* What the benchmarks have in shared memory, beside the MPI library that they measure: a separating barrier
 * that is the same for every library, the samples of all ranks, and the number of iterations left to do. The
 * library's own barrier would release the ranks in an order of its own, which decides how long the next call
 * takes. Uses MPI for set-up only, never between timed calls. */
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
#include "library.h"
#include "shared_barrier.h"

#define NEUTRAL_RANKS 256

typedef struct neutral_shared {
    shared_barrier barrier;
    _Atomic int64_t next_iterations;       /* how many iterations all ranks do next */
    _Atomic uint64_t cores[NEUTRAL_RANKS]; /* the first 64 cores that each rank may run on */
    double value[NEUTRAL_RANKS]; /* one number of each rank, written before a barrier and read after it */
    double second[NEUTRAL_RANKS];
} neutral_shared;

typedef struct neutral {
    neutral_shared *shared;
    float *samples; /* samples[rank * stride + iteration] */
    size_t stride;
    int rank, ranks;
    enum wait_policy policy;
    int mpi_separator; /* whether MPI_Barrier separates the timed calls */
    uint64_t epoch;
    uint64_t start_ns, cap_ns;
} neutral;

static inline void neutral_fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    _exit(2);
}

static inline void neutral_barrier(neutral *n)
{
    shared_barrier_wait(&n->shared->barrier, &n->epoch, (uint64_t)n->ranks, n->policy);
}

/* With a core for each rank, ranks spin. Otherwise they yield if that hands the core over to another rank. It
 * does not if the kernel schedules each session as a unit (sched_autogroup) and the launcher gives each rank
 * a session, as MPICH's does; then they sleep. */
static inline enum wait_policy neutral_wait_policy(neutral *n, int cores)
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

/* Memory that rank 0 creates and all other ranks map through /proc. */
static inline void *neutral_map(int rank, size_t bytes)
{
    int where[2] = {getpid(), -1};
    if (rank == 0) {
        where[1] = memfd_create("bench", 0);
        if (where[1] < 0 || ftruncate(where[1], (off_t)bytes) != 0)
            neutral_fail("memfd");
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    int fd = where[1];
    if (rank != 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
        fd = open(path, O_RDWR);
        if (fd < 0)
            neutral_fail(path);
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED)
        neutral_fail("mmap");
    MPI_Barrier(MPI_COMM_WORLD); /* all have opened it */
    close(fd);
    return at;
}

/* The first 64 cores that this process may run on, one bit each. */
static inline uint64_t usable_cores(void)
{
    cpu_set_t set;
    uint64_t mask = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int c = 0; c < 64; c++)
            if (CPU_ISSET(c, &set))
                mask |= UINT64_C(1) << c;
    return mask;
}

/* Sets up the shared memory; all ranks call it together, after MPI_Init. `samples`: how many floats to keep
 * for each rank. */
static inline neutral neutral_open(size_t samples)
{
    neutral n = {.stride = samples};
    MPI_Comm_rank(MPI_COMM_WORLD, &n.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n.ranks);
    if (n.ranks > NEUTRAL_RANKS) {
        fprintf(stderr, "at most %d ranks\n", NEUTRAL_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    n.shared = neutral_map(n.rank, sizeof(neutral_shared) + (size_t)n.ranks * samples * sizeof(float));
    n.samples = (float *)(n.shared + 1);
    atomic_store(&n.shared->cores[n.rank], usable_cores());
    n.shared->value[n.rank] = getsid(0);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t all = 0;
    for (int r = 0; r < n.ranks; r++)
        all |= atomic_load(&n.shared->cores[r]);
    n.policy = neutral_wait_policy(&n, __builtin_popcountll(all));
    MPI_Barrier(MPI_COMM_WORLD);
    return n;
}

/* Separates two timed calls. */
static inline void neutral_separate(neutral *n)
{
    if (n->mpi_separator)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        neutral_barrier(n);
}

static inline float *neutral_mine(neutral *n) { return n->samples + (size_t)n->rank * n->stride; }

/* How many iterations to do next. All ranks get the same answer: 0 once the cap is reached or the memory for
 * samples is full. */
static inline long neutral_next(neutral *n, long done)
{
    if (n->rank == 0) {
        uint64_t spent = wall_ns() - n->start_ns;
        int64_t next = 0;
        if (done == 0)
            next = 2;
        else if (spent < n->cap_ns) {
            double fit = (double)(n->cap_ns - spent) / ((double)spent / (double)done);
            next = fit < 1 ? 1 : fit > 4.0 * (double)done ? 4 * done : (int64_t)fit;
        }
        if (next > (int64_t)n->stride - done)
            next = (int64_t)n->stride - done;
        atomic_store(&n->shared->next_iterations, next);
    }
    neutral_barrier(n);
    long next = (long)atomic_load(&n->shared->next_iterations);
    neutral_barrier(n);
    return next;
}

/* Starts the clock of the iterations that `neutral_next` counts. */
static inline void neutral_begin(neutral *n, double cap_s)
{
    neutral_barrier(n);
    n->start_ns = wall_ns();
    n->cap_ns = (uint64_t)(cap_s * 1e9);
}

/* Every rank gives a number and gets the numbers of all ranks. They stay valid until the next call. */
static inline const double *neutral_gather(neutral *n, double mine)
{
    neutral_barrier(n);
    n->shared->value[n->rank] = mine;
    neutral_barrier(n);
    return n->shared->value;
}

/* The same with memory of its own, for callers that need two numbers of each rank at once. */
static inline const double *neutral_gather_second(neutral *n, double mine)
{
    neutral_barrier(n);
    n->shared->second[n->rank] = mine;
    neutral_barrier(n);
    return n->shared->second;
}

/* Prints a line about the library and the cores that the ranks may run on. */
static inline void neutral_introduce(neutral *n, const char *program)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    library_name(library);
    if (n->rank != 0)
        return;
    printf("result {\"program\": \"%s\", \"library\": \"%.100s\", \"ranks\": %d, \"separator\": \"%s\", "
           "\"cores\": [",
           program, library, n->ranks, wait_policy_names[n->policy]);
    for (int r = 0; r < n->ranks; r++)
        printf("%s\"%llx\"", r ? ", " : "", (unsigned long long)atomic_load(&n->shared->cores[r]));
    printf("]}\n");
    fflush(stdout);
}
#endif
