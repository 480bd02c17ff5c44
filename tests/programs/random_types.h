/* Random nested datatypes, each with an interpretation of its type map that no library has a part in, but for
 * bounds: libraries align structures differently, so lower bounds and extents are asked for. */
#ifndef EVENKEEL_TESTS_RANDOM_TYPES_H
#define EVENKEEL_TESTS_RANDOM_TYPES_H
#include "check.h"

enum { MOST_ENTRIES = 16000 };

typedef struct entry {
    MPI_Aint at;
    int bytes;
} entry;

/* A datatype, and the map of one element in the order of packing. */
typedef struct mapped_type {
    MPI_Datatype type;
    MPI_Aint lower, extent;
    entry *entries;
    int used;
    int is_too_large; /* not all entries are there */
} mapped_type;

typedef struct base_type {
    MPI_Datatype type;
    int bytes;
} base_type;

/* Whether MPI_Type_vector(n, k, -k) may be. Open MPI takes it for n * k elements in ascending order. */
static int may_be_reversed = 1;

/* The base of types with elements of different predefined types. */
static const base_type MIXED = {(MPI_Datatype)0, 0};

static inline base_type random_base(rng *r)
{
    const base_type all[] = {{MPI_BYTE, 1},
                             {MPI_SHORT, 2},
                             {MPI_INT, 4},
                             {MPI_DOUBLE, 8},
                             {MPI_INT, 4},
                             {MPI_CHAR, 1},
                             {MPI_C_DOUBLE_COMPLEX, 16}};
    return all[below(r, 7)];
}

/* ---- maps ---- */

static inline void add_entry(mapped_type *t, MPI_Aint at, int bytes)
{
    if (t->used == MOST_ENTRIES) {
        t->is_too_large = 1;
        return;
    }
    if ((t->used & (t->used - 1)) == 0)
        t->entries = realloc(t->entries, sizeof(entry) * (size_t)(t->used ? 2 * t->used : 1));
    t->entries[t->used++] = (entry){at, bytes};
}

/* So many elements from a displacement on. */
static inline void add_block(mapped_type *t, const mapped_type *inner, MPI_Aint at, int count)
{
    t->is_too_large |= inner->is_too_large;
    for (int i = 0; i < count && !t->is_too_large; i++)
        for (int k = 0; k < inner->used; k++)
            add_entry(t, at + i * inner->extent + inner->entries[k].at, inner->entries[k].bytes);
}

static inline void ask_for_bounds(mapped_type *t) { MPI_Type_get_extent(t->type, &t->lower, &t->extent); }

static inline void free_mapped(mapped_type *t)
{
    if (t->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&t->type);
    free(t->entries);
    t->entries = NULL;
}

static inline void true_bounds(const mapped_type *t, MPI_Aint *low, MPI_Aint *high)
{
    *low = t->used ? t->entries[0].at : 0;
    *high = *low;
    for (int i = 0; i < t->used; i++) {
        MPI_Aint end = t->entries[i].at + t->entries[i].bytes;
        *low = t->entries[i].at < *low ? t->entries[i].at : *low;
        *high = end > *high ? end : *high;
    }
}

static inline MPI_Aint magnitude(MPI_Aint x) { return x < 0 ? -x : x; }

/* ---- types ---- */

static inline mapped_type make_type(rng *r, base_type base, int depth);

static inline mapped_type make_leaf(rng *r, base_type base)
{
    mapped_type t = {.type = MPI_DATATYPE_NULL}, one = {.type = MPI_DATATYPE_NULL};
    if (!base.bytes && one_in(r, 4)) { /* a value and an int, probably with a hole */
        const base_type pairs[] = {{MPI_DOUBLE_INT, 8}, {MPI_SHORT_INT, 2}, {MPI_LONG_INT, 8}};
        base = pairs[below(r, 3)];
        add_entry(&one, 0, base.bytes);
        add_entry(&one, base.bytes < 4 ? 4 : base.bytes, 4);
    } else {
        base = base.bytes ? base : random_base(r);
        add_entry(&one, 0, base.bytes);
    }
    MPI_Type_get_extent(base.type, &one.lower, &one.extent);
    int count = 1 + below(r, 3);
    MPI_Type_contiguous(count, base.type, &t.type);
    add_block(&t, &one, 0, count);
    free(one.entries);
    ask_for_bounds(&t);
    return t;
}

