/* Every operation x datatype x operator x root x size class x in place x form (blocking, nonblocking, large
 * count), against a serial oracle.
 *
 *   matrix n=5000 seed=1 kinds=all forms=0123 largest=1048576 stall=0 plain=0 verbose=0
 *
 * The combinations are walked in a scattered order that all ranks share; n takes the first n valid ones (0:
 * all of them). plain=1 leaves out what the host libraries themselves get wrong here or there (types with
 * holes, in place), for comparisons with them. Combinations of large messages are thinned out. Prints "RESULT
 * checks … failures … digest …". */
#include "types.h"

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};
static const char *kind_names[KINDS] = {
    "barrier",  "bcast",     "reduce",    "allreduce",      "gather",
    "gatherv",  "scatter",   "scatterv",  "allgather",      "allgatherv",
    "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan"};
static const size_t size_classes[] = {0, 1, 24, 40, 48, 56, 64, 200, 1024, 5000, 32768, 102400, 1000000};
enum {
    SIZES = sizeof size_classes / sizeof *size_classes,
    FORMS = 4,
    PERIOD = 251,
    RANKS_MAX = 64,
    MARGIN = 64
};

typedef struct combo {
    int kind, type, op, root, in_place, form;
    size_t bytes;
    uint64_t seed;
} combo;

typedef struct buffers {
    unsigned char *send, *send_before, *recv, *expected;
    size_t send_bytes, recv_bytes;
} buffers;

/* What one call passes; counts and displacements per rank. */
typedef struct call {
    const void *sendbuf;
    void *recvbuf;
    int count, scounts[RANKS_MAX], rcounts[RANKS_MAX], sdispls[RANKS_MAX], rdispls[RANKS_MAX];
    MPI_Datatype t;
    MPI_Op op;
    int root;
} call;

static int P, me;

static int is_reduction(int kind) { return kind == REDUCE || kind == ALLREDUCE || kind >= REDUCE_SCATTER; }
static int is_rooted(int kind)
{
    return kind == BCAST || kind == REDUCE || (kind >= GATHER && kind <= SCATTERV);
}

/* Elements that go from `src` to `dst` in the operations with varying counts. */
static int varying(const combo *c, int n, int src, int dst)
{
    uint64_t h = mix3(c->seed, (uint64_t)src * 64 + (uint64_t)dst, 99) % 4;
    return h == 0 ? 0 : h == 1 ? (n + 1) / 2 : h == 2 ? n : n > 100 ? n - 1 : n + 1;
}

/* `count` elements at `at`: the block from src to dst (movement), or elements `first`… of the fold of ranks
 * 0..last (reductions; from == last: what one rank contributes). The content has period 251, prime to every
 * chunk size. */
static void fill(const combo *c, unsigned char *at, size_t count, int from, int last, uint64_t first)
{
    const type *t = &types[c->type];
    size_t distinct = count < PERIOD ? count : PERIOD, e = (size_t)t->extent;
    for (size_t i = 0; i < distinct; i++) {
        uint64_t k = (first + i) % PERIOD;
        value v;
        if (is_reduction(c->kind)) {
            v = generate(c->op, t, c->seed, from, P, k);
            for (int r = from + 1; r <= last; r++)
                v = combine(c->op, t, v, generate(c->op, t, c->seed, r, P, k));
        } else {
            v = generate(-1, t, c->seed, from * 64 + last, P, k);
        }
        encode(t, v, at + i * e);
    }
    for (size_t done = distinct;
         done < count;) { /* doubling keeps the period while `done` is a multiple of it */
        size_t n = done < count - done ? done : count - done;
        memcpy(at + done * e, at, n * e);
        done += n;
    }
}

static void differ(const combo *c, const unsigned char *got, const unsigned char *want, size_t bytes,
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
                 c->bytes, c->root, c->in_place, c->form, P, (long)i - MARGIN, bytes - 2 * MARGIN, got[i],
                 want[i]);
            return;
        }
    }
}

static unsigned char *room(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0xa5, bytes + 2 * MARGIN);
    return p;
}

/* ---- making the call ---- */

