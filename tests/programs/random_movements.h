/* Operations of random.c that move data, between derived datatypes whose layouts differ from rank to rank. */
#ifndef EVENKEEL_TESTS_RANDOM_MOVEMENTS_H
#define EVENKEEL_TESTS_RANDOM_MOVEMENTS_H
#include "random_operations.h"

/* What must outlive the operation. */
typedef struct arrays {
    int scounts[RANKS_MAX], rcounts[RANKS_MAX], sdispls[RANKS_MAX], rdispls[RANKS_MAX];
    MPI_Datatype stypes[RANKS_MAX], rtypes[RANKS_MAX];
} arrays;

/* One movement: how many ints go to and come from each rank, and where they lie. */
typedef struct movement {
    const random_call *c;
    pending *p;
    arrays *a;
    int is_root, is_to_all, is_from_all; /* are blocks sent to, or received from, every rank? */
    int send_ints[RANKS_MAX], recv_ints[RANKS_MAX];
    size_t send_at[RANKS_MAX], recv_at[RANKS_MAX], send_bytes, recv_bytes;
    const layout *send_layout, *recv_layout; /* of all operations but Alltoallw */
    void *sendbuf, *recvbuf;
} movement;

static int has_varying_counts(int kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV ||
           kind == ALLTOALLW;
}

static const layout *layout_to(const movement *m, int i)
{
    return m->c->kind == ALLTOALLW ? &m->p->layouts[i] : m->send_layout;
}

static const layout *layout_from(const movement *m, int i)
{
    return m->c->kind == ALLTOALLW ? &m->p->layouts[m->c->g->n + i] : m->recv_layout;
}

static void choose_layouts(movement *m, rng *own)
{
    pending *p = m->p;
    p->layouts_count = m->c->kind == ALLTOALLW ? 2 * m->c->g->n : 2;
    layout *ls = p->layouts = calloc((size_t)p->layouts_count, sizeof(layout));
    for (int i = 0; i < p->layouts_count; i++)
        ls[i] = make_layout(below(own, LAYOUTS));
    if (m->c->kind == BCAST) { /* one buffer, one layout */
        free_layout(&ls[1]);
        ls[1] = ls[0], ls[1].is_predefined = 1;
    }
    m->send_layout = &ls[0], m->recv_layout = &ls[1];
}

/* How many ints go to rank i, and come from it. */
static void set_counts(movement *m, int i)
{
    const random_call *c = m->c;
    uint64_t step = m->p->step;
    int me = c->g->me, base = c->base, low = i < me ? i : me, high = i < me ? me : i, to, from;
    switch (c->kind) {
    case GATHERV:
    case ALLGATHERV: to = varying_units(step, me, 0, base), from = varying_units(step, i, 0, base); break;
    case SCATTERV: to = varying_units(step, 0, i, base), from = varying_units(step, 0, me, base); break;
    case ALLTOALLV:
    case ALLTOALLW: /* in place, two ranks exchange as many elements in both directions */
        to = c->in_place ? varying_units(step, low, high, base) : varying_units(step, me, i, base);
        from = c->in_place ? to : varying_units(step, i, me, base);
        break;
    default: to = from = base;
    }
    m->send_ints[i] = to * UNIT, m->recv_ints[i] = from * UNIT;
}

/* Places the blocks one after the other, with a gap of one instance where displacements allow one. */
static void place_blocks(movement *m)
{
    int kind = m->c->kind, gap = has_varying_counts(kind);
    arrays *a = m->a;
    for (int i = 0; i < m->c->g->n; i++) {
        const layout *s = layout_to(m, i), *r = layout_from(m, i);
        set_counts(m, i);
        a->scounts[i] = m->send_ints[i] / s->per, a->rcounts[i] = m->recv_ints[i] / r->per;
        a->stypes[i] = s->type, a->rtypes[i] = r->type;
        m->send_at[i] = m->send_bytes, m->recv_at[i] = m->recv_bytes;
        a->sdispls[i] = (int)(m->send_bytes / (kind == ALLTOALLW ? 1 : (size_t)s->extent));
        a->rdispls[i] = (int)(m->recv_bytes / (kind == ALLTOALLW ? 1 : (size_t)r->extent));
        m->send_bytes += (size_t)(a->scounts[i] + gap) * (size_t)s->extent;
        m->recv_bytes += (size_t)(a->rcounts[i] + gap) * (size_t)r->extent;
        if (kind == ALLTOALLW) /* some layouts begin before their address */
            m->send_bytes += 64, m->recv_bytes += 64;
    }
}

/* Writes what is sent. Contents of gathers say that they go to rank 0, those of scatters and of Bcast that
 * they come from rank 0. */
static void fill_send(movement *m)
{
    const random_call *c = m->c;
    unsigned char *send = m->sendbuf;
    int me = c->g->me, from = c->kind >= ALLTOALL ? me : 0;
    if (c->kind == BCAST)
        m->sendbuf = m->recvbuf;
    else if (m->is_to_all)
        for (int i = 0; i < c->g->n; i++)
            write_ints(send + m->send_at[i], layout_to(m, i), m->send_ints[i], m->p->step, from, i);
    else
        write_ints(send, m->send_layout, m->send_ints[0], m->p->step, me, 0);
}

