/* Radix sort, `bits` bits a pass (Pakin 2001, sections 3.1 and 5.4). For each value of the digit a vector
 * that says which elements have it, and a prefix scan of it by messages and barriers; the counts are reduced
 * to rank 0 and multicast; then every element knows where it goes. Reductions to each rank tell it how many
 * elements to expect, and the elements travel in packets, sending interleaved with receiving.
 *
 * tree=flat: the root of a multicast or reduction speaks with every rank itself, so that a late rank delays
 * no other. exchange=smart: the next packet goes to whoever last sent one here, for it must be running now;
 * naive: in the order of ranks.
 *
 * Packets of one pass are received from any source: only the barrier at a pass's end keeps the passes apart.
 */
#include "app.h"

static parameter parameters[] = {
    {"n", "65536", "N", "keys in all", 0},
    {"key_bits", "16", "N",
     "keys are random numbers of so many bits (at most 32); few bits make many equal keys", 0},
    {"bits", "1", "N", "bits sorted by in each pass, 1 to 8", 0},
    {"tree", "library", "flat|library", "multicast and reduction: flat trees, or the MPI library's", 0},
    {"exchange", "naive", "smart|naive", "to whom the next packet goes", 0},
    {"packet", "65519", "N", "bytes of a packet at most", 0},
    {"seed", "1", "N", "of the keys", 0},
    {0}};

static app self = {"radix",
                   "Radix sort by prefix scans, reductions, multicasts and an exchange of all with all.",
                   parameters, 0, 0};

enum { SCAN = 1, TREE = 2, PACKET = 3 };

typedef struct item {
    uint32_t key, origin; /* where it was before the sort: equal keys must keep their order */
} item;

typedef struct traveller {
    uint32_t at; /* its index among the receiver's elements */
    item it;
} traveller;

static uint64_t waited_ns; /* in receives that block */

static void receive(void *buffer, int bytes, int from, int tag, MPI_Status *status)
{
    uint64_t start = now_ns();
    MPI_Recv(buffer, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, status);
    waited_ns += now_ns() - start;
}

/* ---- scans and trees ---- */

/* Inclusive prefix sums of a vector that is spread over the ranks; some may hold nothing of it. Returns the
 * sum up to and with this rank's last element. */
