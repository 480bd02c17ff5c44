/* Collectives in which ranks have parts of their own, by predefined operators and of blocks of unequal
 * length: random calls on communicators whose ranks are ordered differently, against a serial oracle.
 *
 *   spanning n=200 seed=1 kinds=all stall=0 largest=20000
 *
 * The same calls at all ranks: kind, sizes, in place, blocking or not. Sums of fractions depend on how they
 * are grouped: their bits go into the digest, which must be the same in every run. */
#include "check.h"

enum { REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, ALLGATHERV, KINDS, MOST = 64, MARGIN = 16 };
static const char *names[KINDS] = {"reduce_scatter", "reduce_scatter_block", "scan", "exscan", "allgatherv"};
enum { LONGS, DOUBLES, FRACTIONS, INTS, BYTES, TYPES };

typedef struct group {
    MPI_Comm comm;
    int me, n;
} group;

static size_t width(int type) { return type == INTS ? 4 : type == BYTES ? 1 : 8; }

/* Element k of what rank r hands in. */
static double value(uint64_t seed, int type, int r, int k)
{
    uint64_t h = mix3(seed, (uint64_t)r, (uint64_t)(k % 1009));
    return type == FRACTIONS ? (double)(h % 1000003) / 7.0
           : type == BYTES   ? (double)(h % 256)
                             : (double)(h % 100000);
}

static void put(unsigned char *at, int type, double v)
{
    switch (type) {
    case LONGS: *(int64_t *)at = (int64_t)v; break;
    case INTS: *(int32_t *)at = (int32_t)v; break;
    case BYTES: *at = (unsigned char)v; break;
    default: *(double *)at = v;
    }
}

static double get(const unsigned char *at, int type)
{
    return type == LONGS   ? (double)*(const int64_t *)at
           : type == INTS  ? *(const int32_t *)at
           : type == BYTES ? *at
                           : *(const double *)at;
}

/* What ranks 0 to `last` hand in as element k, combined. */
static double folded(uint64_t seed, int type, int last, int k)
{
    double all = value(seed, type, 0, k);
    for (int r = 1; r <= last; r++) {
        double next = value(seed, type, r, k);
        all = type == INTS    ? (next > all ? next : all)
              : type == BYTES ? (double)((int)all ^ (int)next)
                              : all + next;
    }
    return all;
}

static unsigned char *room(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0x5a, bytes + 2 * MARGIN);
    return p;
}

