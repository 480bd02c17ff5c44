/* Waiting and testing where some requests are for messages of ours and others may be the host's. */
#ifndef EVENKEEL_COMPLETION_H
#define EVENKEEL_COMPLETION_H
#include "message/message.h"

/* What a look at one request has found. */
enum ek_found { EK_NOT_DONE, EK_DONE, EK_NOTHING /* null or inactive */ };

/* Completes one request if it may be. `error`: its error, not raised if it is ours (`ours` then says so). */
enum ek_found ek_try(MPI_Request *, MPI_Status *, bool choose, int *error, ek_transfer **ours);
/* Pauses once in a wait for these. */
void ek_requests_pause(int count, const MPI_Request *);

/* The transfer may have been handed out again meanwhile, its communicator has not. */
static inline int ek_raised(MPI_Comm comm, ek_entry *e, bool ours, int code)
{
    return code && ours ? ek_raise(comm, e, code) : code;
}

/* Whether such a call is for us: there is a request of ours among them, or messages need us to move on while
 * we wait. */
static inline bool ek_concerns(int count, const MPI_Request *requests, bool waits)
{
    for (int i = 0; i < count; i++)
        if (ek_transfer_of(requests[i]))
            return true;
    return waits && ek_messages_incomplete();
}

static inline MPI_Status *ek_status_of(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Errors of several requests: each in its status, the call's own to the error handler of the first. */
typedef struct ek_errors {
    bool any;
    MPI_Comm comm;
    ek_entry *e;
} ek_errors;
void ek_note_outcome(ek_errors *, MPI_Status *, int error, const MPI_Comm *, ek_entry *);
int ek_several(const ek_errors *);

#endif
