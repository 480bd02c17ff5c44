/* MPI_Wait and MPI_Test of one request and of all; those of any and some are in choice.c. See completion.h.
 */
#include "message/wait.h"

enum ek_found ek_try(MPI_Request *request, MPI_Status *status, bool choose, int *error, ek_transfer **ours)
{
    *error = MPI_SUCCESS;
    *ours = NULL;
    if (*request == ek_handles.request_null) {
        ek_status_empty(status);
        return EK_NOTHING;
    }
    ek_transfer *t = ek_transfer_of(*request);
    if (t) {
        *ours = t;
        if (t->state == EK_INACTIVE) {
            ek_status_empty(status);
            return EK_NOTHING;
        }
        if (!ek_transfer_complete(t, choose)) {
            if (!ek_transfer_gives_up(t))
                return EK_NOT_DONE;
            ek_transfer_finish(t, request, status);
            *error = ek_error_class(EK_REVOKED);
            return EK_DONE;
        }
        *error = ek_transfer_finish(t, request, status);
        return EK_DONE;
    }
    int flag = 0;
    ek_depth++;
    *error = ek_host.Test(request, &flag, status);
    ek_depth--;
    if (!*error && !flag)
        return EK_NOT_DONE;
    ek_completed(1);
    return EK_DONE;
}

void ek_requests_pause(int count, const MPI_Request *requests)
{
    int beside = EK_BESIDE_NOTHING;
    for (int i = 0; i < count && beside != EK_BESIDE_HOST; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        if (!t && requests[i] != ek_handles.request_null)
            beside = EK_BESIDE_HOST;
        else if (t && ((t->in.message && t->in.message->done) || (t->out.message && t->out.message->done)))
            beside = EK_BESIDE_BARRIER;
    }
    ek_message_pause(beside);
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
}

void ek_note_outcome(ek_errors *x, MPI_Status *status, int error, const MPI_Comm *comm, ek_entry *e)
{
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
    if (error && !x->any) {
        x->any = true;
        x->comm = comm ? *comm : ek_handles.world;
        x->e = e;
    }
}

int ek_several(const ek_errors *x)
{
    return x->any ? ek_raise(x->comm, x->e, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

/* ---- one ---- */

int ekm_wait(MPI_Request *request, MPI_Status *status)
{
    if (!ek_concerns(1, request, true))
        return EK_HOST_SHALL;
    EK_PASS;
    int error;
    ek_transfer *t = ek_transfer_of(*request), *ours;
    MPI_Comm comm = t ? t->comm : ek_handles.world;
    ek_entry *e = t ? t->entry : NULL;
    if (ek_try(request, status, false, &error, &ours) == EK_NOT_DONE) {
        ek_message_wait_begin();
        do
            ek_requests_pause(1, request);
        while (ek_try(request, status, false, &error, &ours) == EK_NOT_DONE);
        ek_message_wait_end();
    }
    return ek_raised(comm, e, t != NULL, error);
}

int ekm_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    ek_transfer *t = ek_transfer_of(*request), *ours;
    if (!t) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    MPI_Comm comm = t->comm;
    ek_entry *e = t->entry;
    int error = MPI_SUCCESS, code;
    *flag = 0;
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Test", (*flag = ek_try(request, status, true, &error, &ours) != EK_NOT_DONE, MPI_SUCCESS),
            *flag, code);
    return code ? code : ek_raised(comm, e, true, error);
}

int ekm_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    ek_transfer *t = ek_transfer_of(request);
    int code;
    ek_messages_progress();
    if (!t)
        return EK_HOST_SHALL;
    EK_PASS;
    EK_LOOK("MPI_Request_get_status", (*flag = ek_transfer_complete(t, true), MPI_SUCCESS), *flag, code);
    if (!code && *flag)
        ek_transfer_status(t, status);
    return code;
}

/* ---- all ---- */

/* Completes what may be completed of those that `open` names; how many are left open. */
static int sweep(int count, MPI_Request *requests, MPI_Status *statuses, bool choose, char *open,
                 ek_errors *x)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (!open[i])
            continue;
        int error;
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        MPI_Comm comm = t ? t->comm : ek_handles.world;
        ek_entry *e = t ? t->entry : NULL;
        MPI_Status *status = ek_status_of(statuses, i);
        if (ek_try(&requests[i], status, choose, &error, &ours) == EK_NOT_DONE) {
            left++;
            continue;
        }
        open[i] = 0;
        ek_note_outcome(x, status, error, t ? &comm : NULL, e);
    }
    return left;
}

enum { FEW_REQUESTS = 64 };

int ekm_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, true))
        return EK_HOST_SHALL;
    EK_PASS;
    char few[FEW_REQUESTS], *open = count > FEW_REQUESTS ? malloc((size_t)count) : few;
    ek_errors x = {0};
    if (!open)
        return MPI_ERR_NO_MEM;
    memset(open, 1, (size_t)count);
    if (sweep(count, requests, statuses, false, open, &x)) {
        ek_message_wait_begin();
        do
            ek_requests_pause(count, requests);
        while (sweep(count, requests, statuses, false, open, &x));
        ek_message_wait_end();
    }
    if (open != few)
        free(open);
    return ek_several(&x);
}

/* Whether all may be completed, without doing so. */
static int all_done(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        if (t ? !ek_transfer_complete(t, true) : 0)
            return 0;
        if (!t && requests[i] != ek_handles.request_null) {
            int flag = 0;
            ek_depth++;
            int code = ek_host.Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
            ek_depth--;
            if (!code && !flag)
                return 0;
        }
    }
    return 1;
}

int ekm_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code;
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Testall", (*flag = all_done(count, requests), MPI_SUCCESS), *flag, code);
    if (code || !*flag)
        return code;
    char few[FEW_REQUESTS], *open = count > FEW_REQUESTS ? malloc((size_t)count) : few;
    ek_errors x = {0};
    if (!open)
        return MPI_ERR_NO_MEM;
    memset(open, 1, (size_t)count);
    while (sweep(count, requests, statuses, true, open, &x))
        ;
    if (open != few)
        free(open);
    return ek_several(&x);
}

int ekm_request_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code;
    MPI_Request *them = (MPI_Request *)(uintptr_t)requests;
    EK_LOOK("MPI_Request_get_status_all", (*flag = all_done(count, them), MPI_SUCCESS), *flag, code);
    for (int i = 0; !code && *flag && i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        int there;
        if (t)
            ek_transfer_status(t, ek_status_of(statuses, i));
        else
            ek_host.Request_get_status(requests[i], &there, ek_status_of(statuses, i));
    }
    return code;
}
