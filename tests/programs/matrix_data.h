/* The data of one call: what is sent, where it lies, and what must come out, computed serially. */
#ifndef EVENKEEL_TESTS_MATRIX_DATA_H
#define EVENKEEL_TESTS_MATRIX_DATA_H
#include "matrix_call.h"

/* The content of a block repeats after PERIOD elements, which is prime to every chunk size. MARGIN bytes
 * before and after each buffer must stay as they are. */
enum { PERIOD = 251, MARGIN = 64 };

/* One combination's call with its buffers. */
typedef struct exchange {
    const combination *c;
    call k;
    int n, is_root;                         /* elements of a block; root, or there is none */
    size_t extent;                          /* bytes of an element */
    size_t send_elements, recv_elements;    /* in the whole buffers */
    size_t own_at;                          /* where in recv this rank's own data belong */
    size_t send_bytes, recv_bytes;          /* with margins */
    unsigned char *send, *recv, *expected;  /* without margins */
    unsigned char *send_room, *send_before; /* with margins */
    unsigned char *recv_room, *expected_room;
} exchange;

/* Elements that go from `src` to `dst` in operations with varying counts. */
static int varying_count(const combination *c, int n, int src, int dst)
{
    uint64_t h = mix3(c->seed, (uint64_t)src * 64 + (uint64_t)dst, 99) % 4;
    return h == 0 ? 0 : h == 1 ? (n + 1) / 2 : h == 2 ? n : n > 100 ? n - 1 : n + 1;
}

/* Writes `count` elements. Movement: the block from rank `from` to rank `last`. Reductions: elements `first`
 * and following of the fold of the contributions of ranks `from` to `last`; from == last: what one rank
 * contributes. */
static void fill(const combination *c, unsigned char *at, size_t count, int from, int last, uint64_t first)
{
    const type *t = &types[c->type];
    size_t distinct = count < PERIOD ? count : PERIOD, e = (size_t)t->extent;
    for (size_t i = 0; i < distinct; i++) {
        uint64_t k = (first + i) % PERIOD;
        value v;
        if (is_reduction(c->kind)) {
            v = generate(c->op, t, c->seed, from, world_size, k);
            for (int r = from + 1; r <= last; r++)
                v = combine(c->op, t, v, generate(c->op, t, c->seed, r, world_size, k));
        } else {
            v = generate(-1, t, c->seed, from * 64 + last, world_size, k);
        }
        encode(t, v, at + i * e);
    }
    /* Doubling keeps the period while `done` is a multiple of it. */
    for (size_t done = distinct; done < count;) {
        size_t n = done < count - done ? done : count - done;
        memcpy(at + done * e, at, n * e);
        done += n;
    }
}

/* Writes a block for or from every rank, `n` elements each, one after the other. */
static void fill_blocks(const exchange *x, unsigned char *at, int from_me)
{
    for (int j = 0; j < world_size; j++)
        fill(x->c, at + (size_t)j * (size_t)x->n * x->extent, (size_t)x->n, from_me ? world_rank : j,
             from_me ? j : world_rank, 0);
}

static unsigned char *allocate(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0xa5, bytes + 2 * MARGIN);
    return p;
}

/* Counts to and from rank `j`. */
static void set_counts(exchange *x, int j)
{
    const combination *c = x->c;
    call *k = &x->k;
    int n = x->n, me = world_rank, low = me < j ? me : j, high = me < j ? j : me;
    switch (c->kind) {
    case GATHERV:
    case ALLGATHERV:
    case REDUCE_SCATTER: k->rcounts[j] = varying_count(c, n, j, 0); break;
    case SCATTERV: k->scounts[j] = varying_count(c, n, 0, j); break;
    case ALLTOALLV:
    case ALLTOALLW: /* in place, two ranks exchange as many elements in both directions */
        k->scounts[j] = c->in_place ? varying_count(c, n, low, high) : varying_count(c, n, me, j);
        k->rcounts[j] = c->in_place ? k->scounts[j] : varying_count(c, n, j, me);
        break;
    default: k->scounts[j] = k->rcounts[j] = n;
    }
}

/* Counts and displacements: blocks in reverse order with gaps of one element, except in the vector of a
 * Reduce_scatter. Sets the elements that the blocks of all ranks take. */
static void set_blocks(exchange *x, size_t *send_total, size_t *recv_total)
{
    call *k = &x->k;
    int s = 0, r = 0;
    for (int j = world_size - 1; j >= 0; j--) {
        set_counts(x, j);
        if (x->c->kind == REDUCE_SCATTER)
            continue;
        k->sdispls[j] = s, k->rdispls[j] = r;
        s += k->scounts[j] + 1, r += k->rcounts[j] + 1;
    }
    for (int j = 0; j < world_size && x->c->kind == REDUCE_SCATTER; j++)
        k->rdispls[j] = r, r += k->rcounts[j];
    *send_total = (size_t)s, *recv_total = (size_t)r;
}

