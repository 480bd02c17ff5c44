/* Collectives of random datatypes, byte by byte against an interpretation of their type maps.
 *
 *   random_layout_collectives [rounds=1000] [first=0] [seed=1] [reversed=1] [alone=0]
 *
 * Ranks send and receive the same bytes in two layouts. Nonblocking ones are freed while they are under way,
 * and their handles are used again.
 *
 * reversed=0: without types that Open MPI takes for others.
 *
 * alone=1: the library carries the collectives out by itself. Both layouts are then the same, as libraries
 * cannot do with different ones what MPI allows, and what they move wrongly is counted as deviations. There
 * are no reductions, in which some libraries crash. */
#include "random_types.h"

enum { MOST_BYTES = 12000, DEEPEST = 3, MOST_RANKS = 8 };
enum {
    BCAST,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    SCAN,
    KINDS
};

/* How one rank's data lie: blocks of so many elements at each rank's place. */
typedef struct side {
    layout l;    /* of one block */
    layout many; /* of room for the blocks of all ranks, with elements between them */
    int step;    /* elements from block to block */
} side;

static uint64_t checks, deviations;
static int library_is_alone;
static const layout *reduced; /* what the operator is called for */

/* Adds byte by byte. */
static void add_bytes(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < reduced->used; k++) {
            MPI_Aint at = i * reduced->extent + reduced->entries[k].at;
            for (int b = 0; b < reduced->entries[k].bytes; b++)
                ((unsigned char *)inout)[at + b] += ((unsigned char *)in)[at + b];
        }
}

/* Whether any two of so many elements are in the same place, and how far they reach. */
static void stretch(layout *l, int count)
{
    MPI_Aint low = l->entries[0].at, high = low;
    for (int k = 0; k < l->used; k++) {
        MPI_Aint end = l->entries[k].at + l->entries[k].bytes;
        low = l->entries[k].at < low ? l->entries[k].at : low;
        high = end > high ? end : high;
    }
    MPI_Aint last = (count - 1) * l->extent;
    l->size = l->size / l->count * count;
    l->count = count;
    l->low = low + (last < 0 ? last : 0);
    l->high = high + (last > 0 ? last : 0);
    l->overlaps = has_overlaps(l);
}

static void make_side(side *s, int gap)
{
    s->step = s->l.count + gap;
    s->many = s->l;
    stretch(&s->many, s->step * world_size);
}

static int greatest_divisor(int a, int b) { return b ? greatest_divisor(b, a % b) : a; }

/* Two layouts of the same bytes. The second one can be received. */
static void make_sides(rng *r, side *a, side *b)
{
    base_type base = random_base(r);
    for (;;) {
        while (!random_layout(r, base, DEEPEST, 1, MOST_BYTES, &b->l))
            ;
        make_side(b, below(r, 3));
        if (!b->many.overlaps && (b->many.high - b->many.low) < 400000) {
            *a = *b;
            a->l.entries = NULL;
            if (library_is_alone) {
                a->l.entries = malloc(sizeof(entry) * (size_t)b->l.used);
                memcpy(a->l.entries, b->l.entries, sizeof(entry) * (size_t)b->l.used);
                MPI_Type_dup(b->l.type, &a->l.type);
                a->many.entries = a->l.entries;
                return;
            }
            if (random_layout(r, base, DEEPEST, 1, MOST_BYTES, &a->l)) {
                int of_a = a->l.size / a->l.count, of_b = b->l.size / b->l.count,
                    g = greatest_divisor(of_a, of_b);
                int all = of_a / g * of_b;
                if (all <= MOST_BYTES) {
                    int times = 1 + below(r, MOST_BYTES / all > 3 ? 3 : MOST_BYTES / all);
                    stretch(&a->l, all / of_a * times);
                    stretch(&b->l, all / of_b * times);
                    make_side(a, below(r, 3));
                    make_side(b, below(r, 3));
                    if (!b->many.overlaps && a->many.high - a->many.low < 400000 &&
                        b->many.high - b->many.low < 400000)
                        return;
                }
                drop_layout(&a->l);
            }
        }
        drop_layout(&b->l);
    }
}

/* The bytes of a rank's block. */
static void pack_block(const side *s, const memory *m, int block, unsigned char *to)
{
    pack(&s->l, m->start + (MPI_Aint)block * s->step * s->l.extent, to);
}

static void unpack_block(const side *s, const unsigned char *bytes, int block, const memory *m)
{
    unpack(&s->l, bytes, s->l.size, m->start + (MPI_Aint)block * s->step * s->l.extent);
}

static void unpack_elements(const side *s, const unsigned char *bytes, int block, const memory *m)
{
    unpack(&s->l, bytes, s->l.size, m->start + (MPI_Aint)block * s->l.count * s->l.extent);
}

typedef struct round_data {
    side *out, *in;
    memory source, place, right;
    int kind, root, in_place, nonblocking;
    MPI_Op op;
    uint64_t seed;
} round_data;