static inline mapped_type make_struct(rng *r, base_type base, int depth)
{
    mapped_type t = {.type = MPI_DATATYPE_NULL}, inner[4];
    int n = 1 + below(r, 4), lengths[4], is_descending = one_in(r, 4);
    MPI_Aint displacements[4], at = below(r, 3) * 8 - 8, low, high;
    MPI_Datatype types[4];
    for (int i = 0; i < n; i++) {
        inner[i] = make_type(r, base, depth - 1);
        types[i] = inner[i].type;
        lengths[i] = below(r, 4);
        true_bounds(&inner[i], &low, &high);
        MPI_Aint span = high - low + magnitude(inner[i].extent) * lengths[i] + below(r, 3) * 8;
        displacements[i] = is_descending ? at - span - low : at - low;
        at += is_descending ? -span : span;
    }
    MPI_Type_create_struct(n, lengths, displacements, types, &t.type);
    for (int i = 0; i < n; i++) {
        add_block(&t, &inner[i], displacements[i], lengths[i]);
        free_mapped(&inner[i]);
    }
    return t;
}

/* Which indices of a dimension a process has, as MPI distributes it; returns how many. */
static inline int distributed(int kind, int argument, int size, int processes, int process, int *indices)
{
    int n = 0, block = argument;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = kind == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    for (int i = 0; i < size; i++)
        if (kind == MPI_DISTRIBUTE_NONE || i / block % processes == process)
            indices[n++] = i;
    return n;
}

/* The elements at these indices of each dimension of an array, in the order of the array. */
static inline void add_elements(mapped_type *t, const mapped_type *inner, int n, int order, const int *sizes,
                                const int *counts, int indices[3][6])
{
    int all = 1;
    for (int d = 0; d < n; d++)
        all *= counts[d];
    for (int i = 0; i < all; i++) {
        MPI_Aint place = 0, step = 1;
        for (int k = 0, rest = i; k < n; k++) { /* from the dimension that changes fastest on */
            int d = order == MPI_ORDER_C ? n - 1 - k : k;
            place += indices[d][rest % counts[d]] * step;
            rest /= counts[d];
            step *= sizes[d];
        }
        add_block(t, inner, place * inner->extent, 1);
    }
}

