/* Property test: random operations on random communicators against a serial oracle.
 *
 *   random seed=1 steps=400 deep=100 stall=8 comms=1 careful=0 largest=8000 hosts=0
 *
 * All ranks of the world walk through the same random scenario: communicators of many shapes come and go
 * (some while operations on them are still under way); blocking and nonblocking operations with random roots,
 * sizes, in place and derived datatypes overlap; up to `deep` requests are outstanding, point-to-point ones
 * of the host among them; each rank completes them at times and by calls of its own choice, and stalls at
 * times of its own. careful=1 leaves out what MPI allows and Open MPI does not survive: freeing a
 * communicator that is still in use, Ialltoallv in place. (A communicator of one member is the host's in any
 * case, and never freed while in use.) hosts=1: the ranks may be on several hosts. */
#include "layout.h"

typedef struct pending {
    MPI_Request request;
    unsigned char *recv, *expected, *send;
    size_t bytes;
    void *arrays; /* counts, displacements, types: must outlive the operation */
    layout *layouts;
    int layouts_count;
    int source, tag; /* of a receive; -1 otherwise */
    uint64_t step;
    const char *what;
} pending;

enum { DEEP_MAX = 512 };
static pending *waiting[DEEP_MAX];
static int waiting_count;
static uint64_t checks;
static int verbose, careful, largest; /* largest: units of 12 ints (48 bytes) a rank's block may have */
static MPI_Op compose;

static void compose_function(void *in, void *inout, int *count, MPI_Datatype *t)
{
    uint32_t *f = in, *g = inout;
    (void)t;
    for (int i = 0; i < *count; i++, f += 2, g += 2) {
        g[1] = (uint32_t)(((uint64_t)f[0] * g[1] + f[1]) % 65521);
        g[0] = (uint32_t)((uint64_t)f[0] * g[0] % 65521);
    }
}

static unsigned char *room(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0x5a, bytes + 2 * MARGIN);
    return p;
}

static void settle(pending *p, const MPI_Status *status)
{
    if (p->recv && memcmp(p->recv, p->expected, p->bytes)) {
        size_t i = 0;
        while (p->recv[i] == p->expected[i])
            i++;
        fail("step %llu, %s: byte %ld of %zu is %02x, not %02x", (unsigned long long)p->step, p->what,
             (long)i - MARGIN, p->bytes - 2 * MARGIN, p->recv[i], p->expected[i]);
    }
    if (p->source >= 0 && status && (status->MPI_SOURCE != p->source || status->MPI_TAG != p->tag))
        fail("step %llu: a receive from %d says it came from %d", (unsigned long long)p->step, p->source,
             status->MPI_SOURCE);
    checks++;
    free(p->recv), free(p->expected), free(p->send), free(p->arrays), free(p->layouts);
    free(p);
}

/* ---- completion ---- */

static void take_out(int which, const MPI_Status *status)
{
    settle(waiting[which], status);
    waiting[which] = NULL;
}

static void squeeze(void)
{
    int n = 0;
    for (int i = 0; i < waiting_count; i++)
        if (waiting[i])
            waiting[n++] = waiting[i];
    waiting_count = n;
}

