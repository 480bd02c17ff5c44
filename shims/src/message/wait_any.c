#include "message/wait_any.h"
#include "collective/nonblocking.h"
#include "host/status.h"
#include "message/completion.h"
#include "message/poll.h"
#include "process/call_line.h"

/* ---- any ---- */

/* What was completed. */
typedef struct found {
    int index, error;
    ek_error_source source;
} found;

static bool complete_any(int count, MPI_Request *requests, MPI_Status *status, bool learns_order, found *f)
{
    for (int i = 0; i < count; i++) {
        if (!ek_mpi_request_is_active(requests[i]))
            continue;
        f->index = i;
        f->source = ek_error_source_of(requests[i]);
        if (ek_mpi_request_complete(&requests[i], status, learns_order, &f->error) == EK_COMPLETED)
            return true;
    }
    return false;
}

int ek_try_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (ek_wait_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    int active = ek_mpi_requests_active(count, requests);
    if (!active) {
        *index = MPI_UNDEFINED;
        ek_status_set_empty(status);
        return MPI_SUCCESS;
    }
    found f;
    if (!complete_any(count, requests, status, active > 1, &f)) {
        EK_IN_CALL("MPI_Waitany", 0, EK_NONE, EK_NONE);
        ek_mpi_requests_wait_begin(count, requests);
        do
            ek_mpi_requests_pause(count, requests);
        while (!complete_any(count, requests, status, active > 1, &f));
        ek_mpi_requests_wait_end(count, requests);
    }
    *index = f.index;
    return ek_raise_error_of(&f.source, f.error);
}

int ek_try_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    found f;
    int rounds = EK_POLL_FIRST;
    *index = MPI_UNDEFINED;
    if (!ek_mpi_requests_active(count, requests)) {
        *flag = 1;
        ek_status_set_empty(status);
        return MPI_SUCCESS;
    }
    ek_collectives_poll();
    do
        *flag = complete_any(count, requests, status, true, &f);
    while (!*flag && ek_poll_again("MPI_Testany", &rounds));
    if (!*flag)
        return MPI_SUCCESS;
    *index = f.index;
    return ek_raise_error_of(&f.source, f.error);
}

/* The first request that is active and complete; -1: none is. */
static int first_complete(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (ek_mpi_request_is_active(requests[i]) && ek_mpi_request_is_complete(requests[i]))
            return i;
    return -1;
}

static int poll_first(const char *name, int count, const MPI_Request *requests)
{
    int index, rounds = EK_POLL_FIRST;
    do
        index = first_complete(count, requests);
    while (index < 0 && ek_poll_again(name, &rounds));
    return index;
}

int ek_try_request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                                  MPI_Status *status)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    *index = MPI_UNDEFINED;
    if (!ek_mpi_requests_active(count, requests)) {
        *flag = 1;
        ek_status_set_empty(status);
        return MPI_SUCCESS;
    }
    int first = poll_first("MPI_Request_get_status_any", count, requests);
    *flag = first >= 0;
    if (!*flag)
        return MPI_SUCCESS;
    *index = first;
    return ek_mpi_request_get_status(requests[first], status);
}

/* ---- some ---- */

/* How many were completed. */
static int complete_some(int count, MPI_Request *requests, int *indices, MPI_Status *statuses,
                         bool learns_order, ek_errors *errors)
{
    int completed = 0;
    for (int i = 0; i < count; i++) {
        if (!ek_mpi_request_is_active(requests[i]))
            continue;
        int error;
        const ek_error_source source = ek_error_source_of(requests[i]);
        MPI_Status *status = ek_status_at(statuses, completed);
        if (ek_mpi_request_complete(&requests[i], status, learns_order, &error) != EK_COMPLETED)
            continue;
        indices[completed++] = i;
        ek_errors_note(errors, &source, error, status);
    }
    return completed;
}

int ek_try_waitsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    if (ek_wait_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_errors errors = {0};
    int active = ek_mpi_requests_active(count, requests);
    if (!active) {
        *completed = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!(*completed = complete_some(count, requests, indices, statuses, active > 1, &errors))) {
        EK_IN_CALL("MPI_Waitsome", 0, EK_NONE, EK_NONE);
        ek_mpi_requests_wait_begin(count, requests);
        do
            ek_mpi_requests_pause(count, requests);
        while (!(*completed = complete_some(count, requests, indices, statuses, active > 1, &errors)));
        ek_mpi_requests_wait_end(count, requests);
    }
    return ek_errors_raise(&errors);
}

int ek_try_testsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_errors errors = {0};
    int rounds = EK_POLL_FIRST;
    if (!ek_mpi_requests_active(count, requests)) {
        *completed = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    ek_collectives_poll();
    do
        *completed = complete_some(count, requests, indices, statuses, true, &errors);
    while (!*completed && ek_poll_again("MPI_Testsome", &rounds));
    return ek_errors_raise(&errors);
}

int ek_try_request_get_status_some(int count, const MPI_Request *requests, int *completed, int *indices,
                                   MPI_Status *statuses)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    if (!ek_mpi_requests_active(count, requests)) {
        *completed = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    *completed = 0;
    if (poll_first("MPI_Request_get_status_some", count, requests) < 0)
        return MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        if (ek_mpi_request_is_active(requests[i]) && ek_mpi_request_is_complete(requests[i])) {
            ek_mpi_request_get_status(requests[i], ek_status_at(statuses, *completed));
            indices[(*completed)++] = i;
        }
    return MPI_SUCCESS;
}
