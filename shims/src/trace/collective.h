/* Collectives, as a trace sees them: what this rank contributes, and what it gets. */
#ifndef EK_TRACE_COLLECTIVE_H
#define EK_TRACE_COLLECTIVE_H
#include "collective/arguments.h"
#include "trace/data.h"
#include "trace/neighbors.h"
#include "trace/state.h"

/* Kinds that the engine does not know, beside those of ek_kind. */
enum {
    EK_KIND_NEIGHBOR_ALLGATHER = 64,
    EK_KIND_NEIGHBOR_ALLGATHERV,
    EK_KIND_NEIGHBOR_ALLTOALL,
    EK_KIND_NEIGHBOR_ALLTOALLV,
    EK_KIND_NEIGHBOR_ALLTOALLW
};

/* The caller within the communicator. */
typedef struct ek_traced_collective {
    bool is_known; /* the rest is */
    bool is_inter;
    int rank, size;         /* in its group */
    int others;             /* ranks of the group that data go to and come from */
    ek_neighbors neighbors; /* of collectives of neighbours */
} ek_traced_collective;

/* Before the call: takes in what this rank contributes. */
void ek_trace_collective_begins(ek_traced_collective *, const ek_arguments *);

/* After it: takes in the result, or notes that it is taken in when the request is complete. */
void ek_trace_collective_over(const ek_traced_collective *, const ek_arguments *, int code);

/* After a call that makes a persistent one. */
void ek_trace_collective_made(const ek_arguments *, int code);

/* When a persistent one is started. */
void ek_trace_contribution(const ek_traced_blocks *);

/* When a nonblocking or persistent one is complete. */
void ek_trace_result(const ek_traced_blocks *);

#endif
