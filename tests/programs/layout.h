/* Derived datatypes of MPI_INT whose memory layout the program knows by itself, and communicators made in
 * every way whose members every rank of the world knows. */
#ifndef EVENKEEL_TESTS_LAYOUT_H
#define EVENKEEL_TESTS_LAYOUT_H
#include "check.h"

/* One instance holds `per` ints; int j of instance i lies at i * extent + offset[j]. */
typedef struct layout {
    MPI_Datatype type;
    int per, predefined;
    MPI_Aint extent, offset[6];
} layout;

enum { LAYOUTS = 9, UNIT = 12 /* every layout's `per` divides it */, MARGIN = 256 };

static layout make_layout(int which)
{
    layout l = {.per = 1, .extent = 4};
    int lengths[3], places[3];
    MPI_Aint bytes[3];
    MPI_Datatype inner, ints[2] = {MPI_INT, MPI_INT};
    switch (which) {
    case 0: l.type = MPI_INT, l.predefined = 1; return l;
    case 1: /* contiguous */
        MPI_Type_contiguous(3, MPI_INT, &l.type);
        l.per = 3, l.extent = 12, l.offset[1] = 4, l.offset[2] = 8;
        break;
    case 2: /* every third */
        MPI_Type_vector(2, 1, 3, MPI_INT, &l.type);
        l.per = 2, l.extent = 16, l.offset[1] = 12;
        break;
    case 3: /* pairs, with a hole behind the last */
        MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 48, &l.type);
        MPI_Type_free(&inner);
        l.per = 6, l.extent = 48;
        for (int i = 0; i < 6; i++)
            l.offset[i] = i / 2 * 16 + i % 2 * 4;
        break;
    case 4: /* the first int comes last in memory */
        lengths[0] = 1, lengths[1] = 2, places[0] = 4, places[1] = 0;
        MPI_Type_indexed(2, lengths, places, MPI_INT, &l.type);
        l.per = 3, l.extent = 20, l.offset[0] = 16, l.offset[1] = 0, l.offset[2] = 4;
        break;
    case 5: /* lower bound below zero */
        bytes[0] = -8, bytes[1] = 4;
        MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &l.type);
        l.per = 2, l.extent = 16, l.offset[0] = -8, l.offset[1] = 4;
        break;
    case 6: /* lower bound set below the data, upper bound above */
        MPI_Type_create_resized(MPI_INT, -4, 12, &l.type);
        l.extent = 12;
        break;
    case 7: /* a structure whose lower bound is above zero */
        lengths[0] = 1, lengths[1] = 2, bytes[0] = 4, bytes[1] = 12;
        MPI_Type_create_struct(2, lengths, bytes, ints, &inner);
        MPI_Type_dup(inner, &l.type);
        MPI_Type_free(&inner);
        l.per = 3, l.extent = 16, l.offset[0] = 4, l.offset[1] = 12, l.offset[2] = 16;
        break;
    default: { /* a 2 x 2 patch of a 3 x 4 array */
        int sizes[2] = {3, 4}, patch[2] = {2, 2}, starts[2] = {1, 1};
        MPI_Type_create_subarray(2, sizes, patch, starts, MPI_ORDER_C, MPI_INT, &l.type);
        l.per = 4, l.extent = 48, l.offset[0] = 20, l.offset[1] = 24, l.offset[2] = 36, l.offset[3] = 40;
    }
    }
    MPI_Type_commit(&l.type);
    return l;
}

static void drop_layout(layout *l)
{
    if (!l->predefined)
        MPI_Type_free(&l->type);
}

static int content(uint64_t step, int src, int dst, int k)
{
    return (int)(mix3(step, (uint64_t)(src * 64 + dst), (uint64_t)k) >> 33);
}

/* Writes the n ints that src sends to dst in `step`. */
static void put(unsigned char *at, const layout *l, int n, uint64_t step, int src, int dst)
{
    for (int k = 0; k < n; k++) {
        int v = content(step, src, dst, k % 1009);
        memcpy(at + k / l->per * l->extent + l->offset[k % l->per], &v, 4);
    }
}

/* ---- communicators ---- */

enum { RANKS_MAX = 32, COMMS_MAX = 14 };

typedef struct group {
    MPI_Comm comm;
    int n, members[RANKS_MAX], me; /* world ranks in the communicator's order; me: own rank in it or -1 */
} group;

static group groups[COMMS_MAX];
static int groups_count;

static void find_me(group *g)
{
    g->me = -1;
    for (int i = 0; i < g->n; i++)
        if (g->members[i] == world_rank)
            g->me = i;
}