#if MPI_VERSION >= 4
#define LARGE(NAME, INAME, ...)                                 \
    case 2: return MPI_##NAME##_c(__VA_ARGS__, MPI_COMM_WORLD); \
    case 3: return MPI_##INAME##_c(__VA_ARGS__, MPI_COMM_WORLD, request);
#else
#define LARGE(NAME, INAME, ...)
#endif
#define FORM_OF(NAME, INAME, ...)                                                                     \
    switch (form) {                                                                                   \
    case 0: return MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD);                                           \
    case 1: return MPI_##INAME(__VA_ARGS__, MPI_COMM_WORLD, request); LARGE(NAME, INAME, __VA_ARGS__) \
    }                                                                                                 \
    break

/* Arrays that outlive a nonblocking call, in the widths the two interfaces want. */
static MPI_Datatype all_types[RANKS_MAX];
static int byte_sdispls[RANKS_MAX], byte_rdispls[RANKS_MAX];
#if MPI_VERSION >= 4
static MPI_Count large[6][RANKS_MAX];
static MPI_Aint far[6][RANKS_MAX];
#endif

static int start(const call *k, const combo *c, MPI_Request *request)
{
    int form = c->form, e = types[c->type].extent;
    for (int r = 0; r < P; r++) {
        all_types[r] = k->t;
        byte_sdispls[r] = k->sdispls[r] * e, byte_rdispls[r] = k->rdispls[r] * e;
#if MPI_VERSION >= 4
        large[0][r] = k->scounts[r], large[1][r] = k->rcounts[r];
        far[0][r] = k->sdispls[r], far[1][r] = k->rdispls[r], far[2][r] = byte_sdispls[r],
        far[3][r] = byte_rdispls[r];
#endif
    }
    switch (c->kind) {
    case BARRIER: return form & 1 ? MPI_Ibarrier(MPI_COMM_WORLD, request) : MPI_Barrier(MPI_COMM_WORLD);
    case BCAST: FORM_OF(Bcast, Ibcast, k->recvbuf, k->count, k->t, k->root);
    case REDUCE: FORM_OF(Reduce, Ireduce, k->sendbuf, k->recvbuf, k->count, k->t, k->op, k->root);
    case ALLREDUCE: FORM_OF(Allreduce, Iallreduce, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case SCAN: FORM_OF(Scan, Iscan, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case EXSCAN: FORM_OF(Exscan, Iexscan, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    case GATHER: FORM_OF(Gather, Igather, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t, k->root);
    case SCATTER: FORM_OF(Scatter, Iscatter, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t, k->root);
    case ALLGATHER: FORM_OF(Allgather, Iallgather, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t);
    case ALLTOALL: FORM_OF(Alltoall, Ialltoall, k->sendbuf, k->count, k->t, k->recvbuf, k->count, k->t);
    case REDUCE_SCATTER_BLOCK:
        FORM_OF(Reduce_scatter_block, Ireduce_scatter_block, k->sendbuf, k->recvbuf, k->count, k->t, k->op);
    default: break;
    }
/* The operations whose arrays of counts and displacements have other types in the large-count form. */
#define V_CALLS(GATHERV_, SCATTERV_, ALLGATHERV_, ALLTOALLV_, ALLTOALLW_, REDUCE_SCATTER_, SC, RC, SD, RD,  \
                BSD, BRD, ...)                                                                              \
    switch (c->kind) {                                                                                      \
    case GATHERV:                                                                                           \
        return GATHERV_(k->sendbuf, k->count, k->t, k->recvbuf, RC, RD, k->t, k->root, __VA_ARGS__);        \
    case SCATTERV:                                                                                          \
        return SCATTERV_(k->sendbuf, SC, SD, k->t, k->recvbuf, k->count, k->t, k->root, __VA_ARGS__);       \
    case ALLGATHERV: return ALLGATHERV_(k->sendbuf, k->count, k->t, k->recvbuf, RC, RD, k->t, __VA_ARGS__); \
    case ALLTOALLV: return ALLTOALLV_(k->sendbuf, SC, SD, k->t, k->recvbuf, RC, RD, k->t, __VA_ARGS__);     \
    case ALLTOALLW:                                                                                         \
        return ALLTOALLW_(k->sendbuf, SC, BSD, all_types, k->recvbuf, RC, BRD, all_types, __VA_ARGS__);     \
    default: return REDUCE_SCATTER_(k->sendbuf, k->recvbuf, RC, k->t, k->op, __VA_ARGS__);                  \
    }
    if (form == 0)
        V_CALLS(MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv, MPI_Alltoallv, MPI_Alltoallw, MPI_Reduce_scatter,
                k->scounts, k->rcounts, k->sdispls, k->rdispls, byte_sdispls, byte_rdispls, MPI_COMM_WORLD)
    if (form == 1)
        V_CALLS(MPI_Igatherv, MPI_Iscatterv, MPI_Iallgatherv, MPI_Ialltoallv, MPI_Ialltoallw,
                MPI_Ireduce_scatter, k->scounts, k->rcounts, k->sdispls, k->rdispls, byte_sdispls,
                byte_rdispls, MPI_COMM_WORLD, request)
#if MPI_VERSION >= 4
    if (form == 2)
        V_CALLS(MPI_Gatherv_c, MPI_Scatterv_c, MPI_Allgatherv_c, MPI_Alltoallv_c, MPI_Alltoallw_c,
                MPI_Reduce_scatter_c, large[0], large[1], far[0], far[1], far[2], far[3], MPI_COMM_WORLD)
    V_CALLS(MPI_Igatherv_c, MPI_Iscatterv_c, MPI_Iallgatherv_c, MPI_Ialltoallv_c, MPI_Ialltoallw_c,
            MPI_Ireduce_scatter_c, large[0], large[1], far[0], far[1], far[2], far[3], MPI_COMM_WORLD,
            request)
#endif
    return MPI_ERR_OTHER;
}

static void finish(MPI_Request *request, uint64_t how)
{
    MPI_Request two[2] = {MPI_REQUEST_NULL, *request};
    MPI_Status statuses[2];
    int flag = 0, index, count, indices[2];
    switch (how % 6) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1:
        while (!flag)
            MPI_Test(request, &flag, &statuses[0]);
        break;
    case 2:
        MPI_Waitall(2, two, statuses);
        *request = two[1];
        break;
    case 3:
        MPI_Waitany(2, two, &index, &statuses[0]);
        CHECK(index == 1, "Waitany says %d", index);
        *request = two[1];
        break;
    case 4:
        MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 1 && indices[0] == 1, "Waitsome");
        *request = two[1];
        break;
    default:
        while (!flag)
            MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
        *request = two[1];
        break;
    }
    CHECK(*request == MPI_REQUEST_NULL, "a completed request is not MPI_REQUEST_NULL (way %d)",
          (int)(how % 6));
}