/* Completes some of what is outstanding (all of a random subset if `all`), by a random call. */
static void complete(rng *own, int all)
{
    static MPI_Request requests[2 * DEEP_MAX];
    static MPI_Status statuses[2 * DEEP_MAX];
    static int which[2 * DEEP_MAX], indices[2 * DEEP_MAX];
    int n = 0, flag = 0, count = 0, way = all ? 0 : below(own, 9), keep_one_in = all ? 1 : 1 + below(own, 3);
    for (int i = 0; i < waiting_count; i++) {
        if (one_in(own, 5))
            requests[n] = MPI_REQUEST_NULL, which[n++] = -1;
        if (one_in(own, keep_one_in))
            requests[n] = waiting[i]->request, which[n++] = i;
    }
    if (n == 0)
        return;
    switch (way) {
    case 0:
        if (one_in(own, 2)) {
            MPI_Waitall(n, requests, statuses);
        } else {
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            memset(statuses, 0, sizeof statuses);
            for (int i = 0; i < n; i++)
                if (which[i] >= 0)
                    waiting[which[i]]->source = -1;
        }
        count = n;
        for (int i = 0; i < n; i++)
            indices[i] = i;
        break;
    case 1:
        MPI_Testall(n, requests, &flag, statuses);
        count = flag ? n : 0;
        for (int i = 0; i < n; i++)
            indices[i] = i;
        break;
    case 2:
        MPI_Waitany(n, requests, &indices[0], statuses);
        count = indices[0] != MPI_UNDEFINED;
        break;
    case 3:
        MPI_Testany(n, requests, &indices[0], &flag, statuses);
        count = flag && indices[0] != MPI_UNDEFINED;
        break;
    case 4: MPI_Waitsome(n, requests, &count, indices, statuses); break;
    case 5: MPI_Testsome(n, requests, &count, indices, statuses); break;
    case 6: indices[0] = below(own, n), count = 1, MPI_Wait(&requests[indices[0]], statuses); break;
    case 7: indices[0] = below(own, n), MPI_Test(&requests[indices[0]], &count, statuses); break;
    default: /* look, then take */
        indices[0] = below(own, n);
        MPI_Request_get_status(requests[indices[0]], &count, statuses);
        if (count) {
            MPI_Test(&requests[indices[0]], &flag, statuses);
            CHECK(flag, "Request_get_status said complete, Test says not");
            count = flag;
        }
    }
    if (count == MPI_UNDEFINED)
        count = 0;
    for (int i = 0; i < count; i++) {
        int at = indices[i];
        CHECK(requests[at] == MPI_REQUEST_NULL, "way %d: a completed request is not MPI_REQUEST_NULL", way);
        if (which[at] >= 0)
            take_out(which[at], way <= 1 ? &statuses[at] : &statuses[i]);
    }
    squeeze();
}

/* ---- operations ---- */

enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    OPERATIONS
};
static const char *names[] = {"barrier",
                              "bcast",
                              "gather",
                              "gatherv",
                              "scatter",
                              "scatterv",
                              "allgather",
                              "allgatherv",
                              "alltoall",
                              "alltoallv",
                              "alltoallw",
                              "reduce",
                              "allreduce",
                              "scan",
                              "exscan",
                              "reduce_scatter",
                              "reduce_scatter_block"};
static const int sizes[] = {0, 1, 1, 2, 2, 5, 10, 100, 1000, 1000, 8000};

static int units(uint64_t step, int from, int to, int base) /* counts that vary, in units of 12 ints */
{
    return base ? (int)(mix3(step, (uint64_t)(from * 64 + to), 3) % (uint64_t)(base + 1)) : 0;
}

/* Element k of what rank r contributes to a reduction, and the fold of ranks 0..last. */
static int64_t term(uint64_t step, int r, int k, int user)
{
    uint64_t h = mix3(step, (uint64_t)r, (uint64_t)(k % 1009));
    return user ? (int64_t)(h % 65520 + 1) | (int64_t)(h >> 24 & 0x7fff) << 32 : (int64_t)(h % 2001) - 1000;
}

static int64_t fold(uint64_t step, int last, int k, int user)
{
    int64_t x = term(step, 0, k, user);
    for (int r = 1; r <= last; r++) {
        int64_t y = term(step, r, k, user);
        if (user)
            compose_function(&x, &y, &(int){1}, NULL), x = y;
        else
            x += y;
    }
    return x;
}