static MPI_Aint block_bytes(const side *s) { return (MPI_Aint)s->step * s->l.extent; }

/* Blocks of vector collectives are `step` elements apart, those of others follow each other. */
static int has_steps(int kind) { return kind >= GATHERV && kind <= ALLTOALLW; }

/* The side that the program receives is what all ranks sent. In place, the rank's own block is there. */
static void put_right(round_data *d, int from, int block, int to_block)
{
    unsigned char *bytes = malloc((size_t)d->out->l.size);
    int is_own_in_place = d->in_place;
    const side *s = is_own_in_place ? d->in : d->out;
    memory theirs = allocate(&s->many, d->seed + (uint64_t)from * 2 + (uint64_t)is_own_in_place);
    if (has_steps(d->kind) || block == 0)
        pack_block(s, &theirs, block, bytes);
    else
        pack(&s->l, theirs.start + (MPI_Aint)block * s->l.count * s->l.extent, bytes);
    if (has_steps(d->kind))
        unpack_block(d->in, bytes, to_block, &d->right);
    else
        unpack_elements(d->in, bytes, to_block, &d->right);
    free(theirs.block);
    free(bytes);
}

static void put_sum(round_data *d, int ranks)
{
    unsigned char *sum = calloc(1, (size_t)d->out->l.size), *bytes = malloc((size_t)d->out->l.size);
    for (int r = 0; r < ranks; r++) {
        memory theirs = allocate(&d->out->many, d->seed + (uint64_t)r * 2 + (uint64_t)d->in_place);
        pack_block(d->out, &theirs, 0, bytes);
        for (int i = 0; i < d->out->l.size; i++)
            sum[i] += bytes[i];
        free(theirs.block);
    }
    unpack_elements(d->in, sum, 0, &d->right);
    free(sum);
    free(bytes);
}

static void expect_all(round_data *d)
{
    int me = world_rank, n = world_size, is_root = me == d->root;
    switch (d->kind) {
    case BCAST:
        if (!is_root)
            put_right(d, d->root, 0, 0);
        return;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
        if (is_root || d->kind == ALLGATHER || d->kind == ALLGATHERV)
            for (int r = 0; r < n; r++)
                put_right(d, r, d->in_place ? r : 0, r);
        return;
    case SCATTER:
    case SCATTERV: put_right(d, d->root, me, 0); return;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        for (int r = 0; r < n; r++)
            put_right(d, r, me, r);
        return;
    case REDUCE:
        if (is_root)
            put_sum(d, n);
        return;
    case ALLREDUCE: put_sum(d, n); return;
    default: put_sum(d, me + 1);
    }
}

