/* Reductions of random.c: sums of 64-bit integers, and an operator of its own that does not commute. */
#ifndef EVENKEEL_TESTS_RANDOM_REDUCTIONS_H
#define EVENKEEL_TESTS_RANDOM_REDUCTIONS_H
#include "random_operations.h"

static MPI_Op compose;

/* Composes maps x -> ax + b modulo a prime; a and b are the halves of 64 bits. */
static void compose_function(void *in, void *inout, int *count, MPI_Datatype *t)
{
    uint32_t *f = in, *g = inout;
    (void)t;
    for (int i = 0; i < *count; i++, f += 2, g += 2) {
        g[1] = (uint32_t)(((uint64_t)f[0] * g[1] + f[1]) % 65521);
        g[0] = (uint32_t)((uint64_t)f[0] * g[0] % 65521);
    }
}

/* Element k of what rank r contributes. */
static int64_t term(uint64_t step, int r, int k, int user_operator)
{
    uint64_t h = mix3(step, (uint64_t)r, (uint64_t)(k % 1009));
    return user_operator ? (int64_t)(h % 65520 + 1) | (int64_t)(h >> 24 & 0x7fff) << 32
                         : (int64_t)(h % 2001) - 1000;
}

/* Element k of the contributions of ranks 0 to `last`, combined. */
static int64_t fold(uint64_t step, int last, int k, int user_operator)
{
    int64_t x = term(step, 0, k, user_operator);
    for (int r = 1; r <= last; r++) {
        int64_t y = term(step, r, k, user_operator);
        if (user_operator)
            compose_function(&x, &y, &(int){1}, NULL), x = y;
        else
            x += y;
    }
    return x;
}

/* One reduction: elements of the vector and of this rank's result. */
typedef struct reduction {
    const random_call *c;
    int n, vector, result, first; /* first: where in the vector of a Reduce_scatter this rank's part begins */
    int *counts;
    int is_receiving;
    const void *in;
    int64_t *out;
} reduction;

static reduction size_reduction(const random_call *c, pending *p)
{
    const group *g = c->g;
    reduction r = {.c = c, .n = c->base * 6, .counts = calloc((size_t)g->n, sizeof(int))};
    int total = 0;
    p->arrays = r.counts;
    for (int i = 0; i < g->n; i++) {
        r.counts[i] = c->kind == REDUCE_SCATTER ? varying_units(p->step, i, 0, c->base) * 6 : r.n;
        r.first = i == g->me ? total : r.first;
        total += r.counts[i];
    }
    r.vector = c->kind >= REDUCE_SCATTER ? total : r.n;
    r.result = c->kind >= REDUCE_SCATTER ? r.counts[g->me] : r.n;
    r.is_receiving = (c->kind != REDUCE || g->me == c->root) && !(c->kind == EXSCAN && g->me == 0);
    return r;
}

/* Element k of the result on this rank. */
static int64_t expected_element(const reduction *r, uint64_t step, int k)
{
    const random_call *c = r->c;
    int me = c->g->me, last = c->kind == SCAN ? me : c->kind == EXSCAN ? me - 1 : c->g->n - 1;
    int first = c->kind == REDUCE_SCATTER ? r->first : c->kind == REDUCE_SCATTER_BLOCK ? r->n * me : 0;
    return fold(step, last, first + k, c->user_operator);
}

static void fill_reduction(reduction *r, pending *p)
{
    const random_call *c = r->c;
    size_t vector_bytes = (size_t)r->vector * 8;
    size_t recv_bytes = (size_t)(c->in_place && r->is_receiving ? r->vector : r->result) * 8;
    int64_t *send = (int64_t *)(p->send = malloc(vector_bytes + 8));
    p->recv = allocate(recv_bytes), p->expected = allocate(recv_bytes), p->bytes = recv_bytes + 2 * MARGIN;
    int64_t *recv = (int64_t *)(p->recv + MARGIN), *expected = (int64_t *)(p->expected + MARGIN);
    for (int k = 0; k < r->vector; k++)
        send[k] = term(p->step, c->g->me, k, c->user_operator);
    if (c->in_place && r->is_receiving)
        memcpy(recv, send, vector_bytes), memcpy(expected, send, vector_bytes);
    for (int k = 0; r->is_receiving && k < r->result; k++) /* contents have a period of 1009 */
        expected[k] =
            k >= 1009 && c->kind < REDUCE_SCATTER ? expected[k - 1009] : expected_element(r, p->step, k);
    /* Exscan in place must be in place on all ranks; rank 0's buffer is then read but not written. */
    if (c->in_place && c->kind == EXSCAN && c->g->me == 0)
        memcpy(recv, send, (size_t)r->n * 8), memcpy(expected, send, (size_t)r->n * 8);
    r->in = c->in_place && (r->is_receiving || c->kind == EXSCAN) ? MPI_IN_PLACE : (void *)send;
    r->out = recv;
}

#define EITHER(NAME, INAME, ...) \
    (c->blocking ? MPI_##NAME(__VA_ARGS__, comm) : MPI_##INAME(__VA_ARGS__, comm, &p->request))

static void start_reduction(const reduction *r, pending *p)
{
    const random_call *c = r->c;
    MPI_Comm comm = c->g->comm;
    MPI_Datatype t = c->user_operator ? MPI_UNSIGNED_LONG_LONG : MPI_INT64_T;
    MPI_Op op = c->user_operator ? compose : MPI_SUM;
    switch (c->kind) {
    case REDUCE: EITHER(Reduce, Ireduce, r->in, r->out, r->n, t, op, c->root); break;
    case ALLREDUCE: EITHER(Allreduce, Iallreduce, r->in, r->out, r->n, t, op); break;
    case SCAN: EITHER(Scan, Iscan, r->in, r->out, r->n, t, op); break;
    case EXSCAN: EITHER(Exscan, Iexscan, r->in, r->out, r->n, t, op); break;
    case REDUCE_SCATTER: EITHER(Reduce_scatter, Ireduce_scatter, r->in, r->out, r->counts, t, op); break;
    default: EITHER(Reduce_scatter_block, Ireduce_scatter_block, r->in, r->out, r->n, t, op);
    }
}

static void reduce(const random_call *c, pending *p)
{
    reduction r = size_reduction(c, p);
    fill_reduction(&r, p);
    start_reduction(&r, p);
    if (r.in == MPI_IN_PLACE && c->kind >= REDUCE_SCATTER) /* MPI leaves open what follows the result */
        p->bytes = (size_t)r.result * 8 + MARGIN;
}
#endif