static void reduction(const group *g, int kind, pending *p, int root, int base, int in_place, int user,
                      int blocking)
{
    int P = g->n, me = g->me, n = base * 6, total = 0, *counts = calloc((size_t)P, sizeof(int)), first = 0;
    user = user && !several_hosts; /* MPICH combines what does not commute in another order there, with and
                                      without evenkeel */
    MPI_Datatype t = user ? MPI_UNSIGNED_LONG_LONG : MPI_INT64_T;
    MPI_Op op = user ? compose : MPI_SUM;
    p->arrays = counts;
    for (int r = 0; r < P; r++) {
        counts[r] = kind == REDUCE_SCATTER ? units(p->step, r, 0, base) * 6 : n;
        first = r == me ? total : first;
        total += counts[r];
    }
    int vector = kind >= REDUCE_SCATTER ? total : n, result = kind >= REDUCE_SCATTER ? counts[me] : n;
    int receives = (kind != REDUCE || me == root) && !(kind == EXSCAN && me == 0);
    size_t recv_bytes = (size_t)(in_place && receives ? vector : result) * 8;
    int64_t *send = (int64_t *)(p->send = malloc((size_t)vector * 8 + 8));
    p->recv = room(recv_bytes), p->expected = room(recv_bytes), p->bytes = recv_bytes + 2 * MARGIN;
    int64_t *recv = (int64_t *)(p->recv + MARGIN), *expected = (int64_t *)(p->expected + MARGIN);
    for (int k = 0; k < vector; k++)
        send[k] = term(p->step, me, k, user);
    if (in_place && receives)
        memcpy(recv, send, (size_t)vector * 8), memcpy(expected, send, (size_t)vector * 8);
    int last = kind == SCAN ? me : kind == EXSCAN ? me - 1 : P - 1;
    for (int k = 0; receives && k < result; k++)
        expected[k] =
            k >= 1009 && kind < REDUCE_SCATTER
                ? expected[k - 1009]
                : fold(p->step, last,
                       kind >= REDUCE_SCATTER ? k + (kind == REDUCE_SCATTER ? first : n * me) : k, user);
    /* Exscan in place must be in place on all ranks; rank 0's buffer is then read but not written. */
    if (in_place && kind == EXSCAN && me == 0)
        memcpy(recv, send, (size_t)n * 8), memcpy(expected, send, (size_t)n * 8);
    void *out = in_place && (receives || kind == EXSCAN) ? MPI_IN_PLACE : (void *)send;
    MPI_Request *q = &p->request;
    switch (kind) {
    case REDUCE:
        blocking ? MPI_Reduce(out, recv, n, t, op, root, g->comm)
                 : MPI_Ireduce(out, recv, n, t, op, root, g->comm, q);
        break;
    case ALLREDUCE:
        blocking ? MPI_Allreduce(out, recv, n, t, op, g->comm)
                 : MPI_Iallreduce(out, recv, n, t, op, g->comm, q);
        break;
    case SCAN:
        blocking ? MPI_Scan(out, recv, n, t, op, g->comm) : MPI_Iscan(out, recv, n, t, op, g->comm, q);
        break;
    case EXSCAN:
        blocking ? MPI_Exscan(out, recv, n, t, op, g->comm) : MPI_Iexscan(out, recv, n, t, op, g->comm, q);
        break;
    case REDUCE_SCATTER:
        blocking ? MPI_Reduce_scatter(out, recv, counts, t, op, g->comm)
                 : MPI_Ireduce_scatter(out, recv, counts, t, op, g->comm, q);
        break;
    default:
        blocking ? MPI_Reduce_scatter_block(out, recv, n, t, op, g->comm)
                 : MPI_Ireduce_scatter_block(out, recv, n, t, op, g->comm, q);
    }
    if (out == MPI_IN_PLACE && kind >= REDUCE_SCATTER) /* what lies behind the result is nobody's business */
        p->bytes = (size_t)result * 8 + MARGIN;
}

