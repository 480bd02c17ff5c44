/* MPI_Wait and MPI_Test in all their forms, where some requests are for messages of ours and others may be the host's. */
#include "message.h"

static bool any_ours(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (ek_transfer_of(requests[i]))
            return true;
    return false;
}

/* What a look at one request has found. */
enum found { NOT_DONE, DONE, NOTHING /* null or inactive */ };

/* Completes one request if it may be. `error`: its error, not raised if it is ours (`ours` then says so). */
static enum found try(MPI_Request *request, MPI_Status *status, bool choose, int *error, ek_transfer **ours)
{
    *error = MPI_SUCCESS;
    *ours = NULL;
    if (*request == ek_handles.request_null) {
        ek_status_empty(status);
        return NOTHING;
    }
    ek_transfer *t = ek_transfer_of(*request);
    if (t) {
        *ours = t;
        if (t->state == EK_INACTIVE) {
            ek_status_empty(status);
            return NOTHING;
        }
        if (!ek_transfer_complete(t, choose)) {
            if (!ek_transfer_gives_up(t))
                return NOT_DONE;
            ek_transfer_finish(t, request, status);
            *error = ek_error_class(EK_REVOKED);
            return DONE;
        }
        *error = ek_transfer_finish(t, request, status);
        return DONE;
    }
    int         flag = 0;
    MPI_Request before = *request;
    ek_depth++;
    *error = ek_host.Test(request, &flag, status);
    ek_depth--;
    if (!*error && !flag)
        return NOT_DONE;
    (void)before;
    ek_completed(1);
    return DONE;
}

static void pause(int count, const MPI_Request *requests)
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

/* The transfer may have been handed out again meanwhile, its communicator has not. */
static int raised(MPI_Comm comm, ek_entry *e, bool ours, int code) { return code && ours ? ek_raise(comm, e, code) : code; }

/* Whether such a call is for us: there is a request of ours among them, or messages need us to move on while we wait. */
static bool concerns(int count, const MPI_Request *requests, bool waits)
{
    return any_ours(count, requests) || (waits && ek_messages_incomplete());
}

static MPI_Status *status_of(MPI_Status *statuses, int i) { return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]; }

/* ---- one ------------------------------------------------------------------------------------------------------------ */

int ekm_wait(MPI_Request *request, MPI_Status *status)
{
    if (!concerns(1, request, true))
        return EK_HOST_SHALL;
    EK_PASS;
    int          error;
    ek_transfer *t = ek_transfer_of(*request), *ours;
    MPI_Comm     comm = t ? t->comm : ek_handles.world;
    ek_entry    *e = t ? t->entry : NULL;
    if (try(request, status, false, &error, &ours) == NOT_DONE) {
        ek_message_wait_begin();
        do
            pause(1, request);
        while (try(request, status, false, &error, &ours) == NOT_DONE);
        ek_message_wait_end();
    }
    return raised(comm, e, t != NULL, error);
}

int ekm_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    ek_transfer *t = ek_transfer_of(*request), *ours;
    if (!t) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    MPI_Comm  comm = t->comm;
    ek_entry *e = t->entry;
    int       error = MPI_SUCCESS, code;
    *flag = 0;
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Test", (*flag = try(request, status, true, &error, &ours) != NOT_DONE, MPI_SUCCESS), *flag, code);
    return code ? code : raised(comm, e, true, error);
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

/* ---- all ------------------------------------------------------------------------------------------------------------ */

/* Errors of several requests: each in its status, the call's own to the error handler of the first. */
typedef struct errors { int first; bool any; MPI_Comm comm; ek_entry *e; } errors;

static int several(const errors *x, int count, const MPI_Status *statuses)
{
    (void)count, (void)statuses;
    if (!x->any)
        return MPI_SUCCESS;
    return ek_raise(x->comm, x->e, MPI_ERR_IN_STATUS);
}

static void note(errors *x, MPI_Status *status, int error, const MPI_Comm *comm, ek_entry *e)
{
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
    if (error && !x->any) {
        x->any = true;
        x->comm = comm ? *comm : ek_handles.world;
        x->e = e;
    }
}

/* Completes what may be completed of those that `open` names; how many are left open. */
static int sweep(int count, MPI_Request *requests, MPI_Status *statuses, bool choose, char *open, errors *x)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (!open[i])
            continue;
        int          error;
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        MPI_Comm     comm = t ? t->comm : ek_handles.world;
        ek_entry    *e = t ? t->entry : NULL;
        MPI_Status  *status = status_of(statuses, i);
        if (try(&requests[i], status, choose, &error, &ours) == NOT_DONE) {
            left++;
            continue;
        }
        open[i] = 0;
        note(x, status, error, t ? &comm : NULL, e);
    }
    return left;
}

enum { FEW_REQUESTS = 64 };

int ekm_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (!concerns(count, requests, true))
        return EK_HOST_SHALL;
    EK_PASS;
    char    few[FEW_REQUESTS], *open = count > FEW_REQUESTS ? malloc((size_t)count) : few;
    errors  x = {0};
    if (!open)
        return MPI_ERR_NO_MEM;
    memset(open, 1, (size_t)count);
    if (sweep(count, requests, statuses, false, open, &x)) {
        ek_message_wait_begin();
        do
            pause(count, requests);
        while (sweep(count, requests, statuses, false, open, &x));
        ek_message_wait_end();
    }
    if (open != few)
        free(open);
    return several(&x, count, statuses);
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
    if (!concerns(count, requests, false)) {
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
    char    few[FEW_REQUESTS], *open = count > FEW_REQUESTS ? malloc((size_t)count) : few;
    errors  x = {0};
    if (!open)
        return MPI_ERR_NO_MEM;
    memset(open, 1, (size_t)count);
    while (sweep(count, requests, statuses, true, open, &x))
        ;
    if (open != few)
        free(open);
    return several(&x, count, statuses);
}

