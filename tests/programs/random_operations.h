/* The operations of random.c and the sizes of their blocks. */
#ifndef EVENKEEL_TESTS_RANDOM_OPERATIONS_H
#define EVENKEEL_TESTS_RANDOM_OPERATIONS_H
#include "communicators.h"
#include "random_requests.h"

enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    OPERATIONS
};
static const char *operation_names[] = {"barrier",
                                        "bcast",
                                        "gather",
                                        "gatherv",
                                        "scatter",
                                        "scatterv",
                                        "allgather",
                                        "allgatherv",
                                        "alltoall",
                                        "alltoallv",
                                        "alltoallw",
                                        "reduce",
                                        "allreduce",
                                        "scan",
                                        "exscan",
                                        "reduce_scatter",
                                        "reduce_scatter_block"};

/* One call that all members of a communicator make. */
typedef struct random_call {
    const group *g;
    int kind, root, base, in_place, blocking, user_operator;
} random_call;

/* Sizes of blocks, in units of UNIT ints (48 bytes). */
static const int sizes[] = {0, 1, 1, 2, 2, 5, 10, 100, 1000, 1000, 8000};

static int random_size(rng *shared) { return sizes[below(shared, sizeof sizes / sizeof *sizes)]; }

/* Units from one rank to another in operations with varying counts. */
static int varying_units(uint64_t step, int from, int to, int base)
{
    return base ? (int)(mix3(step, (uint64_t)(from * 64 + to), 3) % (uint64_t)(base + 1)) : 0;
}
#endif
