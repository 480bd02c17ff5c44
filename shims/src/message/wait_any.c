/* MPI_Wait and MPI_Test of any request and of some: which of several is complete first is a choice, so news.
 * See completion.h. */
#include "message/wait.h"

/* ---- any ---- */

/* How many requests are active. Which of several is complete first is news; that the only one is complete is
 * none. */
static int active(int count, const MPI_Request *requests)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        n += t ? t->state == EK_ACTIVE : requests[i] != ek_handles.request_null;
    }
    return n;
}

typedef struct one {
    int index, error;
    MPI_Comm comm;
    ek_entry *e;
    bool ours;
} one;

static int try_any(int count, MPI_Request *requests, MPI_Status *status, bool choose, one *found)
{
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        if (requests[i] == ek_handles.request_null || (t && t->state == EK_INACTIVE))
            continue;
        *found = (one){
            .index = i, .comm = t ? t->comm : ek_handles.world, .e = t ? t->entry : NULL, .ours = t != NULL};
        if (ek_try(&requests[i], status, choose, &found->error, &ours) == EK_DONE)
            return 1;
    }
    return 0;
}

int ekm_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (!ek_concerns(count, requests, true))
        return EK_HOST_SHALL;
    EK_PASS;
    one found;
    int among = active(count, requests);
    if (!among) {
        *index = MPI_UNDEFINED;
        ek_status_empty(status);
        return MPI_SUCCESS;
    }
    if (!try_any(count, requests, status, among > 1, &found)) {
        ek_message_wait_begin();
        do
            ek_requests_pause(count, requests);
        while (!try_any(count, requests, status, among > 1, &found));
        ek_message_wait_end();
    }
    *index = found.index;
    return ek_raised(found.comm, found.e, found.ours, found.error);
}

int ekm_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    one found = {0};
    int code;
    *index = MPI_UNDEFINED;
    if (!active(count, requests)) {
        *flag = 1;
        ek_status_empty(status);
        return MPI_SUCCESS;
    }
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Testany", (*flag = try_any(count, requests, status, true, &found), MPI_SUCCESS), *flag,
            code);
    if (code || !*flag)
        return code;
    *index = found.index;
    return ek_raised(found.comm, found.e, found.ours, found.error);
}

/* Whether that request is complete, without completing it. */
static int is_done(MPI_Request request)
{
    ek_transfer *t = ek_transfer_of(request);
    int flag = 0;
    return t ? ek_transfer_complete(t, true)
             : !ek_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE) && flag;
}

static bool is_active(MPI_Request request)
{
    ek_transfer *t = ek_transfer_of(request);
    return t ? t->state == EK_ACTIVE : request != ek_handles.request_null;
}

static int get_status(MPI_Request request, MPI_Status *status)
{
    ek_transfer *t = ek_transfer_of(request);
    int flag;
    return t ? (ek_transfer_status(t, status), MPI_SUCCESS)
             : ek_host.Request_get_status(request, &flag, status);
}

static int first_done(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && is_done(requests[i]))
            return i;
    return -1;
}

int ekm_request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                               MPI_Status *status)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code, at = -1;
    *index = MPI_UNDEFINED;
    if (!active(count, requests)) {
        *flag = 1;
        ek_status_empty(status);
        return MPI_SUCCESS;
    }
    EK_LOOK("MPI_Request_get_status_any", (*flag = (at = first_done(count, requests)) >= 0, MPI_SUCCESS),
            *flag, code);
    if (code || !*flag)
        return code;
    *index = at;
    return get_status(requests[at], status);
}

/* ---- some ---- */

static int try_some(int count, MPI_Request *requests, int *indices, MPI_Status *statuses, bool choose,
                    ek_errors *x)
{
    int out = 0;
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        if (requests[i] == ek_handles.request_null || (t && t->state == EK_INACTIVE))
            continue;
        MPI_Comm comm = t ? t->comm : ek_handles.world;
        ek_entry *e = t ? t->entry : NULL;
        MPI_Status *status = ek_status_of(statuses, out);
        int error;
        if (ek_try(&requests[i], status, choose, &error, &ours) != EK_DONE)
            continue;
        indices[out++] = i;
        ek_note_outcome(x, status, error, t ? &comm : NULL, e);
    }
    return out;
}

int ekm_waitsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, true))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_errors x = {0};
    int among = active(count, requests);
    if (!among) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!(*out = try_some(count, requests, indices, statuses, among > 1, &x))) {
        ek_message_wait_begin();
        do
            ek_requests_pause(count, requests);
        while (!(*out = try_some(count, requests, indices, statuses, among > 1, &x)));
        ek_message_wait_end();
    }
    return ek_several(&x);
}

int ekm_testsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    ek_errors x = {0};
    int code;
    if (!active(count, requests)) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Testsome", (*out = try_some(count, requests, indices, statuses, true, &x), MPI_SUCCESS),
            *out, code);
    return code ? code : ek_several(&x);
}

int ekm_request_get_status_some(int count, const MPI_Request *requests, int *out, int *indices,
                                MPI_Status *statuses)
{
    if (!ek_concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code;
    if (!active(count, requests)) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    EK_LOOK("MPI_Request_get_status_some", (*out = first_done(count, requests) >= 0, MPI_SUCCESS), *out,
            code);
    if (code || !*out)
        return code;
    *out = 0;
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && is_done(requests[i])) {
            get_status(requests[i], ek_status_of(statuses, *out));
            indices[(*out)++] = i;
        }
    return MPI_SUCCESS;
}
