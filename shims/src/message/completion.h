/* What waits and tests for requests have in common, where some requests are evenkeel's and others may be the
 * host's.
 */
#ifndef EK_MESSAGE_COMPLETION_H
#define EK_MESSAGE_COMPLETION_H
#include "message/request.h"

/* Whether such a call is left to the host: no request is evenkeel's. A wait is evenkeel's also if messages
 * need this rank to move on meanwhile; a test moves them on before it is left to the host. */
bool ek_wait_is_declined(int count, const MPI_Request *);
bool ek_test_is_declined(int count, const MPI_Request *);

/* What a look at one request has found. */
typedef enum ek_look {
    EK_NOT_COMPLETE,
    EK_COMPLETED,
    EK_NOTHING_TO_COMPLETE, /* it is null or inactive */
} ek_look;

/* Where an error of a request is to be raised. Known before it is completed: afterwards the request may have
 * been obtained for something else. */
typedef struct ek_error_source {
    bool is_ours; /* else the host has raised it */
    MPI_Comm comm;
    ek_comm_entry *entry;
} ek_error_source;
ek_error_source ek_error_source_of(MPI_Request);

/* Completes a request if it may be. `learns_order`: see ek_message_is_complete. `error`: an MPI error code,
 * not raised if the request is evenkeel's. */
ek_look ek_mpi_request_complete(MPI_Request *, MPI_Status *, bool learns_order, int *error);

/* Raises such an error if that is left to do, and returns it. */
int ek_raise_error_of(const ek_error_source *, int error);

/* Pauses once in a wait for these. */
void ek_mpi_requests_pause(int count, const MPI_Request *);

/* How many requests are neither null nor inactive. Which of several is complete first tells the program
 * something about order; that the only one is complete does not. */
int ek_mpi_requests_active(int count, const MPI_Request *);
bool ek_mpi_request_is_active(MPI_Request);

/* Whether a request is complete, without completing it, as a program sees it that tests. */
bool ek_mpi_request_is_complete(MPI_Request);

/* As MPI_Request_get_status leaves the status of a complete one; an MPI error code. */
int ek_mpi_request_get_status(MPI_Request, MPI_Status *);

static inline MPI_Status *ek_status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Errors of several requests: each goes to its status, and the call's own to the error handler of the first.
 */
typedef struct ek_errors {
    bool any;
    ek_error_source first;
} ek_errors;
void ek_errors_note(ek_errors *, const ek_error_source *, int error, MPI_Status *);
int ek_errors_raise(const ek_errors *);

#endif