/* Starts or carries out the collective. */
#define CALL(name, nonblocking_name, ...)                                            \
    do {                                                                             \
        if (d->nonblocking)                                                          \
            EXPECT_OK(MPI_##nonblocking_name(__VA_ARGS__, MPI_COMM_WORLD, request)); \
        else                                                                         \
            EXPECT_OK(MPI_##name(__VA_ARGS__, MPI_COMM_WORLD));                      \
    } while (0)

static void call(round_data *d, MPI_Request *request)
{
    static int out_counts[MOST_RANKS], in_counts[MOST_RANKS], out_at[MOST_RANKS], in_at[MOST_RANKS];
    static int out_bytes[MOST_RANKS], in_bytes[MOST_RANKS];
    static MPI_Datatype out_types[MOST_RANKS], in_types[MOST_RANKS];
    const layout *o = &d->out->l, *i = &d->in->l;
    int root = d->root, is_root = world_rank == root;
    const void *from =
        d->in_place && (d->kind >= ALLGATHER && d->kind != GATHERV && d->kind != SCATTERV && d->kind != REDUCE
                            ? 1
                            : is_root)
            ? MPI_IN_PLACE
            : d->source.start;
    void *to = d->place.start;
    for (int r = 0; r < world_size; r++) {
        out_counts[r] = o->count, in_counts[r] = i->count;
        out_at[r] = r * d->out->step, in_at[r] = r * d->in->step;
        out_bytes[r] = (int)(r * block_bytes(d->out)), in_bytes[r] = (int)(r * block_bytes(d->in));
        out_types[r] = o->type, in_types[r] = i->type;
    }
    switch (d->kind) {
    case BCAST:
        if (is_root)
            CALL(Bcast, Ibcast, d->source.start, o->count, o->type, root);
        else
            CALL(Bcast, Ibcast, to, i->count, i->type, root);
        return;
    case GATHER: CALL(Gather, Igather, from, o->count, o->type, to, i->count, i->type, root); return;
    case SCATTER:
        CALL(Scatter, Iscatter, d->source.start, o->count, o->type, to, i->count, i->type, root);
        return;
    case ALLGATHER: CALL(Allgather, Iallgather, from, o->count, o->type, to, i->count, i->type); return;
    case ALLTOALL: CALL(Alltoall, Ialltoall, from, o->count, o->type, to, i->count, i->type); return;
    case GATHERV:
        CALL(Gatherv, Igatherv, from, o->count, o->type, to, in_counts, in_at, i->type, root);
        return;
    case SCATTERV:
        CALL(Scatterv, Iscatterv, d->source.start, out_counts, out_at, o->type, to, i->count, i->type, root);
        return;
    case ALLGATHERV:
        CALL(Allgatherv, Iallgatherv, from, o->count, o->type, to, in_counts, in_at, i->type);
        return;
    case ALLTOALLV:
        CALL(Alltoallv, Ialltoallv, from, out_counts, out_at, o->type, to, in_counts, in_at, i->type);
        return;
    case ALLTOALLW:
        CALL(Alltoallw, Ialltoallw, from, out_counts, out_bytes, out_types, to, in_counts, in_bytes,
             in_types);
        return;
    case REDUCE: CALL(Reduce, Ireduce, from, to, i->count, i->type, d->op, root); return;
    case ALLREDUCE: CALL(Allreduce, Iallreduce, from, to, i->count, i->type, d->op); return;
    default: CALL(Scan, Iscan, from, to, i->count, i->type, d->op);
    }
}

static void reuse_handles(side *a, side *b)
{
    MPI_Datatype other[2];
    char three[24] = {0};
    MPI_Type_free(&a->l.type);
    MPI_Type_free(&b->l.type);
    for (int i = 0; i < 2; i++) {
        MPI_Type_vector(3, 1, 2, MPI_INT, &other[i]);
        MPI_Type_commit(&other[i]);
        MPI_Sendrecv_replace(three, 1, other[i], 0, 9, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++)
        MPI_Type_free(&other[i]);
}

static void test_round(uint64_t seed, long number, MPI_Op op)
{
    rng r = {mix3(seed, (uint64_t)number, 3)};
    side a, b;
    make_sides(&r, &a, &b);
    round_data d = {.seed = mix3(seed, (uint64_t)number, 4), .op = op};
    int can_swap = !a.many.overlaps, is_swapped = one_in(&r, 2);
    d.kind = below(&r, library_is_alone ? REDUCE : KINDS);
    d.root = below(&r, world_size);
    d.nonblocking = one_in(&r, 2);
    int is_reduction = d.kind >= REDUCE, frees = one_in(&r, 2);
    d.in_place = one_in(&r, 4) && d.kind != BCAST && d.kind != SCATTER && d.kind != SCATTERV;
    int rooted = d.kind == GATHER || d.kind == GATHERV || d.kind == REDUCE;
    d.out = is_reduction ? &b : can_swap && is_swapped ? &b : &a;
    d.in = is_reduction ? &b : d.out == &a ? &b : &a;
    if (d.in_place && rooted) /* only at the root: all send what a root in place would have */
        d.out = d.in = &b;
    d.source = allocate(&d.out->many, d.seed + (uint64_t)world_rank * 2 + (uint64_t)(d.in_place && rooted));
    d.place = allocate(&d.in->many, d.seed + (uint64_t)world_rank * 2 + 1);
    d.right = allocate(&d.in->many, d.seed + (uint64_t)world_rank * 2 + 1);
    if (d.in_place && rooted && !is_reduction) { /* rank r's block is its r-th one */
        unsigned char *bytes = malloc((size_t)b.l.size);
        if (has_steps(d.kind))
            pack_block(&b, &d.source, world_rank, bytes);
        else
            pack(&b.l, d.source.start + (MPI_Aint)world_rank * b.l.count * b.l.extent, bytes);
        unpack(&b.l, bytes, b.l.size, d.source.start);
        free(bytes);
    }
    reduced = &b.l;
    MPI_Request request = MPI_REQUEST_NULL;
    expect_all(&d);
    call(&d, &request);
    if (d.nonblocking && frees && !library_is_alone) {
        reuse_handles(&a, &b);
        a.l.type = b.l.type = MPI_DATATYPE_NULL;
    }
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (memcmp(d.place.block, d.right.block, d.place.bytes)) {
        if (library_is_alone)
            deviations++;
        else
            fail("round %ld: other bytes (kind %d, root %d, in place %d, nonblocking %d, freed %d, %d bytes)",
                 number, d.kind, d.root, d.in_place, d.nonblocking, frees, d.in->l.size);
    }
    checks++;
    free(d.source.block);
    free(d.place.block);
    free(d.right.block);
    drop_layout(&a.l);
    drop_layout(&b.l);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    begin(&argc, &argv);
    long rounds = number(argc, argv, "rounds", 1000), first = number(argc, argv, "first", 0);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    library_is_alone = (int)number(argc, argv, "alone", 0);
    may_be_reversed = (int)number(argc, argv, "reversed", 1);
    MPI_Op_create(add_bytes, 1, &op);
    for (long i = first; i < first + rounds; i++)
        test_round(seed, i, op);
    MPI_Op_free(&op);
    printf("rank %d deviations %llu\n", world_rank, (unsigned long long)deviations);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
