/* The barest synchronisation that shared memory allows: what the libraries are measured against, and what
 * separates the timed calls of all of them alike. Uses C11 atomics, sched_yield and futexes, nothing else;
 * must never know MPI. */
#ifndef BENCH_CROSSING_H
#define BENCH_CROSSING_H
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

/* How a process waits: it burns its core, offers it at every look, or leaves it until it is woken. */
enum patience { SPIN, YIELD, SLEEP };
static const char *const patience_names[] = {"spin", "yield", "futex"};

static inline void crossing_pause(enum patience p)
{
    if (p == YIELD)
        sched_yield();
#if defined(__x86_64__)
    else
        __builtin_ia32_pause();
#endif
}

/* A barrier of one counter that only grows: the e-th crossing is over when it has reached e × ranks. */
typedef struct crossing {
    _Alignas(64) _Atomic uint64_t arrived;
    _Atomic uint32_t bell; /* rung at the end of each crossing, for sleepers */
    char rest_of_line[52];
} crossing;

static inline void crossing_pass(crossing *c, uint64_t *epoch, uint64_t ranks, enum patience p)
{
    uint64_t full = ++*epoch * ranks;
    /* Release: what this rank wrote before is seen by whoever sees the full count (acquire below). */
    if (atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1 == full) {
        if (p == SLEEP) {
            atomic_fetch_add(&c->bell, 1);
            syscall(SYS_futex, &c->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        }
        return;
    }
    if (p != SLEEP) {
        while (atomic_load_explicit(&c->arrived, memory_order_acquire) < full)
            crossing_pause(p);
        return;
    }
    for (;;) {
        uint32_t heard = atomic_load(&c->bell); /* before the count: it rings only after the count is full */
        if (atomic_load(&c->arrived) >= full)
            return;
        syscall(SYS_futex, &c->bell, FUTEX_WAIT, heard, NULL, NULL, 0);
    }
}

/* Two ranks, one flag each, on lines of their own: "I am here, are you?" */
typedef struct exchange {
    crossing flag[2];
} exchange;

static inline void exchange_pass(exchange *x, uint64_t *epoch, int me, enum patience p)
{
    uint64_t now = ++*epoch;
    atomic_store_explicit(&x->flag[me].arrived, now, memory_order_release);
    while (atomic_load_explicit(&x->flag[!me].arrived, memory_order_acquire) < now)
        crossing_pause(p);
}
#endif
