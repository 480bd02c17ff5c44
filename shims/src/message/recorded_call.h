/* What a report says about point-to-point calls: how long they take, and, where the host carries the message,
 * what is sent and which rank is waited for. Nothing is recorded, and next to no time spent, unless a report
 * is to be written.
 *
 * MPI does not say which rank a call has waited for. It is the one that is sent to or received from; if
 * several requests are waited for, it is the peer of the one that is complete last. */
#ifndef EK_MESSAGE_RECORDED_CALL_H
#define EK_MESSAGE_RECORDED_CALL_H
#include "process/communicator.h"
#include "process/state.h"

typedef struct ek_recorded_call {
    uint64_t began; /* 0: the call is not recorded, and nothing else is set */
    bool is_wait;   /* the host may wait in it, for rank `peer` of the world; negative: not known */
    bool is_other;  /* it has nothing to do with messages */
    int peer;
    /* Of a receive from any rank; else NULL. */
    const ek_comm_entry *comm;
    const MPI_Status *status;
    MPI_Status own_status; /* if the program wants none */
} ek_recorded_call;

/* The slow parts of what follows. */
void ek_recorded_call_start(ek_recorded_call *);
void ek_recorded_call_finish(ek_recorded_call *);

static inline void ek_recorded_call_begin(ek_recorded_call *c)
{
    c->began = 0;
    if (EK_UNLIKELY(ek_process.records_messages) && ek_depth == 0)
        ek_recorded_call_start(c);
}

static inline void ek_recorded_call_end(ek_recorded_call *c)
{
    if (EK_UNLIKELY(c->began != 0))
        ek_recorded_call_finish(c);
}

/* Records the call until the end of the block, also if it ends by a C++ exception. */
#define EK_RECORDED_CALL                                                      \
    ek_recorded_call recorded __attribute__((cleanup(ek_recorded_call_end))); \
    ek_recorded_call_begin(&recorded)

/* Whether the call is recorded. What follows is for calls that are, and that the host carries out. */
#define EK_IS_RECORDED EK_UNLIKELY(recorded.began != 0)

/* ---- messages: before the call ---- */

/* Counts a message. */
void ek_record_sent(MPI_Count count, MPI_Datatype, int dest, MPI_Comm);

/* Counts a message of a call that waits until it is sent. */
void ek_record_send(ek_recorded_call *, MPI_Count count, MPI_Datatype, int dest, MPI_Comm);

/* A call that waits for a message. It gets a status in any case. */
void ek_record_receive(ek_recorded_call *, int source, MPI_Comm, MPI_Status **);

/* ---- requests ---- */

/* After the call that has made a request. A persistent send has so many elements. */
void ek_record_send_request(int dest, MPI_Comm, MPI_Request);
void ek_record_send_init(MPI_Count count, MPI_Datatype, int dest, MPI_Comm, MPI_Request);
void ek_record_receive_request(int source, MPI_Comm, MPI_Request);

/* Persistent requests have been started. */
void ek_record_starts(int count, const MPI_Request *);

/* The program frees a request. */
void ek_record_freed(MPI_Request);

/* The requests of a call that completes some of them, as they were before. */
enum { EK_FEW_RECORDED = 64 };
typedef struct ek_recorded_requests {
    int count;
    MPI_Request *handles; /* `few`, or allocated */
    MPI_Request few[EK_FEW_RECORDED];
} ek_recorded_requests;

/* Before the call. */
void ek_record_requests(ek_recorded_call *, ek_recorded_requests *, int count, const MPI_Request *);

/* Before a call that waits for one of the requests; it gets a status in any case. After it: the one that is
 * complete (negative: none), and its status if there is one. */
void ek_record_wait(ek_recorded_call *, MPI_Status **);
void ek_record_ended_by(ek_recorded_call *, const ek_recorded_requests *, int index, const MPI_Status *);

/* Before a call that waits for all requests, and in its place, to see which is complete last. */
void ek_record_wait_for_all(ek_recorded_call *, const ek_recorded_requests *);

/* After the call: forgets the requests that the program has no more. */
void ek_record_completed(ek_recorded_requests *, const MPI_Request *);

#endif
