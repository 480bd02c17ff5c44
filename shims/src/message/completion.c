#include "message/completion.h"
#include "collective/nonblocking.h"
#include "gate/deferral.h"
#include "gate/host_requests.h"
#include "host/status.h"
#include "process/errors.h"
#include "process/faults.h"
#include "process/host_looks.h"

static bool are_hosts(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (ek_message_request_of(requests[i]))
            return false;
    return true;
}

bool ek_wait_is_declined(int count, const MPI_Request *requests)
{
    return are_hosts(count, requests) && !ek_messages_need_progress();
}

bool ek_test_is_declined(int count, const MPI_Request *requests)
{
    if (!are_hosts(count, requests))
        return false;
    EK_OPEN_GATE_SCOPE;
    ek_messages_progress();
    return true;
}

/* ---- one request ---- */

static ek_look complete_own(ek_message_request *r, MPI_Request *request, MPI_Status *status,
                            bool learns_order, int *error)
{
    if (r->state == EK_INACTIVE) {
        ek_status_set_empty(status);
        return EK_NOTHING_TO_COMPLETE;
    }
    bool is_complete = ek_message_request_is_complete(r, learns_order);
    if (!is_complete && !ek_message_request_gives_up(r))
        return EK_NOT_COMPLETE;
    *error = ek_message_request_finish(r, request, status);
    if (!is_complete)
        *error = ek_error_class(EK_REVOKED);
    return EK_COMPLETED;
}

ek_look ek_mpi_request_complete(MPI_Request *request, MPI_Status *status, bool learns_order, int *error)
{
    *error = MPI_SUCCESS;
    if (*request == ek_handles.request_null) {
        ek_status_set_empty(status);
        return EK_NOTHING_TO_COMPLETE;
    }
    ek_message_request *r = ek_message_request_of(*request);
    if (r)
        return complete_own(r, request, status, learns_order, error);
    int flag = 0;
    EK_HOST_TESTS_SCOPE;
    ek_depth++;
    *error = ek_host.Test(request, &flag, status);
    ek_depth--;
    if (!*error && !flag)
        return EK_NOT_COMPLETE;
    ek_host_requests_completed(1);
    return EK_COMPLETED;
}

bool ek_mpi_request_is_active(MPI_Request request)
{
    const ek_message_request *r = ek_message_request_of(request);
    return r ? r->state == EK_ACTIVE : request != ek_handles.request_null;
}

int ek_mpi_requests_active(int count, const MPI_Request *requests)
{
    int active = 0;
    for (int i = 0; i < count; i++)
        active += ek_mpi_request_is_active(requests[i]);
    return active;
}

bool ek_mpi_request_is_complete(MPI_Request request)
{
    const ek_message_request *r = ek_message_request_of(request);
    if (r)
        return ek_message_request_is_complete(r, true);
    int flag = 0;
    EK_HOST_TESTS_SCOPE;
    ek_depth++;
    int code = ek_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    ek_depth--;
    return code || flag; /* an error is reported when the request is completed */
}

int ek_mpi_request_get_status(MPI_Request request, MPI_Status *status)
{
    const ek_message_request *r = ek_message_request_of(request);
    if (r) {
        ek_message_request_get_status(r, status);
        return MPI_SUCCESS;
    }
    int flag;
    EK_HOST_TESTS_SCOPE;
    return ek_host.Request_get_status(request, &flag, status);
}

void ek_mpi_requests_wait_begin(int count, const MPI_Request *requests)
{
    ek_collectives_set_awaited(count, requests, true);
    ek_message_wait_begin();
}

void ek_mpi_requests_wait_end(int count, const MPI_Request *requests)
{
    ek_message_wait_end();
    ek_collectives_set_awaited(count, requests, false);
}

void ek_mpi_requests_pause(int count, const MPI_Request *requests)
{
    ek_also_awaited also = EK_ALSO_AWAITED_NOTHING;
    for (int i = 0; i < count && also != EK_ALSO_AWAITED_HOST; i++) {
        const ek_message_request *r = ek_message_request_of(requests[i]);
        if (!r && requests[i] != ek_handles.request_null)
            also = EK_ALSO_AWAITED_HOST;
        else if (r && ((r->in.message && r->in.message->done) || (r->out.message && r->out.message->done)))
            also = EK_ALSO_AWAITED_BARRIER;
    }
    ek_message_wait_pause(also);
    ek_collectives_poll();
}

/* ---- errors ---- */

ek_error_source ek_error_source_of(MPI_Request request)
{
    const ek_message_request *r = ek_message_request_of(request);
    return r ? (ek_error_source){true, r->comm, r->entry} : (ek_error_source){false, ek_handles.world, NULL};
}

int ek_raise_error_of(const ek_error_source *source, int error)
{
    return error && source->is_ours ? ek_raise_checked(source->comm, source->entry, error) : error;
}

void ek_errors_note(ek_errors *errors, const ek_error_source *source, int error, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
    if (error && !errors->any)
        *errors = (ek_errors){true, *source};
}

int ek_errors_raise(const ek_errors *errors)
{
    if (!errors->any)
        return MPI_SUCCESS;
    return ek_raise_checked(errors->first.comm, errors->first.entry, MPI_ERR_IN_STATUS);
}
