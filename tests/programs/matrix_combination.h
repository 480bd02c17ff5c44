/* What matrix.c tries: one combination of operation, datatype, operator, size, root, in place, and form. */
#ifndef EVENKEEL_TESTS_MATRIX_COMBINATION_H
#define EVENKEEL_TESTS_MATRIX_COMBINATION_H
#include "types.h"

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};
static const char *kind_names[KINDS] = {
    "barrier",  "bcast",     "reduce",    "allreduce",      "gather",
    "gatherv",  "scatter",   "scatterv",  "allgather",      "allgatherv",
    "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan"};
static const size_t size_classes[] = {0, 1, 24, 40, 48, 56, 64, 200, 1024, 5000, 32768, 102400, 1000000};
enum { SIZES = sizeof size_classes / sizeof *size_classes, FORMS = 4, RANKS_MAX = 64 };

/* Forms: 0 blocking, 1 nonblocking, 2 and 3 the same with large counts. */
typedef struct combination {
    int kind, type, op, root, in_place, form;
    size_t bytes; /* of a block: of what one rank contributes, or sends to one other */
    uint64_t seed;
} combination;

static int is_reduction(int kind) { return kind == REDUCE || kind == ALLREDUCE || kind >= REDUCE_SCATTER; }

static int is_rooted(int kind)
{
    return kind == BCAST || kind == REDUCE || (kind >= GATHER && kind <= SCATTERV);
}

/* Has the buffer of some rank a block for every rank? */
static int has_block_per_rank(int kind)
{
    return kind == ALLTOALL || kind == ALLTOALLV || kind == ALLTOALLW || kind == ALLGATHER ||
           kind == ALLGATHERV || kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK;
}
#endif