static void movement(const group *g, int kind, pending *p, int root, int base, int in_place, int blocking,
                     rng *own)
{
    int P = g->n, me = g->me, am_root = me == root || (kind >= ALLGATHER);
    p->layouts_count = kind == ALLTOALLW ? 2 * P : 2;
    layout *ls = p->layouts = calloc((size_t)p->layouts_count, sizeof(layout));
    for (int i = 0; i < p->layouts_count; i++)
        ls[i] = make_layout(below(own, LAYOUTS));
    if (kind == BCAST) { /* one buffer, one layout */
        drop_layout(&ls[1]);
        ls[1] = ls[0], ls[1].predefined = 1;
    }
    struct arrays {
        int scounts[RANKS_MAX], rcounts[RANKS_MAX], sdispls[RANKS_MAX], rdispls[RANKS_MAX];
        MPI_Datatype stypes[RANKS_MAX], rtypes[RANKS_MAX];
    } *a = p->arrays = calloc(1, sizeof *a);
    size_t sbytes = 0, rbytes = 0, sat[RANKS_MAX], rat[RANKS_MAX];
    int sn[RANKS_MAX], rn[RANKS_MAX]; /* ints to and from each */
    int varies =
        kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV || kind == ALLTOALLW;
    for (int i = 0; i < P; i++) {
        const layout *s = &ls[kind == ALLTOALLW ? i : 0], *r = &ls[kind == ALLTOALLW ? P + i : 1];
        int lo = in_place && kind >= ALLTOALL ? (i < me ? i : me) : -1, hi = i < me ? me : i;
        switch (kind) {
        case GATHERV:
        case ALLGATHERV: sn[i] = units(p->step, me, 0, base), rn[i] = units(p->step, i, 0, base); break;
        case SCATTERV: sn[i] = units(p->step, 0, i, base), rn[i] = units(p->step, 0, me, base); break;
        case ALLTOALLV:
        case ALLTOALLW:
            sn[i] = lo >= 0 ? units(p->step, lo, hi, base) : units(p->step, me, i, base);
            rn[i] = lo >= 0 ? sn[i] : units(p->step, i, me, base);
            break;
        default: sn[i] = rn[i] = base;
        }
        sn[i] *= UNIT, rn[i] *= UNIT;
        a->scounts[i] = sn[i] / s->per, a->rcounts[i] = rn[i] / r->per;
        a->stypes[i] = s->type, a->rtypes[i] = r->type;
        sat[i] = sbytes,
        rat[i] = rbytes; /* one after another; with a gap of one instance where displacements allow */
        a->sdispls[i] = kind == ALLTOALLW ? (int)sbytes : (int)(sbytes / (size_t)s->extent);
        a->rdispls[i] = kind == ALLTOALLW ? (int)rbytes : (int)(rbytes / (size_t)r->extent);
        sbytes += (size_t)(a->scounts[i] + varies) * (size_t)s->extent;
        rbytes += (size_t)(a->rcounts[i] + varies) * (size_t)r->extent;
        if (kind == ALLTOALLW) /* some layouts begin before their address */
            sbytes += 64, rbytes += 64;
    }
    p->send = room(sbytes + 512), p->recv = room(rbytes + 512), p->expected = room(rbytes + 512);
    p->bytes = rbytes + 512 + 2 * MARGIN;
    unsigned char *send = p->send + MARGIN, *recv = p->recv + MARGIN;
    const layout *s = &ls[0], *r = &ls[1];
    void *sendbuf = send, *recvbuf = recv;
    int one = kind == GATHERV || kind == ALLGATHERV || kind == SCATTERV;
    int sc = one && kind != SCATTERV ? a->scounts[0] : base * UNIT / s->per,
        rc = kind == SCATTERV ? a->rcounts[0] : base * UNIT / r->per;
    int to_all = kind == SCATTER || kind == SCATTERV || kind >= ALLTOALL,
        from_all = kind != BCAST && kind != SCATTER && kind != SCATTERV;

    /* What is sent. The content of gathers is addressed to 0, that of scatters and Bcast comes from 0. */
    if (kind == BCAST) {
        rc = sc, recvbuf = sendbuf = recv;
    } else if (to_all) {
        for (int i = 0; i < P; i++)
            put(send + sat[i], &ls[kind == ALLTOALLW ? i : 0], sn[i], p->step, kind >= ALLTOALL ? me : 0, i);
    } else {
        put(send, s, sn[0], p->step, me, 0);
    }
    int writes = kind == SCATTER || kind == SCATTERV || kind == BCAST || am_root;
    if (in_place && kind >= ALLTOALL)
        for (int i = 0; i < P; i++)
            put(recv + rat[i], &ls[kind == ALLTOALLW ? P + i : 1], rn[i], p->step, me, i);
    else if (in_place && from_all && am_root)
        put(recv + rat[me], r, rn[me], p->step, me, 0);
    if (kind == BCAST && me == root)
        put(recv, s, base * UNIT, p->step, 0, 0);
    memcpy(p->expected, p->recv, p->bytes);
    if (in_place && (kind == SCATTER || kind == SCATTERV)) {
        if (am_root)
            recvbuf = MPI_IN_PLACE, writes = 0;
    } else if (in_place && am_root && kind != BCAST) {
        sendbuf = MPI_IN_PLACE;
    }
    unsigned char *expected = p->expected + MARGIN;
    if (kind == BCAST)
        put(expected, s, base * UNIT, p->step, 0, 0);
    else if (writes && from_all)
        for (int i = 0; i < P; i++)
            put(expected + rat[i], &ls[kind == ALLTOALLW ? P + i : 1], rn[i], p->step, i,
                kind >= ALLTOALL ? me : 0);
    else if (writes)
        put(expected, r, kind == SCATTERV ? rn[0] : base * UNIT, p->step, 0, me);

    MPI_Request *q = &p->request;
    MPI_Comm c = g->comm;
#define EITHER(NAME, INAME, ...) (blocking ? MPI_##NAME(__VA_ARGS__, c) : MPI_##INAME(__VA_ARGS__, c, q))
    switch (kind) {
    case BCAST: EITHER(Bcast, Ibcast, recv, sc, s->type, root); break;
    case GATHER: EITHER(Gather, Igather, sendbuf, sc, s->type, recvbuf, rc, r->type, root); break;
    case GATHERV:
        EITHER(Gatherv, Igatherv, sendbuf, sc, s->type, recvbuf, a->rcounts, a->rdispls, r->type, root);
        break;
    case SCATTER: EITHER(Scatter, Iscatter, sendbuf, sc, s->type, recvbuf, rc, r->type, root); break;
    case SCATTERV:
        EITHER(Scatterv, Iscatterv, sendbuf, a->scounts, a->sdispls, s->type, recvbuf, rc, r->type, root);
        break;
    case ALLGATHER: EITHER(Allgather, Iallgather, sendbuf, sc, s->type, recvbuf, rc, r->type); break;
    case ALLGATHERV:
        EITHER(Allgatherv, Iallgatherv, sendbuf, sc, s->type, recvbuf, a->rcounts, a->rdispls, r->type);
        break;
    case ALLTOALL: EITHER(Alltoall, Ialltoall, sendbuf, sc, s->type, recvbuf, rc, r->type); break;
    case ALLTOALLV:
        EITHER(Alltoallv, Ialltoallv, sendbuf, a->scounts, a->sdispls, s->type, recvbuf, a->rcounts,
               a->rdispls, r->type);
        break;
    default:
        EITHER(Alltoallw, Ialltoallw, sendbuf, a->scounts, a->sdispls, a->stypes, recvbuf, a->rcounts,
               a->rdispls, a->rtypes);
    }
    for (int i = 0; i < p->layouts_count; i++) /* allowed at once, even while the operation runs */
        drop_layout(&ls[i]);
}

