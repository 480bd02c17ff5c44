/* Sends, receives and requests for them, as a trace sees them. All functions are for calls that are traced.
 */
#ifndef EK_TRACE_MESSAGE_H
#define EK_TRACE_MESSAGE_H
#include "trace/request.h"

/* Before a send of any kind. */
void ek_trace_send(const void *buf, MPI_Count count, MPI_Datatype, int dest, int tag);

/* A blocking receive. */
typedef struct ek_traced_receive {
    bool is_wild;
    uint64_t number;
    MPI_Status *status, own;
} ek_traced_receive;

/* Before it: it gets a status in any case, and in a repetition the recorded source and tag. */
void ek_trace_receive(ek_traced_receive *, int *source, int *tag, MPI_Status **);

/* Before a receive of what a matched probe has taken out. */
void ek_trace_receive_matched(ek_traced_receive *, MPI_Status **);

/* After it. */
void ek_trace_received(const ek_traced_receive *, int code, const void *buf, MPI_Datatype);

/* A probe has found a message. */
void ek_trace_found(const MPI_Status *);

/* ---- nonblocking receives ---- */

typedef struct ek_traced_post {
    bool is_from_nobody; /* from MPI_PROC_NULL: nothing is to be known about it */
    bool is_wild;
    bool is_nowhere; /* of a repetition: it is posted where nothing is sent */
    ek_trace_posted posted;
} ek_traced_post;

/* Before the receive is posted. `comm` NULL: it cannot be posted elsewhere. */
void ek_trace_post_receive(ek_traced_post *, int *source, int *tag, MPI_Comm *comm);

/* After it: the request. */
void ek_trace_receive_posted(const ek_traced_post *, int code, MPI_Request, void *buf, MPI_Datatype);

/* After MPI_Imrecv. */
void ek_trace_matched_receive_started(int code, MPI_Request, void *buf, MPI_Datatype);

/* ---- persistent requests ---- */

void ek_trace_send_made(int code, MPI_Request, const void *buf, MPI_Count count, MPI_Datatype, int dest,
                        int tag);

/* Before and after MPI_Recv_init. */
void ek_trace_make_receive(ek_traced_request *, void *buf, MPI_Count count, MPI_Datatype, int *source,
                           int *tag, MPI_Comm *);
void ek_trace_receive_made(const ek_traced_request *, int code, MPI_Request);

int ek_traced_start(MPI_Request *);
int ek_traced_startall(int count, MPI_Request *);

/* ---- any request ---- */

/* The program learns what became of a request, which stays as it is. */
void ek_trace_learn(ek_traced_request *, const MPI_Status *);

/* The same, and the request is over. */
void ek_trace_settle(ek_traced_request *, const MPI_Status *);

int ek_traced_cancel(MPI_Request *);
int ek_traced_request_free(MPI_Request *);

/* In MPI_Finalize: what became of receives that the program has not completed. */
void ek_trace_settle_all(void);

#endif
