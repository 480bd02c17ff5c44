/* Communicators made by every function that MPI has for it. Every rank of the world knows the members of
 * each, also of those that it does not belong to. */
#ifndef EVENKEEL_TESTS_COMMUNICATORS_H
#define EVENKEEL_TESTS_COMMUNICATORS_H
#include "check.h"

enum { RANKS_MAX = 32, COMMS_MAX = 14 };

typedef struct group {
    MPI_Comm comm;
    int n, members[RANKS_MAX], me; /* world ranks in the communicator's order; me: own rank in it or -1 */
} group;

static group groups[COMMS_MAX];
static int groups_count;
static int several_hosts;

static void find_me(group *g)
{
    g->me = -1;
    for (int i = 0; i < g->n; i++)
        if (g->members[i] == world_rank)
            g->me = i;
}

/* Adds a communicator to the list, after a check that it has the members that it should have. */
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

/* Ranks of `base` in a random order, about three quarters of them. Returns how many. */
static int choose_subset(const group *base, uint64_t salt, int *subset)
{
    int count = 0;
    for (int i = 0; i < base->n; i++)
        if (mix3(salt, 1, (uint64_t)i) % 4)
            subset[count++] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(mix3(salt, 2, (uint64_t)i) % (uint64_t)(i + 1)), t = subset[i];
        subset[i] = subset[j], subset[j] = t;
    }
    return count;
}

static void make_by_split(const group *base, uint64_t salt)
{
    int is_in = base->me >= 0, colors = 1 + (int)(salt % 3), color[RANKS_MAX], key[RANKS_MAX];
    group g = *base;
    for (int i = 0; i < base->n; i++) {
        uint64_t h = mix3(salt, 3, (uint64_t)i);
        color[i] = h % 8 == 0 ? MPI_UNDEFINED : (int)(h / 8 % (uint64_t)colors);
        key[i] = (int)(h / 64 % 4);
    }
    MPI_Comm made = MPI_COMM_NULL;
    if (is_in)
        MPI_Comm_split(base->comm, color[base->me], key[base->me], &made);
    for (int c = 0; c < colors; c++) {
        g.n = 0;
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < base->n; i++)
                if (color[i] == c && key[i] == k)
                    g.members[g.n++] = base->members[i];
        g.comm = is_in && color[base->me] == c ? made : MPI_COMM_NULL;
        keep(g);
    }
}

static void make_by_dup(const group *base)
{
    group g = *base;
    g.comm = MPI_COMM_NULL;
    if (base->me >= 0)
        MPI_Comm_dup(base->comm, &g.comm);
    keep(g);
}

