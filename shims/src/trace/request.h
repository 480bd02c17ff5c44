/* Requests of a program that is traced: receives, persistent sends, and collectives. */
#ifndef EK_TRACE_REQUEST_H
#define EK_TRACE_REQUEST_H
#include "trace/data.h"
#include "trace/state.h"

typedef struct ek_traced_request {
    MPI_Request handle;
    bool receives;
    bool is_persistent, is_active; /* what is not persistent is active */
    bool is_numbered;              /* it has a number in the trace */
    bool is_wild;                  /* it named no source or no tag */
    bool is_settled;               /* it is known what became of it */
    bool is_cancelled;             /* the program has asked for that */
    bool is_freed;                 /* the program has no handle any more */
    /* Of a repetition: it was posted where nothing is sent, since it got no message in the recorded run. */
    bool is_nowhere;
    bool was_cancelled; /* in the recorded run */
    uint64_t number;
    ek_traced_type elements; /* held */
    /* What a persistent request starts. */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool owns_type;
    int peer, tag;
    MPI_Comm comm;
    /* Of a repetition: what a persistent receive has started, as its source differs each time. */
    MPI_Request inner;
    ek_traced_blocks *contribution; /* of a persistent collective */
    ek_traced_blocks *result;       /* of a collective */
    struct ek_traced_request *next;
} ek_traced_request;

/* NULL: there is nothing to know about the request. */
ek_traced_request *ek_traced_request_of(MPI_Request);

/* Makes an entry; NULL if there is no memory. An older one with the same handle is gone. */
ek_traced_request *ek_traced_request_add(MPI_Request);
void ek_traced_request_remove(ek_traced_request *);

/* Whether there is any. */
bool ek_traced_requests_exist(void);

/* Calls `visit` for each request. It may remove that request. */
void ek_traced_requests_visit(void (*visit)(ek_traced_request *));

#endif