static void keep(group g)
{
    find_me(&g);
    if (g.n == 0)
        return;
    if (g.me >= 0) {
        int size, rank;
        MPI_Comm_size(g.comm, &size);
        MPI_Comm_rank(g.comm, &rank);
        if (size != g.n || rank != g.me) {
            fail("a communicator of %d, rank %d, should have been of %d, rank %d", size, rank, g.n, g.me);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    groups[groups_count++] = g;
}

static int several_hosts;

enum {
    SPLIT,
    DUP,
    IDUP,
    DUP_WITH_INFO,
    CREATE,
    CREATE_GROUP,
    CART,
    CART_SUB,
    SPLIT_TYPE,
    MERGE,
    GRAPH,
    WAYS
};

/* Makes one or more communicators out of `base`; `shared` is in the same state on all ranks of the world.
 * Room for four must be left. */
static void make_communicators(const group *base, int way, rng *shared, int tag)
{
    uint64_t salt = draw(shared);
    group g = *base;
    int in = base->me >= 0, subset[RANKS_MAX], count = 0;
    g.comm = MPI_COMM_NULL;
    for (int i = 0; i < base->n; i++) /* a permuted subset */
        if (mix3(salt, 1, (uint64_t)i) % 4)
            subset[count++] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(mix3(salt, 2, (uint64_t)i) % (uint64_t)(i + 1)), t = subset[i];
        subset[i] = subset[j], subset[j] = t;
    }
    switch (way) {
    case SPLIT: {
        int colors = 1 + (int)(salt % 3), color[RANKS_MAX], key[RANKS_MAX];
        for (int i = 0; i < base->n; i++) {
            uint64_t h = mix3(salt, 3, (uint64_t)i);
            color[i] = h % 8 == 0 ? MPI_UNDEFINED : (int)(h / 8 % (uint64_t)colors),
            key[i] = (int)(h / 64 % 4);
        }
        MPI_Comm made = MPI_COMM_NULL;
        if (in)
            MPI_Comm_split(base->comm, color[base->me], key[base->me], &made);
        for (int c = 0; c < colors; c++) {
            g.n = 0;
            for (int k = 0; k < 4; k++)
                for (int i = 0; i < base->n; i++)
                    if (color[i] == c && key[i] == k)
                        g.members[g.n++] = base->members[i];
            g.comm = in && color[base->me] == c ? made : MPI_COMM_NULL;
            keep(g);
        }
        return;
    }
    case DUP:
        if (in)
            MPI_Comm_dup(base->comm, &g.comm);
        break;
    case IDUP:
        if (in) {
            MPI_Request request;
            MPI_Comm_idup(base->comm, &g.comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        break;
    case DUP_WITH_INFO:
        if (in)
            MPI_Comm_dup_with_info(base->comm, MPI_INFO_NULL, &g.comm);
        break;
    case CREATE:
    case CREATE_GROUP: {
        g.n = count;
        for (int i = 0; i < count; i++)
            g.members[i] = base->members[subset[i]];
        find_me(&g);
        if (in && count && (way == CREATE || g.me >= 0)) {
            MPI_Group all, some;
            MPI_Comm_group(base->comm, &all);
            MPI_Group_incl(all, count, subset, &some);
            if (way == CREATE)
                MPI_Comm_create(base->comm, some, &g.comm);
            else
                MPI_Comm_create_group(base->comm, some, tag, &g.comm);
            MPI_Group_free(&some);
            MPI_Group_free(&all);
        }
        break;
    }
    case CART: {
        int dims[2] = {base->n > 2 ? base->n - 1 : 1, 1}, periods[2] = {1, 0};
        g.n = dims[0];
        if (in)
            MPI_Cart_create(base->comm, 2, dims, periods, 0, &g.comm);
        break;
    }
    case CART_SUB: {
        int rows = base->n % 2 ? 1 : 2, dims[2] = {rows, base->n / rows}, periods[2] = {0, 0},
            remain[2] = {0, 1};
        MPI_Comm grid, row = MPI_COMM_NULL;
        if (in) {
            MPI_Cart_create(base->comm, 2, dims, periods, 0, &grid);
            MPI_Cart_sub(grid, remain, &row);
            MPI_Comm_free(&grid);
        }
        for (int r = 0; r < rows; r++) {
            g.n = dims[1];
            memcpy(g.members, base->members + r * dims[1], sizeof(int) * (size_t)dims[1]);
            g.comm = in && base->me / dims[1] == r ? row : MPI_COMM_NULL;
            keep(g);
        }
        return;
    }
    case SPLIT_TYPE: /* across hosts nobody knows here who shares one */
        if (in && several_hosts)
            MPI_Comm_split(base->comm, 0, 0, &g.comm);
        else if (in)
            MPI_Comm_split_type(base->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &g.comm);
        break;
    case MERGE: { /* even and odd ranks, joined by an intercommunicator, the odd ones first */
        if (base->n < 2)
            return;
        g.n = 0;
        for (int odd = 1; odd >= 0; odd--)
            for (int i = odd; i < base->n; i += 2)
                g.members[g.n++] = base->members[i];
        if (in) {
            MPI_Comm half, bridge;
            MPI_Comm_split(base->comm, base->me % 2, 0, &half);
            MPI_Intercomm_create(half, 0, base->comm, base->me % 2 ? 0 : 1, tag, &bridge);
            MPI_Intercomm_merge(bridge, base->me % 2 == 0, &g.comm);
            MPI_Comm_free(&bridge);
            MPI_Comm_free(&half);
        }
        break;
    }
    default:
        if (in) {
            int next = (base->me + 1) % base->n, before = (base->me + base->n - 1) % base->n;
            MPI_Dist_graph_create_adjacent(base->comm, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, &g.comm);
        }
    }
    keep(g);
}

static void drop_communicator(int which)
{
    if (groups[which].me >= 0)
        MPI_Comm_free(&groups[which].comm);
    groups[which] = groups[--groups_count];
}
#endif
