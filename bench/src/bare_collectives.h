/* The least that broadcast, reduction and allreduce of doubles must do through shared memory: copy the data
 * in, announce it, wait for the ranks whose data is needed, and combine or copy out. There is one buffer and
 * no flow control: the caller puts a barrier between two calls. Must never know MPI. */
#ifndef BENCH_BARE_COLLECTIVES_H
#define BENCH_BARE_COLLECTIVES_H
#include <stddef.h>
#include <string.h>
#include "shared_barrier.h"

enum { BARE_RANKS = 64, BARE_BYTES = 65536, BARE_SMALL = 2048 };

typedef struct bare_shared {
    shared_barrier posted, deposited, combined; /* only their counters are used */
    double result[BARE_BYTES / sizeof(double)];
    double slot[BARE_RANKS][BARE_BYTES / sizeof(double)];
} bare_shared;

typedef struct bare {
    bare_shared *shared;
    uint64_t rank, ranks, epoch;
    enum wait_policy policy;
} bare;

static inline void bare_wait(bare *b, shared_barrier *c, uint64_t full)
{
    while (atomic_load_explicit(&c->arrived, memory_order_acquire) < full)
        pause_between_looks(b->policy);
}

/* The root is rank 0, as in the reduction. */
static inline void bare_bcast(bare *b, double *data, size_t count)
{
    b->epoch++;
    if (b->rank == 0) {
        memcpy(b->shared->result, data, count * sizeof *data);
        atomic_store_explicit(&b->shared->posted.arrived, b->epoch, memory_order_release);
    } else {
        bare_wait(b, &b->shared->posted, b->epoch);
        memcpy(data, b->shared->result, count * sizeof *data);
    }
}

static inline void bare_sum(bare *b, double *out, size_t from, size_t to)
{
    memcpy(out + from, b->shared->slot[0] + from, (to - from) * sizeof *out);
    for (uint64_t r = 1; r < b->ranks; r++)
        for (size_t i = from; i < to; i++)
            out[i] += b->shared->slot[r][i];
}

static inline void bare_deposit(bare *b, const double *data, size_t count)
{
    b->epoch++;
    memcpy(b->shared->slot[b->rank], data, count * sizeof *data);
    atomic_fetch_add_explicit(&b->shared->deposited.arrived, 1, memory_order_acq_rel);
}

static inline void bare_reduce(bare *b, const double *data, double *out, size_t count)
{
    bare_deposit(b, data, count);
    if (b->rank == 0) {
        bare_wait(b, &b->shared->deposited, b->epoch * b->ranks);
        bare_sum(b, out, 0, count);
    }
}

/* Every rank adds up all of a small vector. Of a large one, every rank adds up a share. */
static inline void bare_allreduce(bare *b, const double *data, double *out, size_t count)
{
    bare_deposit(b, data, count);
    bare_wait(b, &b->shared->deposited, b->epoch * b->ranks);
    if (count * sizeof *data <= BARE_SMALL) {
        bare_sum(b, out, 0, count);
        return;
    }
    bare_sum(b, b->shared->result, count * b->rank / b->ranks, count * (b->rank + 1) / b->ranks);
    atomic_fetch_add_explicit(&b->shared->combined.arrived, 1, memory_order_acq_rel);
    bare_wait(b, &b->shared->combined, b->epoch * b->ranks);
    memcpy(out, b->shared->result, count * sizeof *data);
}
#endif