static void make_by_idup(const group *base)
{
    group g = *base;
    g.comm = MPI_COMM_NULL;
    if (base->me >= 0) {
        MPI_Request request;
        MPI_Comm_idup(base->comm, &g.comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    keep(g);
}

static void make_by_dup_with_info(const group *base)
{
    group g = *base;
    g.comm = MPI_COMM_NULL;
    if (base->me >= 0)
        MPI_Comm_dup_with_info(base->comm, MPI_INFO_NULL, &g.comm);
    keep(g);
}

/* MPI_Comm_create is collective over `base`, MPI_Comm_create_group over the new group alone. */
static void make_of_subset(const group *base, uint64_t salt, int by_members_only, int tag)
{
    int subset[RANKS_MAX], count = choose_subset(base, salt, subset);
    group g = {.comm = MPI_COMM_NULL, .n = count};
    for (int i = 0; i < count; i++)
        g.members[i] = base->members[subset[i]];
    find_me(&g);
    if (base->me >= 0 && count && (!by_members_only || g.me >= 0)) {
        MPI_Group all, some;
        MPI_Comm_group(base->comm, &all);
        MPI_Group_incl(all, count, subset, &some);
        if (by_members_only)
            MPI_Comm_create_group(base->comm, some, tag, &g.comm);
        else
            MPI_Comm_create(base->comm, some, &g.comm);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
    }
    keep(g);
}

static void make_by_cart_create(const group *base)
{
    int dims[2] = {base->n > 2 ? base->n - 1 : 1, 1}, periods[2] = {1, 0};
    group g = *base;
    g.comm = MPI_COMM_NULL, g.n = dims[0];
    if (base->me >= 0)
        MPI_Cart_create(base->comm, 2, dims, periods, 0, &g.comm);
    keep(g);
}

static void make_by_cart_sub(const group *base)
{
    int rows = base->n % 2 ? 1 : 2, dims[2] = {rows, base->n / rows}, periods[2] = {0, 0};
    int remain[2] = {0, 1}, is_in = base->me >= 0;
    MPI_Comm grid, row = MPI_COMM_NULL;
    group g = *base;
    if (is_in) {
        MPI_Cart_create(base->comm, 2, dims, periods, 0, &grid);
        MPI_Cart_sub(grid, remain, &row);
        MPI_Comm_free(&grid);
    }
    for (int r = 0; r < rows; r++) {
        g.n = dims[1];
        memcpy(g.members, base->members + r * dims[1], sizeof(int) * (size_t)dims[1]);
        g.comm = is_in && base->me / dims[1] == r ? row : MPI_COMM_NULL;
        keep(g);
    }
}

/* With several hosts this would split by host, and a rank does not know here which ranks share one. */
static void make_by_split_type(const group *base)
{
    group g = *base;
    g.comm = MPI_COMM_NULL;
    if (base->me >= 0 && several_hosts)
        MPI_Comm_split(base->comm, 0, 0, &g.comm);
    else if (base->me >= 0)
        MPI_Comm_split_type(base->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &g.comm);
    keep(g);
}

/* Even and odd ranks, joined by an intercommunicator and merged, the odd ones first. */
static void make_by_merge(const group *base, int tag)
{
    group g = {.comm = MPI_COMM_NULL};
    if (base->n < 2)
        return;
    for (int odd = 1; odd >= 0; odd--)
        for (int i = odd; i < base->n; i += 2)
            g.members[g.n++] = base->members[i];
    if (base->me >= 0) {
        MPI_Comm half, bridge;
        MPI_Comm_split(base->comm, base->me % 2, 0, &half);
        MPI_Intercomm_create(half, 0, base->comm, base->me % 2 ? 0 : 1, tag, &bridge);
        MPI_Intercomm_merge(bridge, base->me % 2 == 0, &g.comm);
        MPI_Comm_free(&bridge);
        MPI_Comm_free(&half);
    }
    keep(g);
}

static void make_by_graph(const group *base)
{
    group g = *base;
    g.comm = MPI_COMM_NULL;
    if (base->me >= 0) {
        int next = (base->me + 1) % base->n, before = (base->me + base->n - 1) % base->n;
        MPI_Dist_graph_create_adjacent(base->comm, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &g.comm);
    }
    keep(g);
}

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
    CONSTRUCTORS
};

/* Makes one or more communicators out of `base`; `shared` is in the same state on all ranks of the world.
 * Room for four must be left. */
static void make_communicators(const group *base, int constructor, rng *shared, int tag)
{
    uint64_t salt = draw(shared);
    switch (constructor) {
    case SPLIT: make_by_split(base, salt); break;
    case DUP: make_by_dup(base); break;
    case IDUP: make_by_idup(base); break;
    case DUP_WITH_INFO: make_by_dup_with_info(base); break;
    case CREATE: make_of_subset(base, salt, 0, tag); break;
    case CREATE_GROUP: make_of_subset(base, salt, 1, tag); break;
    case CART: make_by_cart_create(base); break;
    case CART_SUB: make_by_cart_sub(base); break;
    case SPLIT_TYPE: make_by_split_type(base); break;
    case MERGE: make_by_merge(base, tag); break;
    default: make_by_graph(base);
    }
}

static void free_communicator(int which)
{
    if (groups[which].me >= 0)
        MPI_Comm_free(&groups[which].comm);
    groups[which] = groups[--groups_count];
}
#endif
