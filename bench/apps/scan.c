/* Prefix scan of n elements (Pakin 2001, sections 3.1 and 5.3) by one of two algorithms:
 *
 * naive: Hillis and Steele's. Each remote element is a message of its own, of 24 bytes, and each step ends
 * with a barrier. With receive=any, messages are received from any source with one tag for all steps, so that
 * only the barriers keep the steps apart.
 *
 * optimized: each rank scans its own elements, then the last elements travel in ceil(lg P) steps. A rank adds
 * what it received to its own elements after the barrier of a step; this work can overlap with waiting for
 * other ranks. (The conditions of algorithm 5.4 are garbled in print; this is the corrected form.)
 *
 * The operation composes maps x -> ax + b of 64-bit integers. It is associative but not commutative, so that
 * a wrong order shows. */
#include "app.h"

static parameter parameters[] = {
    {"algorithm", "optimized", "naive|optimized", "which algorithm", 0},
    {"n", "65536", "N", "elements in all, at least one for each rank", 0},
    {"repeat", "1", "N", "scans, each of other elements", 0},
    {"receive", "any", "any|named", "naive: receive from any source, or name the sender", 0},
    {"seed", "1", "N", "of the elements", 0},
    {"per_rank", "no", "no|yes", "print each rank's time", 0},
    {0}};

static app self = {"scan", "Prefix scan by point-to-point messages and barriers.", parameters, 0, 0};

typedef struct map {
    uint64_t a, b;
} map;

/* A message of the naive scan. */
typedef struct indexed_map {
    uint64_t index;
    map m;
} indexed_map;

/* The map that applies `first`, then `then`. */
static inline map compose(map first, map then) { return (map){first.a * then.a, first.b * then.a + then.b}; }

static map element(uint64_t seed, long i)
{
    uint64_t r = random_at(seed, (uint64_t)i);
    return (map){r | 1, r >> 7}; /* an odd factor can be inverted: no composition loses information */
}

static int lg_up(int n)
{
    int lg = 0;
    while ((1 << lg) < n)
        lg++;
    return lg;
}

static void naive(map *x, long first, long count, long n)
{
    int any = app_is(&self, "receive", "any");
    for (long step = 1; step < n; step *= 2) {
        long awaited = 0;
        for (long i = first; i < first + count; i++) {
            long to = i + step;
            if (to < n && to >= first + count) {
                indexed_map out = {(uint64_t)to, x[i - first]};
                MPI_Send(&out, (int)sizeof out, MPI_BYTE, owner_of(n, self.ranks, to), 1, MPI_COMM_WORLD);
            }
            awaited += i - step >= 0 && i - step < first;
        }
        for (long i = first + count - 1; i - step >= first; i--)
            x[i - first] = compose(x[i - step - first], x[i - first]);
        for (long i = first; awaited > 0; awaited--, i++) {
            while (!any && i < step)
                i++;
            indexed_map in;
            int from = any ? MPI_ANY_SOURCE : owner_of(n, self.ranks, i - step);
            MPI_Recv(&in, (int)sizeof in, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            long at = (long)in.index - first;
            if (at < 0 || at >= count) {
                fprintf(stderr, "scan: rank %d received element %llu, which belongs to another rank\n",
                        self.rank, (unsigned long long)in.index);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            x[at] = compose(in.m, x[at]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static map receive(int from)
{
    map m;
    MPI_Recv(&m, (int)sizeof m, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return m;
}

static void optimized(map *x, long n)
{
    int p = self.rank, ranks = self.ranks, lg = lg_up(ranks);
    for (long i = 1; i < n; i++)
        x[i] = compose(x[i - 1], x[i]);
    if (p < ranks - 1)
        MPI_Send(&x[n - 1], (int)sizeof *x, MPI_BYTE, p + 1, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int j = 1; j < lg; j++) {
        int received = p >= 1 << (j - 1);
        map m = {1, 0};
        if (received) {
            m = receive(p - (1 << (j - 1)));
            x[n - 1] = compose(m, x[n - 1]);
        }
        if (p + (1 << j) < ranks)
            MPI_Send(&x[n - 1], (int)sizeof *x, MPI_BYTE, p + (1 << j), 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        for (long i = n - 2; received && i >= 0; i--)
            x[i] = compose(m, x[i]);
    }
    if (lg > 0 && p >= 1 << (lg - 1)) {
        map m = receive(p - (1 << (lg - 1)));
        for (long i = 0; i < n; i++)
            x[i] = compose(m, x[i]);
    }
}

/* Scans everything up to this rank's last element alone. Returns how many of its own elements are wrong. */
static long compare(const map *x, uint64_t seed, long first, long count)
{
    map sum = {1, 0};
    long wrong = 0;
    for (long i = 0; i < first + count; i++) {
        sum = compose(sum, element(seed, i));
        wrong += i >= first && (x[i - first].a != sum.a || x[i - first].b != sum.b);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long n = app_size(&self, "n", self.ranks), repeat = app_size(&self, "repeat", 1), wrong = 0;
    long first = first_of(n, self.ranks, self.rank), count = first_of(n, self.ranks, self.rank + 1) - first;
    int is_naive = app_is(&self, "algorithm", "naive");
    map *x = allocate((size_t)count, sizeof *x);
    double seconds = 0;
    for (long round = 0; round < repeat; round++) {
        uint64_t seed = (uint64_t)app_long(&self, "seed") + 1000003u * (uint64_t)round;
        for (long i = 0; i < count; i++)
            x[i] = element(seed, first + i);
        uint64_t start = start_together_ns();
        if (is_naive)
            naive(x, first, count, n);
        else
            optimized(x, count);
        seconds += (double)(now_ns() - start) / 1e9;
        wait_for_all();
        wrong += compare(x, seed, first, count);
    }
    if (wrong)
        fprintf(stderr, "scan: rank %d has %ld wrong elements of %ld\n", self.rank, wrong, count * repeat);
    double *times = allocate((size_t)self.ranks, sizeof *times), sum = 0;
    MPI_Gather(&seconds, 1, MPI_DOUBLE, times, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; self.rank == 0 && r < self.ranks; r++) {
        sum += times[r];
        if (app_is(&self, "per_rank", "yes"))
            printf("rank %d seconds=%.6f\n", r, times[r]);
    }
    free(times);
    free(x);
    return app_finish(&self, wrong == 0, seconds, "algorithm=%s n=%ld repeat=%ld mean_s=%.6f",
                      app_text(&self, "algorithm"), n, repeat, sum / self.ranks);
}
