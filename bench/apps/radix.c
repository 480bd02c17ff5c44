/* Radix sort by a digit of `bits` bits in each pass (Pakin 2001, sections 3.1 and 5.4). For each value of the
 * digit, a vector marks the elements that have it, and a prefix scan by messages and barriers sums the vector
 * up. The counts are reduced to rank 0 and multicast, which gives the place of every element. A reduction to
 * each rank tells it how many elements will arrive. The elements travel in packets; sending and receiving are
 * interleaved.
 *
 * tree=flat: the root of a multicast or reduction communicates with every rank itself, so that a late rank
 * delays no other rank. exchange=smart: the next packet goes to the rank from which the last packet came,
 * because that rank is probably running now. exchange=naive: packets go to the ranks in their order.
 *
 * The packets of a pass are received from any source: only the barrier at the end of a pass keeps the passes
 * apart. */
#include "app.h"

static parameter parameters[] = {
    {"n", "65536", "N", "keys in all", 0},
    {"key_bits", "16", "N", "bits of the random keys (at most 32); few bits make many equal keys", 0},
    {"bits", "1", "N", "bits of the digit that a pass sorts by, 1 to 8", 0},
    {"tree", "library", "flat|library", "multicast and reduction: flat trees, or the MPI library's", 0},
    {"exchange", "naive", "smart|naive", "to which rank the next packet goes", 0},
    {"packet", "65519", "N", "largest packet in bytes", 0},
    {"seed", "1", "N", "of the keys", 0},
    {0}};

static app self = {"radix", "Radix sort by prefix scans, reductions, multicasts and an all-to-all exchange.",
                   parameters, 0, 0};

enum { SCAN = 1, TREE = 2, PACKET = 3 };

typedef struct item {
    uint32_t key, origin; /* origin: its index before the sort; equal keys must keep their order */
} item;

typedef struct moving_item {
    uint32_t at; /* index among the receiver's elements */
    item moved;
} moving_item;

static uint64_t receive_wait_ns; /* time in blocking receives */

static void receive(void *buffer, int bytes, int from, int tag, MPI_Status *status)
{
    uint64_t start = now_ns();
    MPI_Recv(buffer, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, status);
    receive_wait_ns += now_ns() - start;
}

/* ---- scans and trees ---- */

/* Replaces a vector that is spread over the ranks by its inclusive prefix sums; a rank may hold no elements.
 * Returns the sum up to and including this rank's last element. */
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

static int is_flat(void) { return app_is(&self, "tree", "flat"); }

/* The root gets the sums of `count` numbers. */
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
    int64_t *theirs = allocate((size_t)count, sizeof *theirs);
    memcpy(sum, mine, (size_t)bytes);
    /* Not from any source: a rank may already send for the next reduction to this root. */
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

/* The items to send, sorted by receiver: those of rank r are from[r] up to from[r + 1], and next[r] is the
 * first of them that has not been sent yet. */
typedef struct outbox {
    moving_item *all;
    long *from, *next;
    long unsent;
} outbox;

static long pending(const outbox *o, int rank) { return o->from[rank + 1] - o->next[rank]; }

/* The first rank behind `after` for which there are items left. */
static int next_receiver(const outbox *o, int after)
{
    for (int i = 1; i <= self.ranks; i++) {
        int rank = (after + i) % self.ranks;
        if (pending(o, rank) > 0)
            return rank;
    }
    return -1;
}

static void send_packet(outbox *o, int to, long most, MPI_Request *request)
{
    long count = pending(o, to) < most ? pending(o, to) : most;
    MPI_Isend(o->all + o->next[to], (int)(count * (long)sizeof(moving_item)), MPI_BYTE, to, PACKET,
              MPI_COMM_WORLD, request);
    o->next[to] += count;
    o->unsent -= count;
}