int ekm_request_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (!concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code;
    MPI_Request *them = (MPI_Request *)(uintptr_t)requests;
    EK_LOOK("MPI_Request_get_status_all", (*flag = all_done(count, them), MPI_SUCCESS), *flag, code);
    for (int i = 0; !code && *flag && i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        int          there;
        if (t)
            ek_transfer_status(t, status_of(statuses, i));
        else
            ek_host.Request_get_status(requests[i], &there, status_of(statuses, i));
    }
    return code;
}

/* ---- any ------------------------------------------------------------------------------------------------------------ */

/* How many requests are active. Which of several is complete first is news; that the only one is complete is none. */
static int active(int count, const MPI_Request *requests)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]);
        n += t ? t->state == EK_ACTIVE : requests[i] != ek_handles.request_null;
    }
    return n;
}

typedef struct one { int index, error; MPI_Comm comm; ek_entry *e; bool ours; } one;

static int try_any(int count, MPI_Request *requests, MPI_Status *status, bool choose, one *found)
{
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        if (requests[i] == ek_handles.request_null || (t && t->state == EK_INACTIVE))
            continue;
        *found = (one){.index = i, .comm = t ? t->comm : ek_handles.world, .e = t ? t->entry : NULL, .ours = t != NULL};
        if (try(&requests[i], status, choose, &found->error, &ours) == DONE)
            return 1;
    }
    return 0;
}

int ekm_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (!concerns(count, requests, true))
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
            pause(count, requests);
        while (!try_any(count, requests, status, among > 1, &found));
        ek_message_wait_end();
    }
    *index = found.index;
    return raised(found.comm, found.e, found.ours, found.error);
}

int ekm_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (!concerns(count, requests, false)) {
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
    EK_LOOK("MPI_Testany", (*flag = try_any(count, requests, status, true, &found), MPI_SUCCESS), *flag, code);
    if (code || !*flag)
        return code;
    *index = found.index;
    return raised(found.comm, found.e, found.ours, found.error);
}

/* Whether that request is complete, without completing it. */
static int is_done(MPI_Request request)
{
    ek_transfer *t = ek_transfer_of(request);
    int flag = 0;
    return t ? ek_transfer_complete(t, true) : !ek_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE) && flag;
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
    return t ? (ek_transfer_status(t, status), MPI_SUCCESS) : ek_host.Request_get_status(request, &flag, status);
}

static int first_done(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && is_done(requests[i]))
            return i;
    return -1;
}

int ekm_request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (!concerns(count, requests, false)) {
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
    EK_LOOK("MPI_Request_get_status_any", (*flag = (at = first_done(count, requests)) >= 0, MPI_SUCCESS), *flag, code);
    if (code || !*flag)
        return code;
    *index = at;
    return get_status(requests[at], status);
}

/* ---- some ----------------------------------------------------------------------------------------------------------- */

static int try_some(int count, MPI_Request *requests, int *indices, MPI_Status *statuses, bool choose, errors *x)
{
    int out = 0;
    for (int i = 0; i < count; i++) {
        ek_transfer *t = ek_transfer_of(requests[i]), *ours;
        if (requests[i] == ek_handles.request_null || (t && t->state == EK_INACTIVE))
            continue;
        MPI_Comm    comm = t ? t->comm : ek_handles.world;
        ek_entry   *e = t ? t->entry : NULL;
        MPI_Status *status = status_of(statuses, out);
        int         error;
        if (try(&requests[i], status, choose, &error, &ours) != DONE)
            continue;
        indices[out++] = i;
        note(x, status, error, t ? &comm : NULL, e);
    }
    return out;
}

int ekm_waitsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    if (!concerns(count, requests, true))
        return EK_HOST_SHALL;
    EK_PASS;
    errors x = {0};
    int among = active(count, requests);
    if (!among) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!(*out = try_some(count, requests, indices, statuses, among > 1, &x))) {
        ek_message_wait_begin();
        do
            pause(count, requests);
        while (!(*out = try_some(count, requests, indices, statuses, among > 1, &x)));
        ek_message_wait_end();
    }
    return several(&x, *out, statuses);
}

int ekm_testsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    if (!concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    errors x = {0};
    int code;
    if (!active(count, requests)) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Testsome", (*out = try_some(count, requests, indices, statuses, true, &x), MPI_SUCCESS), *out, code);
    return code ? code : several(&x, *out, statuses);
}

int ekm_request_get_status_some(int count, const MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    if (!concerns(count, requests, false)) {
        ek_messages_progress();
        return EK_HOST_SHALL;
    }
    EK_PASS;
    int code;
    if (!active(count, requests)) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    EK_LOOK("MPI_Request_get_status_some", (*out = first_done(count, requests) >= 0, MPI_SUCCESS), *out, code);
    if (code || !*out)
        return code;
    *out = 0;
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && is_done(requests[i])) {
            get_status(requests[i], status_of(statuses, *out));
            indices[(*out)++] = i;
        }
    return MPI_SUCCESS;
}