/* ---- one combination ---- */

static void run(const combo *c)
{
    const type *t = &types[c->type];
    size_t e = (size_t)t->extent;
    int n = (int)(c->bytes / (size_t)(t->bytes + t->bytes2)), root = c->root;
    if (n == 0 && c->bytes)
        n = 1;
    buffers b = {0};
    call k = {.count = n,
              .t = t->mpi,
              .op = is_reduction(c->kind) ? operations[c->op].mpi : MPI_OP_NULL,
              .root = root};
    size_t recv_elements = 0, send_elements = 0,
           own_at = 0; /* own_at: where in recv this rank's own data belongs */
    int i_am_root = !is_rooted(c->kind) || me == root, in_place = c->in_place;

    /* Counts and displacements: blocks in reverse order with gaps of one element. */
    int s = 0, r = 0;
    for (int j = P - 1; j >= 0; j--) {
        switch (c->kind) {
        case GATHERV:
        case ALLGATHERV: k.rcounts[j] = varying(c, n, j, 0); break;
        case SCATTERV: k.scounts[j] = varying(c, n, 0, j); break;
        case ALLTOALLV:
        case ALLTOALLW:
            k.scounts[j] = in_place ? varying(c, n, me < j ? me : j, me < j ? j : me) : varying(c, n, me, j);
            k.rcounts[j] = in_place ? k.scounts[j] : varying(c, n, j, me);
            break;
        case REDUCE_SCATTER: k.rcounts[j] = varying(c, n, j, 0); break;
        default: k.scounts[j] = k.rcounts[j] = n;
        }
        if (c->kind == REDUCE_SCATTER)
            continue;
        k.sdispls[j] = s, k.rdispls[j] = r;
        s += k.scounts[j] + 1, r += k.rcounts[j] + 1;
    }
    if (c->kind == REDUCE_SCATTER)
        for (int j = 0; j < P; j++)
            k.rdispls[j] = r, r += k.rcounts[j]; /* within the vector */

    switch (c->kind) {
    case BARRIER: break;
    case BCAST: recv_elements = (size_t)n; break;
    case REDUCE:
    case ALLREDUCE:
    case SCAN:
    case EXSCAN: send_elements = recv_elements = (size_t)n; break;
    case GATHER:
    case ALLGATHER:
        send_elements = (size_t)n, recv_elements = (size_t)n * (size_t)P, own_at = (size_t)n * (size_t)me;
        break;
    case SCATTER: send_elements = (size_t)n * (size_t)P, recv_elements = (size_t)n; break;
    case GATHERV:
    case ALLGATHERV:
        k.count = k.rcounts[me], send_elements = (size_t)k.count, recv_elements = (size_t)r,
        own_at = (size_t)k.rdispls[me];
        break;
    case SCATTERV: send_elements = (size_t)s, k.count = k.scounts[me], recv_elements = (size_t)k.count; break;
    case ALLTOALL: send_elements = recv_elements = (size_t)n * (size_t)P; break;
    case ALLTOALLV:
    case ALLTOALLW: send_elements = (size_t)s, recv_elements = (size_t)r; break;
    case REDUCE_SCATTER:
        send_elements = (size_t)r, recv_elements = in_place ? (size_t)r : (size_t)k.rcounts[me];
        break;
    case REDUCE_SCATTER_BLOCK:
        send_elements = (size_t)n * (size_t)P, recv_elements = in_place ? send_elements : (size_t)n;
        break;
    }
    b.send_bytes = send_elements * e + 2 * MARGIN, b.recv_bytes = recv_elements * e + 2 * MARGIN;
    b.send = room(send_elements * e), b.send_before = room(send_elements * e);
    b.recv = room(recv_elements * e), b.expected = room(recv_elements * e);
    unsigned char *send = b.send + MARGIN, *recv = b.recv + MARGIN, *expected = b.expected + MARGIN;

    /* Contributions. */
    switch (c->kind) {
    case BARRIER:
    case BCAST: break;
    case REDUCE:
    case ALLREDUCE:
    case SCAN:
    case EXSCAN:
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK: fill(c, send, send_elements, me, me, 0); break;
    case GATHER:
    case ALLGATHER:
    case GATHERV:
    case ALLGATHERV: fill(c, send, send_elements, me, 0, 0); break;
    case SCATTER:
        if (i_am_root)
            for (int j = 0; j < P; j++)
                fill(c, send + (size_t)j * (size_t)n * e, (size_t)n, 0, j, 0);
        break;
    case SCATTERV:
        if (i_am_root)
            for (int j = 0; j < P; j++)
                fill(c, send + (size_t)k.sdispls[j] * e, (size_t)k.scounts[j], 0, j, 0);
        break;
    case ALLTOALL:
        for (int j = 0; j < P; j++)
            fill(c, send + (size_t)j * (size_t)n * e, (size_t)n, me, j, 0);
        break;
    default:
        for (int j = 0; j < P; j++)
            fill(c, send + (size_t)k.sdispls[j] * e, (size_t)k.scounts[j], me, j, 0);
        break;
    }
    memcpy(b.send_before, b.send, b.send_bytes);

    /* In place: what would have been sent lies in recv already. */
    k.sendbuf = send, k.recvbuf = recv;
    if (c->kind == BCAST && i_am_root)
        fill(c, recv, (size_t)n, root, 0, 0);
    if (in_place && i_am_root) {
        k.sendbuf = MPI_IN_PLACE;
        if (c->kind == SCATTER || c->kind == SCATTERV)
            k.sendbuf = send, k.recvbuf = MPI_IN_PLACE;
        else if (c->kind == GATHER || c->kind == ALLGATHER || c->kind == GATHERV || c->kind == ALLGATHERV)
            memcpy(recv + own_at * e, send, send_elements * e);
        else
            memcpy(recv, send, send_elements * e);
    }
    memcpy(b.expected, b.recv, b.recv_bytes);
    if (is_rooted(c->kind) && !i_am_root &&
        c->seed & 1) { /* arguments that mean nothing here may be anything */
        if (c->kind == REDUCE || c->kind == GATHER || c->kind == GATHERV)
            k.recvbuf = NULL;
        if (c->kind == SCATTER || c->kind == SCATTERV)
            k.sendbuf = NULL;
    }

    /* Expectation. */
    switch (c->kind) {
    case BARRIER: break;
    case BCAST: fill(c, expected, (size_t)n, root, 0, 0); break;
    case REDUCE:
        if (i_am_root)
            fill(c, expected, (size_t)n, 0, P - 1, 0);
        break;
    case ALLREDUCE: fill(c, expected, (size_t)n, 0, P - 1, 0); break;
    case SCAN: fill(c, expected, (size_t)n, 0, me, 0); break;
    case EXSCAN:
        if (me > 0)
            fill(c, expected, (size_t)n, 0, me - 1, 0);
        break;
    case REDUCE_SCATTER: fill(c, expected, (size_t)k.rcounts[me], 0, P - 1, (uint64_t)k.rdispls[me]); break;
    case REDUCE_SCATTER_BLOCK: fill(c, expected, (size_t)n, 0, P - 1, (uint64_t)n * (uint64_t)me); break;
    case GATHER:
    case ALLGATHER:
        if (i_am_root)
            for (int j = 0; j < P; j++)
                fill(c, expected + (size_t)j * (size_t)n * e, (size_t)n, j, 0, 0);
        break;
    case GATHERV:
    case ALLGATHERV:
        if (i_am_root)
            for (int j = 0; j < P; j++)
                fill(c, expected + (size_t)k.rdispls[j] * e, (size_t)k.rcounts[j], j, 0, 0);
        break;
    case SCATTER:
    case SCATTERV:
        if (k.recvbuf != MPI_IN_PLACE)
            fill(c, expected, (size_t)k.count, 0, me, 0);
        break;
    case ALLTOALL:
        for (int j = 0; j < P; j++)
            fill(c, expected + (size_t)j * (size_t)n * e, (size_t)n, j, me, 0);
        break;
    default:
        for (int j = 0; j < P; j++)
            fill(c, expected + (size_t)k.rdispls[j] * e, (size_t)k.rcounts[j], j, me, 0);
        break;
    }

    MPI_Request request = MPI_REQUEST_NULL;
    int code = start(&k, c, &request);
    if (code != MPI_SUCCESS)
        fail("%s form %d returned %d", kind_names[c->kind], c->form, code);
    else if (c->form & 1)
        finish(&request, mix(c->seed ^ (uint64_t)me));

    /* In place, MPI leaves open what becomes of the rest of the vector in a Reduce_scatter, and of Exscan's
     * rank 0. */
    if (in_place && (c->kind == REDUCE_SCATTER || c->kind == REDUCE_SCATTER_BLOCK)) {
        size_t defined = (c->kind == REDUCE_SCATTER ? (size_t)k.rcounts[me] : (size_t)n) * e;
        memcpy(recv + defined, expected + defined, recv_elements * e - defined);
    }
    if (c->kind == EXSCAN && me == 0)
        memcpy(b.recv, b.expected, b.recv_bytes);
    if (c->op == PROD)
        tidy(t, recv, recv_elements);
    differ(c, b.recv, b.expected, b.recv_bytes, "result");
    differ(c, b.send, b.send_before, b.send_bytes, "send buffer");
    for (size_t i = 0; memchr(t->mask, 0, e) && i < recv_elements * e; i++)
        recv[i] &= t->mask[i % e];
    digest_bytes(recv, recv_elements * e);
    free(b.send), free(b.send_before), free(b.recv), free(b.expected);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    P = world_size, me = world_rank;
    if (P > RANKS_MAX)
        return 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    make_types();
    static char combines[OPERATIONS][TYPES_MAX];
    for (int o = 0; o < OPERATIONS; o++)
        for (int t = 0; t < types_count; t++)
            combines[o][t] = operations[o].families & types[t].family &&
                             (o != MODADD || types[t].mpi == MPI_INT) && host_combines(o, &types[t]);

    uint64_t wanted = (uint64_t)number(argc, argv, "n", 2000), seed = (uint64_t)number(argc, argv, "seed", 1),
             done = 0;
    const char *kinds = argument(argc, argv, "kinds", "all"),
               *forms = argument(argc, argv, "forms", MPI_VERSION >= 4 ? "0123" : "01");
    size_t largest = (size_t)number(argc, argv, "largest", 1 << 20);
    int stalls = (int)number(argc, argv, "stall", 0), plain = (int)number(argc, argv, "plain", 0);
    int verbose = (int)number(argc, argv, "verbose", 0);
    rng delays = {mix3(seed, (uint64_t)me, 5)};

    const uint64_t dims[] = {KINDS, (uint64_t)types_count, OPERATIONS, (uint64_t)P, SIZES, 2, FORMS};
    uint64_t total = 1, stride = 1000003;
    for (int d = 0; d < 7; d++)
        total *= dims[d];
    while (total % stride == 0) /* prime to the number of combinations: the walk meets each of them once */
        stride += 2;
    for (uint64_t j = 0; j < total && (!wanted || done < wanted); j++) {
        /* A few of many are drawn at random: steps of equal length miss whole operations when they fit the
         * dimensions. */
        uint64_t index =
            wanted && wanted < total / 2 ? mix3(seed, j, 9) % total : (j * stride + mix(seed)) % total;
        uint64_t x = index, d[7];
        for (int i = 0; i < 7; i++)
            d[i] = x % dims[i], x /= dims[i];
        combo c = {(int)d[0], (int)d[1], (int)d[2],          (int)d[3],
                   (int)d[5], (int)d[6], size_classes[d[4]], mix3(seed, index, 1)};
        char form[2] = {(char)('0' + c.form), 0};
        int blocks = c.kind == ALLTOALL || c.kind == ALLTOALLV || c.kind == ALLTOALLW ||
                             c.kind == ALLGATHER || c.kind == ALLGATHERV || c.kind == REDUCE_SCATTER ||
                             c.kind == REDUCE_SCATTER_BLOCK
                         ? P
                         : 1;
        if (!listed(kinds, kind_names[c.kind]) || !strchr(forms, form[0]) || (MPI_VERSION < 4 && c.form > 1))
            continue;
        if (is_reduction(c.kind) ? !combines[c.op][c.type] : c.op != 0)
            continue;
        if ((!is_rooted(c.kind) && c.root) || (c.kind == BARRIER && (c.type || c.bytes || c.in_place)) ||
            (c.kind == BCAST && c.in_place))
            continue;
        if (plain && (c.in_place || memchr(types[c.type].mask, 0, (size_t)types[c.type].extent) ||
                      types[c.type].mpi == gappy))
            continue;
        if (c.bytes > largest || c.bytes * (size_t)blocks > 4u << 20)
            continue;
        if (c.bytes > 2000 && mix(c.seed) % (c.bytes > 50000 ? 32 : 4))
            continue;
        if (verbose)
            fprintf(stderr, "[%d] %s %s %s root %d in_place %d form %d bytes %zu\n", me, kind_names[c.kind],
                    types[c.type].name, operations[c.op].name, c.root, c.in_place, c.form, c.bytes);
        if (stalls)
            stall(&delays, stalls, 2000);
        run(&c);
        done++;
    }
    int code = verdict(done);
    MPI_Finalize();
    return code;
}
