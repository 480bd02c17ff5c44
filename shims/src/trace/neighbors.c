#include "trace/neighbors.h"
#include <stdlib.h>

static int *ranks;
static size_t room;

/* NULL if there is no memory. */
static int *ranks_for(int count)
{
    size_t needed = count > 0 ? (size_t)count : 1;
    if (needed > room) {
        int *larger = realloc(ranks, needed * sizeof *ranks);
        if (!larger)
            return NULL;
        ranks = larger;
        room = needed;
    }
    return ranks;
}

static bool all_are(ek_neighbors *n, int count, const int *all)
{
    *n = (ek_neighbors){.sources = count, .destinations = count, .source = all, .destination = all};
    return true;
}

/* Two in each dimension, the one before this rank first. */
static bool of_grid(MPI_Comm comm, ek_neighbors *n)
{
    int dimensions, *all;
    if (ek_host.Cartdim_get(comm, &dimensions) || !(all = ranks_for(2 * dimensions)))
        return false;
    for (int d = 0; d < dimensions; d++)
        if (ek_host.Cart_shift(comm, d, 1, &all[2 * d], &all[2 * d + 1]))
            return false;
    return all_are(n, 2 * dimensions, all);
}

static bool of_graph(MPI_Comm comm, ek_neighbors *n)
{
    int rank, count, *all;
    if (ek_host.Comm_rank(comm, &rank) || ek_host.Graph_neighbors_count(comm, rank, &count) ||
        !(all = ranks_for(count)) || ek_host.Graph_neighbors(comm, rank, count, all))
        return false;
    return all_are(n, count, all);
}

static bool of_distributed_graph(MPI_Comm comm, ek_neighbors *n)
{
    int sources, destinations, weighted, *all;
    if (ek_host.Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted) ||
        !(all = ranks_for(2 * (sources + destinations))))
        return false;
    int *const to = all + sources, *const weights = to + destinations;
    if (ek_host.Dist_graph_neighbors(comm, sources, all, weights, destinations, to, weights + sources))
        return false;
    *n = (ek_neighbors){.sources = sources, .destinations = destinations, .source = all, .destination = to};
    return true;
}

bool ek_neighbors_find(MPI_Comm comm, ek_neighbors *n)
{
    int kind = MPI_UNDEFINED;
    if (comm == ek_handles.comm_null || ek_host.Topo_test(comm, &kind))
        return false;
    switch (kind) {
    case MPI_CART: return of_grid(comm, n);
    case MPI_GRAPH: return of_graph(comm, n);
    case MPI_DIST_GRAPH: return of_distributed_graph(comm, n);
    default: return false;
    }
}