static void set_sizes(exchange *x, size_t send_total, size_t recv_total)
{
    call *k = &x->k;
    size_t n = (size_t)x->n, all = n * (size_t)world_size, me = (size_t)world_rank;
    switch (x->c->kind) {
    case BARRIER: break;
    case BCAST: x->recv_elements = n; break;
    case REDUCE:
    case ALLREDUCE:
    case SCAN:
    case EXSCAN: x->send_elements = x->recv_elements = n; break;
    case GATHER:
    case ALLGATHER: x->send_elements = n, x->recv_elements = all, x->own_at = n * me; break;
    case SCATTER: x->send_elements = all, x->recv_elements = n; break;
    case GATHERV:
    case ALLGATHERV:
        k->count = k->rcounts[me];
        x->send_elements = (size_t)k->count, x->recv_elements = recv_total;
        x->own_at = (size_t)k->rdispls[me];
        break;
    case SCATTERV:
        k->count = k->scounts[me];
        x->send_elements = send_total, x->recv_elements = (size_t)k->count;
        break;
    case ALLTOALL: x->send_elements = x->recv_elements = all; break;
    case ALLTOALLV:
    case ALLTOALLW: x->send_elements = send_total, x->recv_elements = recv_total; break;
    case REDUCE_SCATTER:
        x->send_elements = recv_total;
        x->recv_elements = x->c->in_place ? recv_total : (size_t)k->rcounts[me];
        break;
    default: x->send_elements = all, x->recv_elements = x->c->in_place ? all : n;
    }
}

/* Writes what this rank contributes. */
static void fill_send(exchange *x)
{
    const combination *c = x->c;
    const call *k = &x->k;
    int me = world_rank, sends = 1, from = me;
    switch (c->kind) {
    case BARRIER:
    case BCAST: return;
    case GATHER:
    case ALLGATHER:
    case GATHERV:
    case ALLGATHERV: fill(c, x->send, x->send_elements, me, 0, 0); return;
    case SCATTER:
    case SCATTERV: from = 0, sends = x->is_root; break; /* contents say that they come from rank 0 */
    case ALLTOALL: fill_blocks(x, x->send, 1); return;
    case ALLTOALLV:
    case ALLTOALLW: break;
    default: fill(c, x->send, x->send_elements, me, me, 0); return;
    }
    for (int j = 0; j < world_size && sends; j++) {
        size_t at = c->kind == SCATTER ? (size_t)j * (size_t)x->n : (size_t)k->sdispls[j];
        size_t count = c->kind == SCATTER ? (size_t)x->n : (size_t)k->scounts[j];
        fill(c, x->send + at * x->extent, count, from, j, 0);
    }
}

/* Sets the buffer arguments. In place, what would have been sent lies in recv. */
static void set_arguments(exchange *x)
{
    const combination *c = x->c;
    call *k = &x->k;
    size_t sent = x->send_elements * x->extent;
    k->sendbuf = x->send, k->recvbuf = x->recv;
    if (c->kind == BCAST && x->is_root)
        fill(c, x->recv, (size_t)x->n, c->root, 0, 0);
    if (!c->in_place || !x->is_root)
        return;
    k->sendbuf = MPI_IN_PLACE;
    if (c->kind == SCATTER || c->kind == SCATTERV)
        k->sendbuf = x->send, k->recvbuf = MPI_IN_PLACE;
    else if (c->kind == GATHER || c->kind == ALLGATHER || c->kind == GATHERV || c->kind == ALLGATHERV)
        memcpy(x->recv + x->own_at * x->extent, x->send, sent);
    else
        memcpy(x->recv, x->send, sent);
}

/* Makes arguments invalid that mean nothing on this rank. */
static void spoil_unused_arguments(exchange *x)
{
    const combination *c = x->c;
    if (!is_rooted(c->kind) || x->is_root || !(c->seed & 1))
        return;
    if (c->kind == REDUCE || c->kind == GATHER || c->kind == GATHERV)
        x->k.recvbuf = NULL;
    if (c->kind == SCATTER || c->kind == SCATTERV)
        x->k.sendbuf = NULL;
}

/* Writes the expected result of a reduction. */
static void fill_expected_reduction(exchange *x)
{
    const combination *c = x->c;
    int me = world_rank, all = world_size - 1;
    size_t n = (size_t)x->n;
    switch (c->kind) {
    case REDUCE:
        if (x->is_root)
            fill(c, x->expected, n, 0, all, 0);
        break;
    case ALLREDUCE: fill(c, x->expected, n, 0, all, 0); break;
    case SCAN: fill(c, x->expected, n, 0, me, 0); break;
    case EXSCAN:
        if (me > 0)
            fill(c, x->expected, n, 0, me - 1, 0);
        break;
    case REDUCE_SCATTER:
        fill(c, x->expected, (size_t)x->k.rcounts[me], 0, all, (uint64_t)x->k.rdispls[me]);
        break;
    default: fill(c, x->expected, n, 0, all, (uint64_t)n * (uint64_t)me);
    }
}