static int64_t scan(uint32_t *x, long n)
{
    int p = self.rank, ranks = self.ranks;
    for (long i = 1; i < n; i++)
        x[i] += x[i - 1];
    int64_t total = n ? x[n - 1] : 0;
    if (p + 1 < ranks)
        MPI_Send(&total, (int)sizeof total, MPI_BYTE, p + 1, SCAN, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step < ranks; step *= 2) {
        int64_t before = 0;
        if (p >= step) {
            receive(&before, (int)sizeof before, p - step, SCAN, MPI_STATUS_IGNORE);
            total += before;
        }
        int is_last = step * 2 >= ranks;
        if (!is_last) {
            if (p + step * 2 < ranks)
                MPI_Send(&total, (int)sizeof total, MPI_BYTE, p + step * 2, SCAN, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        for (long i = 0; p >= step && i < n; i++)
            x[i] += (uint32_t)before;
    }
    return total;
}

static int is_flat(void) { return app_says(&self, "tree", "flat"); }

/* Sums at the root, of `count` numbers. */
static void reduce(const int64_t *mine, int64_t *sum, int count, int root)
{
    if (!is_flat()) {
        MPI_Reduce(mine, sum, count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
        return;
    }
    int bytes = count * (int)sizeof *mine;
    if (self.rank != root) {
        MPI_Send(mine, bytes, MPI_BYTE, root, TREE, MPI_COMM_WORLD);
        return;
    }
    int64_t *theirs = room((size_t)count, sizeof *theirs);
    memcpy(sum, mine, (size_t)bytes);
    /* By name, not from any source: a rank may already send for the next reduction to this root. */
    for (int from = 0; from < self.ranks; from++) {
        if (from == root)
            continue;
        receive(theirs, bytes, from, TREE, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            sum[i] += theirs[i];
    }
    free(theirs);
}

static void multicast(int64_t *values, int count, int root)
{
    int bytes = count * (int)sizeof *values;
    if (!is_flat())
        MPI_Bcast(values, count, MPI_INT64_T, root, MPI_COMM_WORLD);
    else if (self.rank != root)
        receive(values, bytes, root, TREE, MPI_STATUS_IGNORE);
    else
        for (int to = 0; to < self.ranks; to++)
            if (to != root)
                MPI_Send(values, bytes, MPI_BYTE, to, TREE, MPI_COMM_WORLD);
}

/* ---- the exchange ---- */

/* What is to be sent, sorted by receiver: rank r's are from[r] up to from[r + 1], of which next[r] is the
 * first unsent. */
typedef struct outbox {
    traveller *all;
    long *from, *next;
    long unsent;
} outbox;

static long pending(const outbox *o, int rank) { return o->from[rank + 1] - o->next[rank]; }

/* The first rank behind `after` for which something is left. */
static int neighbour(const outbox *o, int after)
{
    for (int i = 1; i <= self.ranks; i++) {
        int rank = (after + i) % self.ranks;
        if (pending(o, rank) > 0)
            return rank;
    }
    return -1;
}

static void exchange(outbox *o, item *sorted, long expected)
{
    int smart = app_says(&self, "exchange", "smart"),
        most = (int)(app_long(&self, "packet") / (long)sizeof(traveller));
    traveller *in = room((size_t)most, sizeof *in);
    MPI_Request sending = MPI_REQUEST_NULL;
    int last_sender = -1, target = self.rank;
    while (o->unsent > 0 || expected > 0) {
        int sent = 1, there = 0;
        MPI_Test(&sending, &sent, MPI_STATUS_IGNORE);
        if (sent && o->unsent > 0) {
            target = smart && last_sender >= 0 && pending(o, last_sender) > 0
                         ? last_sender
                         : neighbour(o, smart ? self.rank : target);
            long count = pending(o, target) < most ? pending(o, target) : most;
            MPI_Isend(o->all + o->next[target], (int)(count * (long)sizeof(traveller)), MPI_BYTE, target,
                      PACKET, MPI_COMM_WORLD, &sending);
            o->next[target] += count;
            o->unsent -= count;
            last_sender = -1;
        }
        if (expected == 0) {
            if (o->unsent > 0)
                MPI_Wait(&sending, MPI_STATUS_IGNORE);
            continue;
        }
        /* Only with nothing left to send may it wait for others. */
        if (o->unsent > 0)
            MPI_Iprobe(MPI_ANY_SOURCE, PACKET, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (o->unsent > 0 && !there)
            continue;
        MPI_Status status;
        int bytes;
        receive(in, most * (int)sizeof *in, MPI_ANY_SOURCE, PACKET, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        int count = bytes / (int)sizeof *in;
        for (int i = 0; i < count; i++)
            sorted[in[i].at] = in[i].it;
        expected -= count;
        last_sender = status.MPI_SOURCE;
    }
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    free(in);
}

/* ---- a pass ---- */

static void pass(item *items, item *sorted, long n, long all, int shift, int bits)
{
    int values = 1 << bits, ranks = self.ranks;
    uint32_t **place = room((size_t)values, sizeof *place);
    int64_t *mine = room((size_t)values, sizeof *mine), *counts = room((size_t)values, sizeof *counts);
    for (int v = 0; v < values; v++) {
        place[v] = room((size_t)n, sizeof **place);
        for (long i = 0; i < n; i++) {
            place[v][i] = (items[i].key >> shift & (uint32_t)(values - 1)) == (uint32_t)v;
            mine[v] += place[v][i];
        }
        scan(place[v], n);
    }
    reduce(mine, counts, values, 0);
    multicast(counts, values, 0);
    int64_t *base = room((size_t)values, sizeof *base);
    for (int v = 1; v < values; v++)
        base[v] = base[v - 1] + counts[v - 1];

    /* Where everything goes; then the list of what leaves, sorted by receiver by counting. */
    int *to = room((size_t)n, sizeof *to);
    uint32_t *at = room((size_t)n, sizeof *at);
    int64_t *leaving = room((size_t)ranks, sizeof *leaving),
            *arriving = room((size_t)ranks, sizeof *arriving);
    for (long i = 0; i < n; i++) {
        int v = (int)(items[i].key >> shift & (uint32_t)(values - 1));
        long target = (long)base[v] + (long)place[v][i] - 1;
        to[i] = owner_of(all, ranks, target);
        at[i] = (uint32_t)(target - first_of(all, ranks, to[i]));
        leaving[to[i]] += to[i] != self.rank;
    }
    outbox o = {NULL, room((size_t)ranks + 1, sizeof(long)), room((size_t)ranks + 1, sizeof(long)), 0};
    for (int r = 0; r < ranks; r++) {
        o.from[r + 1] = o.from[r] + (long)leaving[r];
        o.next[r] = o.from[r];
        o.unsent += (long)leaving[r];
    }
    o.all = room((size_t)o.unsent, sizeof *o.all);
    for (long i = 0; i < n; i++) {
        if (to[i] == self.rank)
            sorted[at[i]] = items[i];
        else
            o.all[o.next[to[i]]++] = (traveller){at[i], items[i]};
    }
    memcpy(o.next, o.from, (size_t)ranks * sizeof *o.next);
    for (int r = 0; r < ranks; r++)
        reduce(&leaving[r], &arriving[r], 1, r);
    exchange(&o, sorted, (long)arriving[self.rank]);
    memcpy(items, sorted, (size_t)n * sizeof *items);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int v = 0; v < values; v++)
        free(place[v]);
    void *all_of_it[] = {place, mine, counts, base, to, at, leaving, arriving, o.all, o.from, o.next};
    for (size_t i = 0; i < sizeof all_of_it / sizeof *all_of_it; i++)
        free(all_of_it[i]);
}

/* ---- the answer ---- */

static item key_of(uint64_t seed, int key_bits, long i)
{
    return (item){(uint32_t)(random_at(seed, (uint64_t)i) & ((1ull << key_bits) - 1)), (uint32_t)i};
}

static int by_key_then_origin(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->origin < y->origin ? -1 : x->origin > y->origin;
}

/* Rank 0 gets all, and sorts all by itself, stably. */
static long compare(const item *items, long n, long all, uint64_t seed, int key_bits)
{
    int *sizes = room((size_t)self.ranks, sizeof *sizes), *places = room((size_t)self.ranks, sizeof *places);
    long wrong = 0;
    for (int r = 0; r < self.ranks; r++) {
        places[r] = (int)(first_of(all, self.ranks, r) * (long)sizeof(item));
        sizes[r] = (int)(first_of(all, self.ranks, r + 1) * (long)sizeof(item)) - places[r];
    }
    item *got = room(self.rank == 0 ? (size_t)all : 0, sizeof *got),
         *want = room(self.rank == 0 ? (size_t)all : 0, sizeof *want);
    MPI_Gatherv(items, (int)(n * (long)sizeof *items), MPI_BYTE, got, sizes, places, MPI_BYTE, 0,
                MPI_COMM_WORLD);
    for (long i = 0; self.rank == 0 && i < all; i++)
        want[i] = key_of(seed, key_bits, i);
    if (self.rank == 0)
        qsort(want, (size_t)all, sizeof *want, by_key_then_origin);
    for (long i = 0; self.rank == 0 && i < all; i++)
        wrong += got[i].key != want[i].key || got[i].origin != want[i].origin;
    if (wrong)
        fprintf(stderr, "radix: %ld of %ld keys are not where they belong\n", wrong, all);
    free(sizes);
    free(places);
    free(got);
    free(want);
    return wrong;
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long all = app_size(&self, "n", 1);
    int key_bits = (int)app_size(&self, "key_bits", 1), bits = (int)app_size(&self, "bits", 1);
    app_size(&self, "packet", (long)sizeof(traveller));
    if (all > 1l << 27 || key_bits > 32 ||
        bits > 8) { /* 2^27 keys are what MPI_Gatherv's int displacements reach */
        if (self.rank == 0)
            fprintf(stderr, "radix: at most 2^27 keys, key_bits=32, bits=8\n");
        MPI_Finalize();
        return 2;
    }
    uint64_t seed = (uint64_t)app_long(&self, "seed");
    long first = first_of(all, self.ranks, self.rank), n = first_of(all, self.ranks, self.rank + 1) - first;
    item *items = room((size_t)n, sizeof *items), *sorted = room((size_t)n, sizeof *sorted);
    for (long i = 0; i < n; i++)
        items[i] = key_of(seed, key_bits, first + i);
    uint64_t start = all_begin_ns();
    for (int shift = 0; shift < key_bits; shift += bits)
        pass(items, sorted, n, all, shift, bits < key_bits - shift ? bits : key_bits - shift);
    double seconds = (double)(now_ns() - start) / 1e9, waited = (double)waited_ns / 1e9, all_waited = 0;
    MPI_Reduce(&waited, &all_waited, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    all_are_through();
    long wrong = compare(items, n, all, seed, key_bits);
    free(items);
    free(sorted);
    return app_end(&self, wrong == 0, seconds,
                   "n=%ld key_bits=%d bits=%d tree=%s exchange=%s receive_wait_s=%.6f", all, key_bits, bits,
                   app_text(&self, "tree"), app_text(&self, "exchange"), all_waited / self.ranks);
}
