/* Collectives, as a trace sees them: what this rank contributes, and what it gets. */
#ifndef EK_TRACE_COLLECTIVE_H
#define EK_TRACE_COLLECTIVE_H
#include "collective/arguments.h"
#include "trace/data.h"
#include "trace/state.h"

/* The caller within the communicator. */
typedef struct ek_traced_collective {
    bool is_known; /* the rest is */
    bool is_inter;
    int rank, size; /* in its group */
    int others;     /* ranks of the group that data go to and come from */
} ek_traced_collective;

/* Before the call: takes in what this rank contributes. */
void ek_trace_collective_begins(ek_traced_collective *, const ek_arguments *);

/* After it: takes in the result, or notes that it is taken in when the request is complete. */
void ek_trace_collective_over(const ek_traced_collective *, const ek_arguments *, int code);

/* Takes in the result of a nonblocking one. */
void ek_trace_result(const ek_traced_result *);

#endif