static inline mapped_type make_array(rng *r, const mapped_type *inner)
{
    mapped_type t = {.type = MPI_DATATYPE_NULL};
    int sizes[3], parts[3], starts[3], kinds[3], arguments[3], grid[3], indices[3][6];
    int n = 1 + below(r, 3), order = one_in(r, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, is_darray = one_in(r, 3);
    int processes = 1;
    if (!inner->used) { /* Open MPI 4 refuses some arrays of nothing */
        MPI_Type_dup(inner->type, &t.type);
        return t;
    }
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(r, 6);
        parts[i] = 1 + below(r, sizes[i]);
        starts[i] = below(r, sizes[i] - parts[i] + 1);
        const int any[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
        kinds[i] = any[below(r, 3)];
        grid[i] = kinds[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(r, 2);
        arguments[i] = kinds[i] == MPI_DISTRIBUTE_CYCLIC && sizes[i] > 3 && one_in(r, 2)
                           ? 1 + below(r, 2)
                           : MPI_DISTRIBUTE_DFLT_DARG;
        if (sizes[i] < grid[i]) /* Open MPI 4 refuses parts without elements */
            grid[i] = 1;
        processes *= grid[i];
    }
    int rank = below(r, processes);
    if (is_darray) {
        for (int i = n - 1, rest = rank; i >= 0; rest /= grid[i], i--)
            parts[i] = distributed(kinds[i], arguments[i], sizes[i], grid[i], rest % grid[i], indices[i]);
        MPI_Type_create_darray(processes, rank, n, sizes, kinds, arguments, grid, order, inner->type,
                               &t.type);
    } else {
        for (int i = 0; i < n; i++)
            for (int k = 0; k < parts[i]; k++)
                indices[i][k] = starts[i] + k;
        MPI_Type_create_subarray(n, sizes, parts, starts, order, inner->type, &t.type);
    }
    add_elements(&t, inner, n, order, sizes, parts, indices);
    return t;
}

static inline mapped_type make_indexed(rng *r, const mapped_type *inner, int kind)
{
    mapped_type t = {.type = MPI_DATATYPE_NULL};
    int n = 1 + below(r, 12), lengths[12], places[12], at = below(r, 3) - 1, length = 1 + below(r, 3);
    MPI_Aint displacements[12], extent = magnitude(inner->extent);
    for (int i = 0; i < n; i++) {
        lengths[i] = kind < 2 ? below(r, 4) : length;
        places[i] = at;
        displacements[i] = (MPI_Aint)at * (extent ? extent : 8);
        at += lengths[i] + below(r, 3);
    }
    if (one_in(r, 3)) /* in descending order */
        for (int i = 0; i < n / 2; i++) {
            int l = lengths[i], p = places[i];
            MPI_Aint d = displacements[i];
            lengths[i] = lengths[n - 1 - i], places[i] = places[n - 1 - i];
            displacements[i] = displacements[n - 1 - i];
            lengths[n - 1 - i] = l, places[n - 1 - i] = p, displacements[n - 1 - i] = d;
        }
    int is_by_bytes = kind % 2;
    switch (kind) {
    case 0: MPI_Type_indexed(n, lengths, places, inner->type, &t.type); break;
    case 1: MPI_Type_create_hindexed(n, lengths, displacements, inner->type, &t.type); break;
    case 2: MPI_Type_create_indexed_block(n, length, places, inner->type, &t.type); break;
    default: MPI_Type_create_hindexed_block(n, length, displacements, inner->type, &t.type);
    }
    for (int i = 0; i < n; i++)
        add_block(&t, inner, is_by_bytes ? displacements[i] : places[i] * inner->extent, lengths[i]);
    return t;
}

static inline void make_strided(rng *r, mapped_type *t, const mapped_type *inner, int is_by_bytes)
{
    int blocks = 1 + below(r, 9), length = 1 + below(r, 3);
    int stride = (length + below(r, 3)) * (one_in(r, 3) ? -1 : 1);
    if (!may_be_reversed && stride == -length)
        stride--;
    MPI_Aint bytes = is_by_bytes ? length * inner->extent + below(r, 4) * 8 : stride * inner->extent;
    if (is_by_bytes)
        MPI_Type_create_hvector(blocks, length, bytes, inner->type, &t->type);
    else
        MPI_Type_vector(blocks, length, stride, inner->type, &t->type);
    for (int i = 0; i < blocks; i++)
        add_block(t, inner, i * bytes, length);
}

static inline mapped_type make_type(rng *r, base_type base, int depth)
{
    mapped_type t = {.type = MPI_DATATYPE_NULL};
    MPI_Aint low, high;
    if (depth == 0)
        return make_leaf(r, base);
    int kind = below(r, 11), count = below(r, 5);
    if (kind == 0) {
        t = make_struct(r, base, depth);
        ask_for_bounds(&t);
        return t;
    }
    mapped_type inner = make_type(r, base, depth - 1);
    switch (kind) {
    case 1:
        MPI_Type_contiguous(count, inner.type, &t.type);
        add_block(&t, &inner, 0, count);
        break;
    case 2: make_strided(r, &t, &inner, 0); break;
    case 3: make_strided(r, &t, &inner, 1); break;
    case 4:
        true_bounds(&inner, &low, &high);
        MPI_Type_create_resized(inner.type, one_in(r, 3) ? -8 : 0, high + below(r, 4) * 8, &t.type);
        add_block(&t, &inner, 0, 1);
        break;
    case 5:
        MPI_Type_dup(inner.type, &t.type);
        add_block(&t, &inner, 0, 1);
        break;
    case 6: t = make_array(r, &inner); break;
    default: t = make_indexed(r, &inner, kind - 7);
    }
    free_mapped(&inner);
    ask_for_bounds(&t);
    return t;
}

/* ---- elements in memory ---- */

/* Some elements of a committed type. */
typedef struct layout {
    MPI_Datatype type;
    int count, size, base_bytes;
    MPI_Aint extent, low, high; /* of all elements */
    int overlaps;
    int used;
    entry *entries; /* of one element; owned by who made the layout */
} layout;

typedef struct memory {
    unsigned char *block, *start; /* where displacement 0 of the first element is */
    size_t bytes;
} memory;

static inline memory allocate(const layout *l, uint64_t seed)
{
    enum { GUARD = 4096 };
    memory m;
    m.bytes = (size_t)(l->high - l->low) + 2 * GUARD;
    m.block = malloc(m.bytes);
    m.start = m.block + GUARD - l->low;
    for (size_t i = 0; i < m.bytes; i++)
        m.block[i] = (unsigned char)((seed + i) * 0x9fb21c651e98df25u >> 40);
    return m;
}

/* As the type map says. */
static inline void pack(const layout *l, const unsigned char *elements, unsigned char *to)
{
    for (int i = 0; i < l->count; i++)
        for (int k = 0; k < l->used; to += l->entries[k++].bytes)
            memcpy(to, elements + i * l->extent + l->entries[k].at, (size_t)l->entries[k].bytes);
}

/* The first bytes of what the elements pack. */
static inline void unpack(const layout *l, const unsigned char *from, int bytes, unsigned char *elements)
{
    for (int i = 0; i < l->count && bytes > 0; i++)
        for (int k = 0; k < l->used && bytes > 0; k++) {
            int part = l->entries[k].bytes < bytes ? l->entries[k].bytes : bytes;
            memcpy(elements + i * l->extent + l->entries[k].at, from, (size_t)part);
            from += part, bytes -= part;
        }
}

static inline int has_overlaps(const layout *l)
{
    size_t bytes = (size_t)(l->high - l->low) + 1, sum = 0;
    unsigned char *place = calloc(1, bytes), *ones = malloc((size_t)l->size + 1);
    memset(ones, 1, (size_t)l->size);
    unpack(l, ones, l->size, place - l->low);
    for (size_t i = 0; i < bytes; i++)
        sum += place[i];
    free(place);
    free(ones);
    return sum != (size_t)l->size;
}

/* Some elements of a type, whose size is at least `fewest` and at most `most` bytes in all. Returns false if
 * this type is of no use. */
static inline int random_layout(rng *r, base_type base, int deepest, int fewest, int most, layout *l)
{
    mapped_type t = make_type(r, base, 1 + below(r, deepest));
    MPI_Aint low, high;
    true_bounds(&t, &low, &high);
    *l = (layout){.type = t.type,
                  .count = one_in(r, 3) ? 1 : 1 + below(r, 6),
                  .base_bytes = base.bytes,
                  .extent = t.extent,
                  .used = t.used,
                  .entries = t.entries};
    for (int i = 0; i < t.used; i++)
        l->size += t.entries[i].bytes;
    MPI_Aint last = (l->count - 1) * t.extent;
    l->low = low + (last < 0 ? last : 0);
    l->high = high + (last > 0 ? last : 0);
    l->size *= l->count;
    if (t.is_too_large || l->size < fewest || l->size > most || l->high - l->low > 4 * (MPI_Aint)most) {
        free_mapped(&t);
        return 0;
    }
    MPI_Type_commit(&l->type);
    l->overlaps = has_overlaps(l);
    return 1;
}

static inline void drop_layout(layout *l)
{
    if (l->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&l->type);
    free(l->entries);
}

/* ---- what the library says ---- */

static inline void pack_by_library(const layout *l, const unsigned char *elements, unsigned char *to)
{
    int position = 0;
    if (l->size)
        EXPECT_OK(MPI_Pack(elements, l->count, l->type, to, l->size, &position, MPI_COMM_SELF));
}

static inline void unpack_by_library(const layout *l, unsigned char *from, int bytes, unsigned char *elements)
{
    int position = 0;
    if (bytes)
        EXPECT_OK(MPI_Unpack(from, bytes, &position, elements, l->count, l->type, MPI_COMM_SELF));
}
#endif