static void call(const group *g, int kind, int type, uint64_t seed, int base, int in_place, int blocking)
{
    static const MPI_Datatype types[] = {MPI_INT64_T, MPI_DOUBLE, MPI_DOUBLE, MPI_INT32_T, MPI_UNSIGNED_CHAR};
    MPI_Datatype t = types[type];
    MPI_Op op = type == INTS ? MPI_MAX : type == BYTES ? MPI_BXOR : MPI_SUM;
    int counts[MOST], places[MOST], n = g->n, me = g->me, total = 0, reach = 0;
    for (int r = 0; r < n; r++) {
        uint64_t h = mix3(seed, (uint64_t)r, 77) %
                     5; /* most about equal; now and then nothing, or all is one rank's */
        counts[r] = kind == REDUCE_SCATTER_BLOCK || kind == SCAN || kind == EXSCAN ? base
                    : seed % 5 == 0 ? (r == (int)(seed % (uint64_t)n) ? base : 0)
                    : h == 0        ? 0
                    : h == 1        ? base / 2
                                    : base + (int)h;
        places[n - 1 - r] = r; /* for the time being: who comes after whom */
        total += counts[r];
    }
    for (int i = 0; i < n; i++) { /* gathered blocks lie backwards, with gaps of one element */
        int r = n - 1 - i;
        places[r] = reach, reach += counts[r] + 1;
    }
    int scans = kind == SCAN || kind == EXSCAN, gathers = kind == ALLGATHERV;
    int handed_in = scans ? base : gathers ? counts[me] : total, first = 0;
    for (int r = 0; r < me && !scans; r++)
        first += counts[r];
    int taken = scans ? base : gathers ? reach : counts[me], writes = !(kind == EXSCAN && me == 0);
    size_t w = width(type), recv_bytes = w * (size_t)(in_place && !gathers ? handed_in : taken);
    unsigned char *send = room(w * (size_t)handed_in), *recv = room(recv_bytes), *before = room(recv_bytes);
    for (int k = 0; k < handed_in; k++)
        put(send + MARGIN + w * (size_t)k, type, value(seed, type, me, k));
    unsigned char *input = recv + MARGIN + (gathers ? w * (size_t)places[me] : 0);
    if (in_place)
        memcpy(input, send + MARGIN, w * (size_t)handed_in);
    memcpy(before, recv, recv_bytes + 2 * MARGIN);
    void *in = in_place ? MPI_IN_PLACE : (void *)(send + MARGIN), *out = recv + MARGIN;
    MPI_Request request = MPI_REQUEST_NULL;
#define EITHER(NAME, INAME, ...) \
    (blocking ? MPI_##NAME(__VA_ARGS__, g->comm) : MPI_##INAME(__VA_ARGS__, g->comm, &request))
    switch (kind) {
    case REDUCE_SCATTER: EXPECT_OK(EITHER(Reduce_scatter, Ireduce_scatter, in, out, counts, t, op)); break;
    case REDUCE_SCATTER_BLOCK:
        EXPECT_OK(EITHER(Reduce_scatter_block, Ireduce_scatter_block, in, out, base, t, op));
        break;
    case SCAN: EXPECT_OK(EITHER(Scan, Iscan, in, out, base, t, op)); break;
    case EXSCAN: EXPECT_OK(EITHER(Exscan, Iexscan, in, out, base, t, op)); break;
    default: EXPECT_OK(EITHER(Allgatherv, Iallgatherv, in, counts[me], t, out, counts, places, t));
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int last = kind == SCAN ? me : kind == EXSCAN ? me - 1 : n - 1, wrong = 0;
    for (int r = 0; r < (gathers ? n : 1); r++) {
        for (int k = 0; k < (gathers ? counts[r] : taken) && writes; k++) {
            unsigned char *at = recv + MARGIN + w * (size_t)((gathers ? places[r] : 0) + k);
            double want = gathers ? value(seed, type, r, k) : folded(seed, type, last, scans ? k : first + k),
                   got = get(at, type);
            double off = got > want ? got - want : want - got;
            if (type == FRACTIONS && !gathers ? off > 1e-9 * want : off != 0) {
                if (!wrong++)
                    fail("%s of %d, type %d, base %d, in place %d, blocking %d, %d ranks: element %d (of %d) "
                         "is %.17g, not %.17g",
                         names[kind], me, type, base, in_place, blocking, n, k, r, got, want);
            }
            memset(before + (at - recv), 0, w), digest_bytes(at, w), memset(at, 0, w);
        }
    }
    /* What lies behind a part in place is nobody's business. */
    size_t looked_at = in_place && !gathers ? w * (size_t)taken + MARGIN : recv_bytes + 2 * MARGIN;
    CHECK(!memcmp(recv, before, looked_at), "%s of %d, base %d: bytes beside the result have changed",
          names[kind], me, base);
    free(send), free(recv), free(before);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int n = (int)number(argc, argv, "n", 200), stalls = (int)number(argc, argv, "stall", 0),
        largest = (int)number(argc, argv, "largest", 20000);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    const char *kinds = argument(argc, argv, "kinds", "all");
    static const int sizes[] = {0, 1, 3, 40, 300, 1500, 20000};
    group groups[3]; /* as the world; backwards; dealt out in turn, if the world's ranks fill one node after
                        the other */
    int keys[3] = {world_rank, -world_rank, world_rank % 2 * world_size + world_rank / 2};
    for (int i = 0; i < 3; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, keys[i], &groups[i].comm);
        MPI_Comm_rank(groups[i].comm, &groups[i].me), MPI_Comm_size(groups[i].comm, &groups[i].n);
    }
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 11)};
    for (int done = 0, step = 0; done < n; step++) {
        int on = below(&shared, 3), kind = below(&shared, KINDS), type = below(&shared, TYPES),
            base = sizes[below(&shared, 7)];
        int in_place = one_in(&shared, 3), blocking = one_in(&shared, 2);
        if (strcmp(kinds, "all") && !strstr(kinds, names[kind]))
            continue;
        if (!blocking &&
            base > 900) /* agents do not take more; nor does the library always survive it in place */
            base = 900;
        if (kind == ALLGATHERV && base > 1500)
            base = 1500;
        base = base < largest ? base : largest;
        if (stalls)
            stall(&own, stalls, 2000);
        call(&groups[on], kind, type, mix3(seed, (uint64_t)step, 3), base, in_place, blocking);
        done++;
    }
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&groups[i].comm);
    int code = report_result((uint64_t)n);
    MPI_Finalize();
    return code;
}
