#include "message/wait_all.h"
#include "collective/nonblocking.h"
#include "message/completion.h"
#include "message/poll.h"
#include "process/call_line.h"
#include <stdlib.h>
#include <string.h>

/* ---- one ---- */

int ek_try_wait(MPI_Request *request, MPI_Status *status)
{
    if (ek_wait_is_declined(1, request))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    int error;
    const ek_error_source source = ek_error_source_of(*request);
    if (ek_mpi_request_complete(request, status, false, &error) == EK_NOT_COMPLETE) {
        EK_IN_CALL("MPI_Wait", 0, EK_NONE, EK_NONE);
        ek_mpi_requests_wait_begin(1, request);
        do
            ek_mpi_requests_pause(1, request);
        while (ek_mpi_request_complete(request, status, false, &error) == EK_NOT_COMPLETE);
        ek_mpi_requests_wait_end(1, request);
    }
    return ek_raise_error_of(&source, error);
}

int ek_try_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (ek_test_is_declined(1, request))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    const ek_error_source source = ek_error_source_of(*request);
    int error, rounds = EK_POLL_FIRST;
    *flag = 0;
    ek_collectives_poll();
    do
        *flag = ek_mpi_request_complete(request, status, true, &error) != EK_NOT_COMPLETE;
    while (!*flag && ek_poll_again("MPI_Test", &rounds));
    return ek_raise_error_of(&source, error);
}

int ek_try_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    const ek_message_request *r = ek_message_request_of(request);
    EK_OPEN_GATE_SCOPE;
    ek_messages_progress();
    if (!r)
        return EK_DECLINED;
    int rounds = EK_POLL_FIRST;
    do
        *flag = ek_message_request_is_complete(r, true);
    while (!*flag && ek_poll_again("MPI_Request_get_status", &rounds));
    if (*flag)
        ek_message_request_get_status(r, status);
    return MPI_SUCCESS;
}

/* ---- all ---- */

enum { FEW_REQUESTS = 64 };

/* The requests that one call completes, and which of them are left. */
typedef struct batch {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    bool learns_order;
    char few[FEW_REQUESTS], *is_left; /* `few`, or allocated */
    ek_errors errors;
} batch;

static bool batch_begin(batch *b)
{
    b->is_left = b->count > FEW_REQUESTS ? malloc((size_t)b->count) : b->few;
    if (b->is_left)
        memset(b->is_left, 1, (size_t)b->count);
    return b->is_left;
}

static int batch_end(batch *b)
{
    if (b->is_left != b->few)
        free(b->is_left);
    return ek_errors_raise(&b->errors);
}

/* Completes those that may be completed. Returns false if some are left. */
static bool batch_complete(batch *b)
{
    int left = 0;
    for (int i = 0; i < b->count; i++) {
        if (!b->is_left[i])
            continue;
        int error;
        const ek_error_source source = ek_error_source_of(b->requests[i]);
        MPI_Status *status = ek_status_at(b->statuses, i);
        if (ek_mpi_request_complete(&b->requests[i], status, b->learns_order, &error) == EK_NOT_COMPLETE) {
            left++;
            continue;
        }
        b->is_left[i] = 0;
        ek_errors_note(&b->errors, &source, error, status);
    }
    return left == 0;
}

int ek_try_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (ek_wait_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    batch b = {.count = count, .requests = requests, .statuses = statuses, .learns_order = false};
    if (!batch_begin(&b))
        return MPI_ERR_NO_MEM;
    if (!batch_complete(&b)) {
        EK_IN_CALL("MPI_Waitall", 0, EK_NONE, EK_NONE);
        ek_mpi_requests_wait_begin(count, requests);
        do
            ek_mpi_requests_pause(count, requests);
        while (!batch_complete(&b));
        ek_mpi_requests_wait_end(count, requests);
    }
    return batch_end(&b);
}

/* Whether all may be completed, without doing so. */
static bool are_complete(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != ek_handles.request_null && !ek_mpi_request_is_complete(requests[i]))
            return false;
    return true;
}

static bool poll_all(const char *name, int count, const MPI_Request *requests)
{
    bool complete;
    int rounds = EK_POLL_FIRST;
    do
        complete = are_complete(count, requests);
    while (!complete && ek_poll_again(name, &rounds));
    return complete;
}

int ek_try_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_collectives_poll();
    *flag = poll_all("MPI_Testall", count, requests);
    if (!*flag)
        return MPI_SUCCESS;
    batch b = {.count = count, .requests = requests, .statuses = statuses, .learns_order = true};
    if (!batch_begin(&b))
        return MPI_ERR_NO_MEM;
    while (!batch_complete(&b))
        ;
    return batch_end(&b);
}

int ek_try_request_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (ek_test_is_declined(count, requests))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    *flag = poll_all("MPI_Request_get_status_all", count, requests);
    for (int i = 0; *flag && i < count; i++)
        ek_mpi_request_get_status(requests[i], ek_status_at(statuses, i));
    return MPI_SUCCESS;
}