/* Receives a packet of at most `most` items and puts them in their places. Returns how many there were. */
static int receive_packet(moving_item *packet, int most, item *sorted, int *sender)
{
    MPI_Status status;
    int bytes;
    receive(packet, most * (int)sizeof *packet, MPI_ANY_SOURCE, PACKET, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    int count = bytes / (int)sizeof *packet;
    for (int i = 0; i < count; i++)
        sorted[packet[i].at] = packet[i].moved;
    *sender = status.MPI_SOURCE;
    return count;
}

/* Sends all items of the outbox, and receives `expected` items into their places in `sorted`. */
static void exchange(outbox *o, item *sorted, long expected)
{
    int smart = app_is(&self, "exchange", "smart"),
        most = (int)(app_long(&self, "packet") / (long)sizeof(moving_item));
    moving_item *packet = allocate((size_t)most, sizeof *packet);
    MPI_Request sending = MPI_REQUEST_NULL;
    int last_sender = -1, target = self.rank;
    while (o->unsent > 0 || expected > 0) {
        int sent = 1, arrived = 0;
        MPI_Test(&sending, &sent, MPI_STATUS_IGNORE);
        if (sent && o->unsent > 0) {
            if (smart && last_sender >= 0 && pending(o, last_sender) > 0)
                target = last_sender;
            else
                target = next_receiver(o, smart ? self.rank : target);
            send_packet(o, target, most, &sending);
            last_sender = -1;
        }
        if (expected == 0) {
            if (o->unsent > 0)
                MPI_Wait(&sending, MPI_STATUS_IGNORE);
            continue;
        }
        /* This rank may block in a receive only if it has nothing left to send. */
        if (o->unsent > 0)
            MPI_Iprobe(MPI_ANY_SOURCE, PACKET, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        if (o->unsent > 0 && !arrived)
            continue;
        expected -= receive_packet(packet, most, sorted, &last_sender);
    }
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    free(packet);
}

/* ---- a pass ---- */

/* The bits that one pass sorts by. */
typedef struct digit {
    int shift, bits;
} digit;

static int digit_of(digit d, item it) { return (int)(it.key >> d.shift & ((1u << d.bits) - 1)); }

/* Computes the place of each of this rank's n items among all items that are sorted by the digit. */
static void find_places(const item *items, long n, digit d, long *places)
{
    int values = 1 << d.bits;
    int64_t *mine = allocate((size_t)values, sizeof *mine),
            *counts = allocate((size_t)values, sizeof *counts);
    uint32_t **has_value = allocate((size_t)values, sizeof *has_value);
    for (int v = 0; v < values; v++) {
        has_value[v] = allocate((size_t)n, sizeof **has_value);
        for (long i = 0; i < n; i++) {
            has_value[v][i] = digit_of(d, items[i]) == v;
            mine[v] += has_value[v][i];
        }
        scan(has_value[v], n);
    }
    reduce(mine, counts, values, 0);
    multicast(counts, values, 0);
    int64_t *base = allocate((size_t)values, sizeof *base);
    for (int v = 1; v < values; v++)
        base[v] = base[v - 1] + counts[v - 1];
    for (long i = 0; i < n; i++) {
        int v = digit_of(d, items[i]);
        places[i] = (long)base[v] + (long)has_value[v][i] - 1;
    }
    for (int v = 0; v < values; v++)
        free(has_value[v]);
    free(has_value);
    free(mine);
    free(counts);
    free(base);
}

static outbox make_outbox(const int64_t *leaving)
{
    size_t ranks = (size_t)self.ranks;
    outbox o = {NULL, allocate(ranks + 1, sizeof(long)), allocate(ranks + 1, sizeof(long)), 0};
    for (size_t r = 0; r < ranks; r++) {
        o.from[r + 1] = o.from[r] + (long)leaving[r];
        o.next[r] = o.from[r];
        o.unsent += (long)leaving[r];
    }
    o.all = allocate((size_t)o.unsent, sizeof *o.all);
    return o;
}

static void pass(item *items, item *sorted, long n, long all, digit d)
{
    size_t ranks = (size_t)self.ranks;
    long *places = allocate((size_t)n, sizeof *places);
    int *to = allocate((size_t)n, sizeof *to);
    int64_t *leaving = allocate(ranks, sizeof *leaving), *arriving = allocate(ranks, sizeof *arriving);
    find_places(items, n, d, places);
    for (long i = 0; i < n; i++) {
        to[i] = owner_of(all, self.ranks, places[i]);
        leaving[to[i]] += to[i] != self.rank;
    }
    outbox o = make_outbox(leaving);
    for (long i = 0; i < n; i++) {
        uint32_t at = (uint32_t)(places[i] - first_of(all, self.ranks, to[i]));
        if (to[i] == self.rank)
            sorted[at] = items[i];
        else
            o.all[o.next[to[i]]++] = (moving_item){at, items[i]};
    }
    memcpy(o.next, o.from, ranks * sizeof *o.next);
    for (int r = 0; r < self.ranks; r++)
        reduce(&leaving[r], &arriving[r], 1, r);
    exchange(&o, sorted, (long)arriving[self.rank]);
    memcpy(items, sorted, (size_t)n * sizeof *items);
    MPI_Barrier(MPI_COMM_WORLD);
    void *allocated[] = {places, to, leaving, arriving, o.all, o.from, o.next};
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++)
        free(allocated[i]);
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

/* Rank 0 gathers all items and compares them with a sort of its own. Returns how many are wrong. */
static long compare(const item *items, long n, long all, uint64_t seed, int key_bits)
{
    int *sizes = allocate((size_t)self.ranks, sizeof *sizes),
        *places = allocate((size_t)self.ranks, sizeof *places);
    long wrong = 0;
    for (int r = 0; r < self.ranks; r++) {
        places[r] = (int)(first_of(all, self.ranks, r) * (long)sizeof(item));
        sizes[r] = (int)(first_of(all, self.ranks, r + 1) * (long)sizeof(item)) - places[r];
    }
    item *got = allocate(self.rank == 0 ? (size_t)all : 0, sizeof *got),
         *want = allocate(self.rank == 0 ? (size_t)all : 0, sizeof *want);
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
    app_size(&self, "packet", (long)sizeof(moving_item));
    /* The int displacements of MPI_Gatherv reach no more than 2^27 keys. */
    if (all > 1l << 27 || key_bits > 32 || bits > 8)
        app_refuse(&self, "at most n=2^27, key_bits=32 and bits=8 are possible");
    uint64_t seed = (uint64_t)app_long(&self, "seed");
    long first = first_of(all, self.ranks, self.rank), n = first_of(all, self.ranks, self.rank + 1) - first;
    item *items = allocate((size_t)n, sizeof *items), *sorted = allocate((size_t)n, sizeof *sorted);
    for (long i = 0; i < n; i++)
        items[i] = key_of(seed, key_bits, first + i);
    uint64_t start = start_together_ns();
    for (int shift = 0; shift < key_bits; shift += bits)
        pass(items, sorted, n, all, (digit){shift, bits < key_bits - shift ? bits : key_bits - shift});
    double seconds = (double)(now_ns() - start) / 1e9, waited = (double)receive_wait_ns / 1e9, all_waited = 0;
    MPI_Reduce(&waited, &all_waited, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    wait_for_all();
    long wrong = compare(items, n, all, seed, key_bits);
    free(items);
    free(sorted);
    return app_finish(&self, wrong == 0, seconds,
                      "n=%ld key_bits=%d bits=%d tree=%s exchange=%s receive_wait_s=%.6f", all, key_bits,
                      bits, app_text(&self, "tree"), app_text(&self, "exchange"), all_waited / self.ranks);
}
