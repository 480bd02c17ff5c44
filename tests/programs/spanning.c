/* Collectives with a different part for each rank, with predefined operators and blocks of different
 * lengths: random calls on communicators in which the ranks have different orders, against a serial oracle.
 *
 *   spanning n=200 seed=1 kinds=all stall=0 largest=20000
 *
 * All ranks make the same calls: kind, sizes, in place, blocking or not. The bits of sums of fractions depend
 * on how they are grouped. They go into the digest, which must be the same in every run. */
#include "check.h"

enum { REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, ALLGATHERV, KINDS, MOST = 64, MARGIN = 16 };
static const char *names[KINDS] = {"reduce_scatter", "reduce_scatter_block", "scan", "exscan", "allgatherv"};
enum { LONGS, DOUBLES, FRACTIONS, INTS, BYTES, TYPES };
static const MPI_Datatype datatypes[] = {MPI_INT64_T, MPI_DOUBLE, MPI_DOUBLE, MPI_INT32_T, MPI_UNSIGNED_CHAR};

typedef struct group {
    MPI_Comm comm;
    int me, n;
} group;

typedef struct call {
    const group *g;
    int kind, type, base, in_place, blocking; /* base: elements of a block, about */
    uint64_t seed;
} call;

/* Where a call's elements come from and go to on this rank. */
typedef struct exchange {
    const call *c;
    size_t width;
    int counts[MOST], places[MOST], first; /* first: element of the vector where this rank's part begins */
    int contributed, received;             /* elements; a gather receives its gaps, too */
    unsigned char *send, *recv, *expected_margins;
    size_t recv_bytes;
} exchange;

static int is_scan(int kind) { return kind == SCAN || kind == EXSCAN; }

static size_t width_of(int type) { return type == INTS ? 4 : type == BYTES ? 1 : 8; }

/* Element k of what rank r contributes. */
static double contribution(const call *c, int r, int k)
{
    uint64_t h = mix3(c->seed, (uint64_t)r, (uint64_t)(k % 1009));
    return c->type == FRACTIONS ? (double)(h % 1000003) / 7.0
           : c->type == BYTES   ? (double)(h % 256)
                                : (double)(h % 100000);
}

static void write_element(unsigned char *at, int type, double v)
{
    switch (type) {
    case LONGS: *(int64_t *)at = (int64_t)v; break;
    case INTS: *(int32_t *)at = (int32_t)v; break;
    case BYTES: *at = (unsigned char)v; break;
    default: *(double *)at = v;
    }
}

static double read_element(const unsigned char *at, int type)
{
    return type == LONGS   ? (double)*(const int64_t *)at
           : type == INTS  ? *(const int32_t *)at
           : type == BYTES ? *at
                           : *(const double *)at;
}

/* Element k of what ranks 0 to `last` contribute, combined. */
static double fold(const call *c, int last, int k)
{
    double all = contribution(c, 0, k);
    for (int r = 1; r <= last; r++) {
        double next = contribution(c, r, k);
        all = c->type == INTS    ? (next > all ? next : all)
              : c->type == BYTES ? (double)((int)all ^ (int)next)
                                 : all + next;
    }
    return all;
}

static unsigned char *allocate(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0x5a, bytes + 2 * MARGIN);
    return p;
}

/* The length of rank r's part. Most are about equal; now and then it is nothing, or one rank has all. */
static int count_of(const call *c, int r)
{
    uint64_t h = mix3(c->seed, (uint64_t)r, 77) % 5;
    if (c->kind == REDUCE_SCATTER_BLOCK || is_scan(c->kind))
        return c->base;
    if (c->seed % 5 == 0)
        return r == (int)(c->seed % (uint64_t)c->g->n) ? c->base : 0;
    return h == 0 ? 0 : h == 1 ? c->base / 2 : c->base + (int)h;
}

/* Sets counts and places. Gathered blocks lie in reverse order, with gaps of one element. */
static void size_exchange(exchange *x)
{
    const call *c = x->c;
    int n = c->g->n, me = c->g->me, total = 0, reach = 0;
    for (int r = 0; r < n; r++)
        total += x->counts[r] = count_of(c, r);
    for (int r = n - 1; r >= 0; r--)
        x->places[r] = reach, reach += x->counts[r] + 1;
    for (int r = 0; r < me && !is_scan(c->kind); r++)
        x->first += x->counts[r];
    x->contributed = is_scan(c->kind) ? c->base : c->kind == ALLGATHERV ? x->counts[me] : total;
    x->received = is_scan(c->kind) ? c->base : c->kind == ALLGATHERV ? reach : x->counts[me];
    int whole_vector = c->in_place && c->kind != ALLGATHERV;
    x->width = width_of(c->type);
    x->recv_bytes = x->width * (size_t)(whole_vector ? x->contributed : x->received);
}

static void fill_exchange(exchange *x)
{
    const call *c = x->c;
    size_t sent = x->width * (size_t)x->contributed;
    x->send = allocate(sent), x->recv = allocate(x->recv_bytes),
    x->expected_margins = allocate(x->recv_bytes);
    for (int k = 0; k < x->contributed; k++)
        write_element(x->send + MARGIN + x->width * (size_t)k, c->type, contribution(c, c->g->me, k));
    size_t own_at = c->kind == ALLGATHERV ? x->width * (size_t)x->places[c->g->me] : 0;
    if (c->in_place)
        memcpy(x->recv + MARGIN + own_at, x->send + MARGIN, sent);
    memcpy(x->expected_margins, x->recv, x->recv_bytes + 2 * MARGIN);
}