static pending *new_pending(uint64_t step, const char *what)
{
    pending *p = calloc(1, sizeof *p);
    p->request = MPI_REQUEST_NULL, p->source = -1, p->step = step, p->what = what;
    return p;
}

static void operate(const group *g, uint64_t step, rng *shared, rng *own)
{
    int kind = below(shared, OPERATIONS), root = below(shared, g->n),
        base = sizes[below(shared, sizeof sizes / sizeof *sizes)];
    int in_place = one_in(shared, 4), user = one_in(shared, 3), blocking = one_in(shared, 2);
    base = base < largest ? base : largest;
    if (careful && kind >= ALLTOALL && kind <= ALLTOALLW)
        in_place = 0;
    if (base > 1000 && g->n > 4)
        base = 1000;
    if (g->me < 0)
        return;
    if (verbose)
        fprintf(stderr, "[%d]   %s%s, base %d, root %d, in place %d, user %d\n", world_rank,
                blocking ? "" : "i", names[kind], base, root, in_place, user);
    pending *p = new_pending(step, names[kind]);
    if (kind == BARRIER)
        blocking ? MPI_Barrier(g->comm) : MPI_Ibarrier(g->comm, &p->request);
    else if (kind >= REDUCE)
        reduction(g, kind, p, root, base, in_place, user, blocking);
    else
        movement(g, kind, p, root, base, in_place, blocking, own);
    if (blocking)
        settle(p, NULL);
    else
        waiting[waiting_count++] = p;
}