/* Writes what lies in recv before the call: the root's data of a Bcast, and what is sent in place. */
static void fill_recv(movement *m)
{
    const random_call *c = m->c;
    unsigned char *recv = m->recvbuf;
    uint64_t step = m->p->step;
    int me = c->g->me;
    if (c->in_place && c->kind >= ALLTOALL)
        for (int i = 0; i < c->g->n; i++)
            write_ints(recv + m->recv_at[i], layout_from(m, i), m->recv_ints[i], step, me, i);
    else if (c->in_place && m->is_from_all && m->is_root)
        write_ints(recv + m->recv_at[me], m->recv_layout, m->recv_ints[me], step, me, 0);
    if (c->kind == BCAST && me == c->root)
        write_ints(recv, m->send_layout, c->base * UNIT, step, 0, 0);
}

/* Sets the buffer that is MPI_IN_PLACE. Returns whether the call writes to this rank's buffer. */
static int set_in_place(movement *m)
{
    const random_call *c = m->c;
    int scatters = c->kind == SCATTER || c->kind == SCATTERV;
    if (c->in_place && scatters) {
        if (m->is_root)
            m->recvbuf = MPI_IN_PLACE;
        return !m->is_root;
    }
    if (c->in_place && m->is_root && c->kind != BCAST)
        m->sendbuf = MPI_IN_PLACE;
    return scatters || c->kind == BCAST || m->is_root;
}

static void fill_expected(movement *m)
{
    const random_call *c = m->c;
    unsigned char *expected = m->p->expected + MARGIN;
    uint64_t step = m->p->step;
    int me = c->g->me, to = c->kind >= ALLTOALL ? me : 0;
    int scattered = c->kind == SCATTERV ? m->recv_ints[0] : c->base * UNIT;
    if (c->kind == BCAST)
        write_ints(expected, m->send_layout, c->base * UNIT, step, 0, 0);
    else if (m->is_from_all)
        for (int i = 0; i < c->g->n; i++)
            write_ints(expected + m->recv_at[i], layout_from(m, i), m->recv_ints[i], step, i, to);
    else
        write_ints(expected, m->recv_layout, scattered, step, 0, me);
}

#define EITHER_MOVE(NAME, INAME, ...) \
    (c->blocking ? MPI_##NAME(__VA_ARGS__, comm) : MPI_##INAME(__VA_ARGS__, comm, &m->p->request))

static void start_movement(const movement *m)
{
    const random_call *c = m->c;
    const arrays *a = m->a;
    MPI_Comm comm = c->g->comm;
    const void *in = m->sendbuf;
    void *out = m->recvbuf;
    MPI_Datatype st = m->send_layout->type, rt = m->recv_layout->type;
    int sends_own_count = c->kind == GATHERV || c->kind == ALLGATHERV;
    int sn = sends_own_count ? a->scounts[0] : c->base * UNIT / m->send_layout->per;
    int rn = c->kind == SCATTERV ? a->rcounts[0] : c->base * UNIT / m->recv_layout->per;
    switch (c->kind) {
    case BCAST: EITHER_MOVE(Bcast, Ibcast, out, sn, st, c->root); break;
    case GATHER: EITHER_MOVE(Gather, Igather, in, sn, st, out, rn, rt, c->root); break;
    case GATHERV: EITHER_MOVE(Gatherv, Igatherv, in, sn, st, out, a->rcounts, a->rdispls, rt, c->root); break;
    case SCATTER: EITHER_MOVE(Scatter, Iscatter, in, sn, st, out, rn, rt, c->root); break;
    case SCATTERV:
        EITHER_MOVE(Scatterv, Iscatterv, in, a->scounts, a->sdispls, st, out, rn, rt, c->root);
        break;
    case ALLGATHER: EITHER_MOVE(Allgather, Iallgather, in, sn, st, out, rn, rt); break;
    case ALLGATHERV: EITHER_MOVE(Allgatherv, Iallgatherv, in, sn, st, out, a->rcounts, a->rdispls, rt); break;
    case ALLTOALL: EITHER_MOVE(Alltoall, Ialltoall, in, sn, st, out, rn, rt); break;
    case ALLTOALLV:
        EITHER_MOVE(Alltoallv, Ialltoallv, in, a->scounts, a->sdispls, st, out, a->rcounts, a->rdispls, rt);
        break;
    default:
        EITHER_MOVE(Alltoallw, Ialltoallw, in, a->scounts, a->sdispls, a->stypes, out, a->rcounts, a->rdispls,
                    a->rtypes);
    }
}

static void move(const random_call *c, pending *p, rng *own)
{
    int scatters = c->kind == SCATTER || c->kind == SCATTERV, exchanges = c->kind >= ALLTOALL;
    movement m = {.c = c, .p = p, .a = calloc(1, sizeof *m.a)};
    p->arrays = m.a;
    m.is_root = c->g->me == c->root || c->kind >= ALLGATHER;
    m.is_to_all = scatters || exchanges, m.is_from_all = c->kind != BCAST && !scatters;
    choose_layouts(&m, own);
    place_blocks(&m);
    p->send = allocate(m.send_bytes + 512), p->recv = allocate(m.recv_bytes + 512);
    p->expected = allocate(m.recv_bytes + 512);
    p->bytes = m.recv_bytes + 512 + 2 * MARGIN;
    m.sendbuf = p->send + MARGIN, m.recvbuf = p->recv + MARGIN;
    fill_send(&m);
    fill_recv(&m);
    memcpy(p->expected, p->recv, p->bytes);
    if (set_in_place(&m))
        fill_expected(&m);
    start_movement(&m);
    for (int i = 0; i < p->layouts_count; i++) /* allowed at once, even while the operation runs */
        free_layout(&p->layouts[i]);
}
#endif