/* Writes the expected result of an operation that moves data. */
static void fill_expected_movement(exchange *x)
{
    const combination *c = x->c;
    const call *k = &x->k;
    int me = world_rank, to = 0;
    switch (c->kind) {
    case BARRIER: return;
    case BCAST: fill(c, x->expected, (size_t)x->n, c->root, 0, 0); return;
    case SCATTER:
    case SCATTERV:
        if (k->recvbuf != MPI_IN_PLACE)
            fill(c, x->expected, (size_t)k->count, 0, me, 0);
        return;
    case ALLTOALL: fill_blocks(x, x->expected, 0); return;
    case ALLTOALLV:
    case ALLTOALLW: to = me; break;
    default: break; /* contents of gathers say that they go to rank 0 */
    }
    for (int j = 0; j < world_size && x->is_root; j++) {
        int regular = c->kind == GATHER || c->kind == ALLGATHER;
        size_t at = regular ? (size_t)j * (size_t)x->n : (size_t)k->rdispls[j];
        size_t count = regular ? (size_t)x->n : (size_t)k->rcounts[j];
        fill(c, x->expected + at * x->extent, count, j, to, 0);
    }
}

/* Makes the call's arguments, and buffers with contents. */
static void prepare(exchange *x, const combination *c)
{
    const type *t = &types[c->type];
    size_t send_total, recv_total;
    memset(x, 0, sizeof *x);
    x->c = c, x->extent = (size_t)t->extent;
    x->n = (int)(c->bytes / (size_t)(t->bytes + t->bytes2));
    if (x->n == 0 && c->bytes)
        x->n = 1;
    x->is_root = !is_rooted(c->kind) || world_rank == c->root;
    x->k = (call){.count = x->n, .t = t->mpi, .root = c->root};
    x->k.op = is_reduction(c->kind) ? operations[c->op].mpi : MPI_OP_NULL;
    set_blocks(x, &send_total, &recv_total);
    set_sizes(x, send_total, recv_total);
    size_t sent = x->send_elements * x->extent, received = x->recv_elements * x->extent;
    x->send_bytes = sent + 2 * MARGIN, x->recv_bytes = received + 2 * MARGIN;
    x->send_room = allocate(sent), x->send_before = allocate(sent);
    x->recv_room = allocate(received), x->expected_room = allocate(received);
    x->send = x->send_room + MARGIN, x->recv = x->recv_room + MARGIN, x->expected = x->expected_room + MARGIN;
    fill_send(x);
    memcpy(x->send_before, x->send_room, x->send_bytes);
    set_arguments(x);
    memcpy(x->expected_room, x->recv_room, x->recv_bytes);
    spoil_unused_arguments(x);
    is_reduction(c->kind) ? fill_expected_reduction(x) : fill_expected_movement(x);
}

/* Makes the expected bytes the received ones where MPI leaves them open: the rest of the vector in a
 * Reduce_scatter in place, and what rank 0 of an Exscan receives. */
static void accept_undefined_bytes(exchange *x)
{
    int kind = x->c->kind;
    if (x->c->in_place && (kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK)) {
        int own = kind == REDUCE_SCATTER ? x->k.rcounts[world_rank] : x->n;
        size_t defined = (size_t)own * x->extent;
        memcpy(x->recv + defined, x->expected + defined, x->recv_elements * x->extent - defined);
    }
    if (kind == EXSCAN && world_rank == 0)
        memcpy(x->recv_room, x->expected_room, x->recv_bytes);
}

/* Fails with a sentence if a buffer (with margins) is not what it should be. */
static void compare(const combination *c, const unsigned char *got, const unsigned char *want, size_t bytes,
                    const char *which)
{
    const type *t = &types[c->type];
    if (!memcmp(got, want, bytes))
        return;
    for (size_t i = 0; i < bytes; i++) {
        size_t in = i - MARGIN;
        int mask = i >= MARGIN && i < bytes - MARGIN ? t->mask[in % (size_t)t->extent] : 255;
        if ((got[i] ^ want[i]) & mask) {
            fail("%s of %s %s %s: %zu bytes a block, root %d, in place %d, form %d, %d ranks: byte %ld of "
                 "%zu is %02x, not %02x",
                 which, kind_names[c->kind], t->name, is_reduction(c->kind) ? operations[c->op].name : "-",
                 c->bytes, c->root, c->in_place, c->form, world_size, (long)i - MARGIN, bytes - 2 * MARGIN,
                 got[i], want[i]);
            return;
        }
    }
}

/* Compares, adds the result to the digest, and frees the buffers. */
static void judge(exchange *x)
{
    const combination *c = x->c;
    const type *t = &types[c->type];
    accept_undefined_bytes(x);
    if (c->op == PROD)
        clear_negative_zeros(t, x->recv, x->recv_elements);
    compare(c, x->recv_room, x->expected_room, x->recv_bytes, "result");
    compare(c, x->send_room, x->send_before, x->send_bytes, "send buffer");
    for (size_t i = 0; memchr(t->mask, 0, x->extent) && i < x->recv_elements * x->extent; i++)
        x->recv[i] &= t->mask[i % x->extent];
    digest_bytes(x->recv, x->recv_elements * x->extent);
    free(x->send_room), free(x->send_before), free(x->recv_room), free(x->expected_room);
}
#endif
