/* The least synchronisation that shared memory allows. It is the floor that the MPI libraries are compared
 * with, and it separates the timed calls of all of them in the same way. Uses C11 atomics, sched_yield and
 * futexes only. Must never know MPI. */
#ifndef BENCH_SHARED_BARRIER_H
#define BENCH_SHARED_BARRIER_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How a process waits: it keeps its core busy, it yields the core after each look, or it sleeps on a futex.
 */
enum wait_policy { SPIN, YIELD, SLEEP };
static const char *const wait_policy_names[] = {"spin", "yield", "futex"};

static inline void pause_between_looks(enum wait_policy policy)
{
    if (policy == YIELD)
        sched_yield();
#if defined(__x86_64__)
    else
        __builtin_ia32_pause();
#endif
}

/* A barrier of one counter that only grows: barrier number e is complete once it has reached e × ranks. */
typedef struct shared_barrier {
    _Alignas(64) _Atomic uint64_t arrived;
    _Atomic uint32_t completed; /* the futex of sleeping ranks; counts the completed barriers */
    char rest_of_line[52];
} shared_barrier;

static inline void shared_barrier_wait(shared_barrier *b, uint64_t *epoch, uint64_t ranks,
                                       enum wait_policy policy)
{
    uint64_t full = ++*epoch * ranks;
    /* Release pairs with the acquire loads below: a rank that sees the full count also sees what this rank
     * wrote before. */
    if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == full) {
        if (policy == SLEEP) {
            atomic_fetch_add(&b->completed, 1);
            syscall(SYS_futex, &b->completed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        }
        return;
    }
    if (policy != SLEEP) {
        while (atomic_load_explicit(&b->arrived, memory_order_acquire) < full)
            pause_between_looks(policy);
        return;
    }
    for (;;) {
        uint32_t seen = atomic_load(&b->completed); /* first: it changes only once the count is full */
        if (atomic_load(&b->arrived) >= full)
            return;
        syscall(SYS_futex, &b->completed, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
}

/* A barrier of two ranks: each sets a flag of its own, on a cache line of its own, and waits for the other.
 */
typedef struct flag_pair {
    shared_barrier flag[2];
} flag_pair;

static inline void flag_pair_wait(flag_pair *pair, uint64_t *epoch, int rank, enum wait_policy policy)
{
    uint64_t now = ++*epoch;
    atomic_store_explicit(&pair->flag[rank].arrived, now, memory_order_release);
    while (atomic_load_explicit(&pair->flag[!rank].arrived, memory_order_acquire) < now)
        pause_between_looks(policy);
}
#endif
