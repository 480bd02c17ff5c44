/* Clocks, and delays of a given number of loop iterations. Uses libc only. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
static inline uint64_t thread_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static inline uint64_t process_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

static int clock_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The median difference of two readings around nothing: the caller subtracts it from every timed call. */
static inline uint64_t wall_cost_ns(void)
{
    enum { N = 501 };
    uint64_t d[N];
    for (int i = 0; i < N; i++) {
        uint64_t before = wall_ns();
        d[i] = wall_ns() - before;
    }
    qsort(d, N, sizeof d[0], clock_compare);
    return d[N / 2];
}

/* A delay of so many iterations. If the process loses its core meanwhile, the delay takes longer, and the
 * loss shows in the measurement. */
static inline void busy(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        __asm__ volatile("" : "+r"(i));
}

/* Iterations of `busy` per microsecond of this process's own processor time: the fastest of several tries. */
static inline double busy_per_us(void)
{
    const uint64_t count = 200000;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 25; i++) {
        uint64_t before = thread_cpu_ns();
        busy(count);
        uint64_t took = thread_cpu_ns() - before;
        if (took < best)
            best = took;
    }
    return (double)count * 1000.0 / (double)best;
}
#endif