static void ring(const group *g, uint64_t step, rng *shared) /* point-to-point requests of the host */
{
    int n = 4 * sizes[below(shared, sizeof sizes / sizeof *sizes)], tag = (int)(step % 30000);
    if (g->me < 0)
        return;
    int next = (g->me + 1) % g->n, before = (g->me + g->n - 1) % g->n;
    layout l = make_layout(0);
    pending *r = new_pending(step, "receive"), *s = new_pending(step, "send");
    r->recv = room((size_t)n * 4), r->expected = room((size_t)n * 4), r->bytes = (size_t)n * 4 + 2 * MARGIN,
    r->source = before, r->tag = tag;
    s->send = room((size_t)n * 4);
    put(r->expected + MARGIN, &l, n, step, before, g->me);
    put(s->send, &l, n, step, g->me, next);
    MPI_Irecv(r->recv + MARGIN, n, MPI_INT, before, tag, g->comm, &r->request);
    MPI_Isend(s->send, n, MPI_INT, next, tag, g->comm, &s->request);
    waiting[waiting_count++] = r, waiting[waiting_count++] = s;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    int steps = (int)number(argc, argv, "steps", 400), deep = (int)number(argc, argv, "deep", 100),
        stalls = (int)number(argc, argv, "stall", 8);
    int shapes = (int)number(argc, argv, "comms", 1);
    verbose = (int)number(argc, argv, "verbose", 0);
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 11)};
    largest = (int)number(argc, argv, "largest", 8000);
    several_hosts = (int)number(argc, argv, "hosts", 0);
    careful = (int)number(argc, argv, "careful", 0);
    if (world_size > RANKS_MAX || deep > DEEP_MAX - 4)
        return 2;
    MPI_Op_create(compose_function, 0, &compose);
    group world = {.comm = MPI_COMM_WORLD, .n = world_size};
    for (int i = 0; i < world_size; i++)
        world.members[i] = i;
    keep(world);
    for (int step = 1; step <= steps; step++) {
        uint64_t id = mix3(seed, (uint64_t)step, 0);
        int dice = below(&shared, 100), on = below(&shared, groups_count);
        if (verbose)
            fprintf(stderr, "[%d] step %d dice %d on %d of %d, %d waiting\n", world_rank, step, dice, on,
                    groups[on].n, waiting_count);
        if (dice < 8 && shapes) {
            while (careful && waiting_count)
                complete(&own, 1);
            while (groups_count > COMMS_MAX - 4) {
                int which = 1 + below(&shared, groups_count - 1); /* perhaps with operations under way */
                while (groups[which].n == 1 &&
                       waiting_count) /* one member: the host's, and Open MPI is not up to that */
                    complete(&own, 1);
                drop_communicator(which);
            }
            int way = below(&shared, WAYS);
            on = on < groups_count ? on : 0;
            if (verbose)
                fprintf(stderr, "[%d]   new from %d, way %d\n", world_rank, on, way);
            make_communicators(&groups[on], way, &shared, step);
        } else if (dice < 20) {
            ring(&groups[on], id, &shared);
        } else {
            operate(&groups[on], id, &shared, &own);
        }
        if (stalls)
            stall(&own, stalls, 2000);
        if (one_in(&own, 6))
            complete(&own, 0);
        while (waiting_count > deep)
            complete(&own, 0);
    }
    while (waiting_count)
        complete(&own, 1);
    while (groups_count > 1)
        drop_communicator(groups_count - 1);
    MPI_Op_free(&compose);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