#define EITHER(NAME, INAME, ...)                                \
    EXPECT_OK(c->blocking ? MPI_##NAME(__VA_ARGS__, c->g->comm) \
                          : MPI_##INAME(__VA_ARGS__, c->g->comm, &request))

static void make_call(const exchange *x)
{
    const call *c = x->c;
    MPI_Datatype t = datatypes[c->type];
    MPI_Op op = c->type == INTS ? MPI_MAX : c->type == BYTES ? MPI_BXOR : MPI_SUM;
    void *in = c->in_place ? MPI_IN_PLACE : (void *)(x->send + MARGIN), *out = x->recv + MARGIN;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (c->kind) {
    case REDUCE_SCATTER: EITHER(Reduce_scatter, Ireduce_scatter, in, out, x->counts, t, op); break;
    case REDUCE_SCATTER_BLOCK:
        EITHER(Reduce_scatter_block, Ireduce_scatter_block, in, out, c->base, t, op);
        break;
    case SCAN: EITHER(Scan, Iscan, in, out, c->base, t, op); break;
    case EXSCAN: EITHER(Exscan, Iexscan, in, out, c->base, t, op); break;
    default: EITHER(Allgatherv, Iallgatherv, in, x->counts[c->g->me], t, out, x->counts, x->places, t);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Checks element k of the result, or of rank r's block, adds it to the digest and clears it. */
static void check_element(exchange *x, int at_element, double want, int k, int r)
{
    const call *c = x->c;
    unsigned char *at = x->recv + MARGIN + x->width * (size_t)at_element;
    double got = read_element(at, c->type), off = got > want ? got - want : want - got;
    int is_inexact = c->type == FRACTIONS && c->kind != ALLGATHERV;
    if (is_inexact ? !(off <= 1e-9 * want) : off != 0)
        fail("%s of %d, type %d, base %d, in place %d, blocking %d, %d ranks: element %d (of %d) is %.17g, "
             "not %.17g",
             names[c->kind], c->g->me, c->type, c->base, c->in_place, c->blocking, c->g->n, k, r, got, want);
    memset(x->expected_margins + (at - x->recv), 0, x->width);
    digest_bytes(at, x->width);
    memset(at, 0, x->width);
}

static void check_result(exchange *x)
{
    const call *c = x->c;
    int me = c->g->me, n = c->g->n;
    int last = c->kind == SCAN ? me : c->kind == EXSCAN ? me - 1 : n - 1;
    if (c->kind == ALLGATHERV)
        for (int r = 0; r < n; r++)
            for (int k = 0; k < x->counts[r]; k++)
                check_element(x, x->places[r] + k, contribution(c, r, k), k, r);
    else if (c->kind != EXSCAN || me != 0)
        for (int k = 0; k < x->received; k++)
            check_element(x, k, fold(c, last, x->first + k), k, 0);
    /* MPI leaves open what follows a part in place. */
    int whole_vector = c->in_place && c->kind != ALLGATHERV;
    size_t bytes = whole_vector ? x->width * (size_t)x->received + MARGIN : x->recv_bytes + 2 * MARGIN;
    CHECK(!memcmp(x->recv, x->expected_margins, bytes),
          "%s of %d, base %d: bytes beside the result have changed", names[c->kind], me, c->base);
    free(x->send), free(x->recv), free(x->expected_margins);
}

static void run(const call *c)
{
    exchange x = {.c = c};
    size_exchange(&x);
    fill_exchange(&x);
    make_call(&x);
    check_result(&x);
}

/* The world's order; the reverse one; ranks dealt out to nodes in turn, if the world fills one after another.
 */
static void make_groups(group groups[3])
{
    int keys[3] = {world_rank, -world_rank, world_rank % 2 * world_size + world_rank / 2};
    for (int i = 0; i < 3; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, keys[i], &groups[i].comm);
        MPI_Comm_rank(groups[i].comm, &groups[i].me), MPI_Comm_size(groups[i].comm, &groups[i].n);
    }
}

/* Draws a call, the same on all ranks. */
static call draw_call(rng *shared, const group *groups)
{
    static const int sizes[] = {0, 1, 3, 40, 300, 1500, 20000};
    call c = {.g = &groups[below(shared, 3)]};
    c.kind = below(shared, KINDS), c.type = below(shared, TYPES), c.base = sizes[below(shared, 7)];
    c.in_place = one_in(shared, 3), c.blocking = one_in(shared, 2);
    /* Agents take no larger nonblocking calls, and the library does not always survive them in place. */
    if (!c.blocking && c.base > 900)
        c.base = 900;
    if (c.kind == ALLGATHERV && c.base > 1500)
        c.base = 1500;
    return c;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int n = (int)number(argc, argv, "n", 200), stalls = (int)number(argc, argv, "stall", 0);
    int largest = (int)number(argc, argv, "largest", 20000);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    const char *kinds = argument(argc, argv, "kinds", "all");
    group groups[3];
    make_groups(groups);
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 11)};
    for (int done = 0, step = 0; done < n; step++) {
        call c = draw_call(&shared, groups);
        if (strcmp(kinds, "all") && !strstr(kinds, names[c.kind]))
            continue;
        c.base = c.base < largest ? c.base : largest;
        c.seed = mix3(seed, (uint64_t)step, 3);
        if (stalls)
            stall(&own, stalls, 2000);
        run(&c);
        done++;
    }
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&groups[i].comm);
    int code = report_result((uint64_t)n);
    MPI_Finalize();
    return code;
}
