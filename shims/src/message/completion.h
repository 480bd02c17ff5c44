/* What waits and tests for requests have in common, where some requests are evenkeel's and others may be
 * the host's. */
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

/* Where an error of a request is to be raised. To be found out before the request is completed: afterwards it
 * may serve something else. */
typedef struct ek_error_source {
    bool is_ours; /* else the host has raised it */
    MPI_Comm comm;
    ek_comm_entry *entry;
} ek_error_source;
ek_error_source ek_error_source_of(MPI_Request);

/* Completes a request if it may be completed. `learns_order`: see ek_message_is_complete. `error` becomes an
 * MPI error code, which the caller has to raise if the request is evenkeel's (ek_raise_error_of). */
ek_look ek_mpi_request_complete(MPI_Request *, MPI_Status *, bool learns_order, int *error);

/* Raises an error that the host has not raised, and returns it. */
int ek_raise_error_of(const ek_error_source *, int error);

/* Begins a wait for these, pauses once in it, and ends it. */
void ek_mpi_requests_wait_begin(int count, const MPI_Request *);
void ek_mpi_requests_pause(int count, const MPI_Request *);
void ek_mpi_requests_wait_end(int count, const MPI_Request *);

/* How many requests are neither null nor inactive. Which of several is complete first tells the program
 * something about order; that the only one is complete does not. */
int ek_mpi_requests_active(int count, const MPI_Request *);
bool ek_mpi_request_is_active(MPI_Request);

/* Whether a request is complete, as seen by a program that tests. It is not completed. */
bool ek_mpi_request_is_complete(MPI_Request);

/* Fills in the status of a complete request as MPI_Request_get_status does. Returns an MPI error code. */
int ek_mpi_request_get_status(MPI_Request, MPI_Status *);

static inline MPI_Status *ek_status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Errors of several requests. Each is put into its status; the error of the whole call goes to the error
 * handler of the first. */
typedef struct ek_errors {
    bool any;
    ek_error_source first;
} ek_errors;
void ek_errors_note(ek_errors *, const ek_error_source *, int error, MPI_Status *);
int ek_errors_raise(const ek_errors *);

#endif
