#include "trace/completion.h"
#include "host/status.h"
#include "trace/message.h"
#include "trace/outcome.h"
#include <stdlib.h>
#include <string.h>

/* ---- several requests, as they were before the call ---- */

enum { FEW = 32 };

typedef struct before {
    int count;
    MPI_Request *handles, few_handles[FEW];
    MPI_Status *statuses, few_statuses[FEW]; /* the program's, or own ones if it wants none */
} before;

static void end(before *b)
{
    if (b->handles != b->few_handles)
        free(b->handles);
    if (b->statuses != b->few_statuses)
        free(b->statuses);
}

static void begin(before *b, int count, const MPI_Request *requests)
{
    b->count = count > 0 ? count : 0;
    b->handles = b->few_handles;
    b->statuses = b->few_statuses;
    if (b->count > FEW) {
        b->handles = malloc((size_t)b->count * sizeof *b->handles);
        b->statuses = malloc((size_t)b->count * sizeof *b->statuses);
    }
    if (!b->handles || !b->statuses)
        b->count = 0;
    if (b->count)
        memcpy(b->handles, requests, (size_t)b->count * sizeof *b->handles);
}

#define BEFORE(name, count, requests)          \
    before name __attribute__((cleanup(end))); \
    begin(&name, count, requests)

static void settle(MPI_Request handle, const MPI_Status *status)
{
    ek_traced_request *r = ek_traced_request_of(handle);
    if (r)
        ek_trace_settle(r, status);
}

/* A call that fails may have ended requests: what is null now is gone. The others stay as they are. */
static int failed(int code, int count, const MPI_Request *before, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        ek_traced_request *r = ek_traced_request_of(before[i]);
        if (r && requests[i] == ek_handles.request_null)
            ek_traced_request_remove(r);
    }
    ek_trace_note_failure();
    return code;
}

/* ---- a repetition waits ---- */

/* Waits for what was complete in the recorded run, and notes what became of it. */
static int await(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    ek_traced_request *r = ek_traced_request_of(*request);
    bool is_active = r && r->is_active;
    if (is_active && r->is_nowhere && !r->is_cancelled)
        ek_trace_never_complete(r->was_cancelled);
    bool is_inner = is_active && r->receives && r->is_persistent;
    MPI_Request handle = *request;
    int code = PMPI_Wait(is_inner ? &r->inner : request, s);
    if (code)
        return failed(code, 1, &handle, request);
    if (r)
        ek_trace_settle(r, s);
    return code;
}

static MPI_Status *status_at(MPI_Status *statuses, int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/* Of a repetition: whether a request stands for another one, or was posted elsewhere. */
static bool has_substitutes(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        ek_traced_request *r = ek_traced_request_of(requests[i]);
        if (r && r->receives && (r->is_persistent || r->is_nowhere))
            return true;
    }
    return false;
}

static int await_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && !code; i++)
        code = await(&requests[i], status_at(statuses, i));
    return code;
}

/* ---- one and all ---- */

int ek_traced_wait(MPI_Request *request, MPI_Status *status)
{
    if (ek_trace_replays())
        return await(request, status);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request handle = *request;
    int code = PMPI_Wait(request, s);
    if (code)
        return failed(code, 1, &handle, request);
    settle(handle, s);
    return code;
}

int ek_traced_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (ek_trace_replays()) {
        *flag = ek_trace_ask_flag(EK_CHOICE_TEST);
        return *flag ? await(request, status) : MPI_SUCCESS;
    }
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request handle = *request;
    int code = PMPI_Test(request, flag, s);
    if (code)
        return failed(code, 1, &handle, request);
    if (ek_trace_note_flag(EK_CHOICE_TEST, *flag))
        settle(handle, s);
    return code;
}

/* Notes what became of all requests. */
static void settle_all(const before *b, const MPI_Status *statuses)
{
    for (int i = 0; i < b->count; i++)
        settle(b->handles[i], &statuses[i]);
}

int ek_traced_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (ek_trace_replays() && has_substitutes(count, requests))
        return await_all(count, requests, statuses);
    if (!ek_traced_requests_exist())
        return PMPI_Waitall(count, requests, statuses);
    BEFORE(b, count, requests);
    MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? b.statuses : statuses;
    int code = PMPI_Waitall(count, requests, s);
    if (code)
        return failed(code, b.count, b.handles, requests);
    settle_all(&b, s);
    return code;
}

int ek_traced_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (ek_trace_replays()) {
        *flag = ek_trace_ask_flag(EK_CHOICE_TESTALL);
        return *flag ? await_all(count, requests, statuses) : MPI_SUCCESS;
    }
    BEFORE(b, count, requests);
    MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? b.statuses : statuses;
    int code = PMPI_Testall(count, requests, flag, s);
    if (code)
        return failed(code, b.count, b.handles, requests);
    if (ek_trace_note_flag(EK_CHOICE_TESTALL, *flag))
        settle_all(&b, s);
    return code;
}

/* ---- any ---- */

static int note_any(int choice, MPI_Request handle, int index, const MPI_Status *status)
{
    int64_t value = index == MPI_UNDEFINED ? 0 : (int64_t)index + 1;
    ek_trace_outcome((uint8_t)choice, &value, 1);
    if (value)
        settle(handle, status);
    return MPI_SUCCESS;
}

static int await_any(int64_t value, int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    *index = value ? (int)(value - 1) : MPI_UNDEFINED;
    if (!value)
        ek_status_set_empty(status);
    else if (value > count)
        ek_trace_outcome_does_not_fit();
    return value ? await(&requests[*index], status) : MPI_SUCCESS;
}

int ek_traced_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (ek_trace_replays()) {
        int64_t value;
        ek_trace_ask(EK_CHOICE_WAITANY, false, &value, 1);
        return await_any(value, count, requests, index, status);
    }
    BEFORE(b, count, requests);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int code = PMPI_Waitany(count, requests, index, s);
    return code ? failed(code, b.count, b.handles, requests)
                : note_any(EK_CHOICE_WAITANY, b.handles[*index < 0 ? 0 : *index], *index, s);
}

int ek_traced_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    if (ek_trace_replays()) {
        int64_t value;
        *flag = ek_trace_ask(EK_CHOICE_TESTANY, true, &value, 1) >= 0;
        ek_trace.has_missed = !*flag;
        *index = MPI_UNDEFINED;
        return *flag ? await_any(value, count, requests, index, status) : MPI_SUCCESS;
    }
    BEFORE(b, count, requests);
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int code = PMPI_Testany(count, requests, index, flag, s);
    if (code)
        return failed(code, b.count, b.handles, requests);
    if (*flag)
        return note_any(EK_CHOICE_TESTANY, b.handles[*index < 0 ? 0 : *index], *index, s);
    ek_trace_miss();
    return MPI_SUCCESS;
}

/* ---- some ---- */

/* Notes which requests are complete; `completed` is MPI_UNDEFINED if none was active. */
static int note_some(int choice, const before *b, int completed, const int *indices,
                     const MPI_Status *statuses)
{
    int count = completed == MPI_UNDEFINED ? 0 : completed;
    int64_t few[FEW + 1], *values = count > FEW ? malloc(((size_t)count + 1) * sizeof *values) : few;
    if (!values)
        return MPI_ERR_NO_MEM;
    values[0] = completed == MPI_UNDEFINED ? 0 : (int64_t)count + 1;
    for (int i = 0; i < count; i++)
        values[i + 1] = indices[i];
    ek_trace_outcome((uint8_t)choice, values, (size_t)count + 1);
    if (values != few)
        free(values);
    for (int i = 0; i < count; i++)
        settle(b->handles[indices[i]], &statuses[i]);
    return MPI_SUCCESS;
}

static int await_some(int choice, bool may_miss, int count, MPI_Request *requests, int *completed,
                      int *indices, MPI_Status *statuses)
{
    size_t room = (size_t)(count > 0 ? count : 0) + 1;
    int64_t few[FEW + 1], *values = room > FEW + 1 ? malloc(room * sizeof *values) : few;
    if (!values)
        return MPI_ERR_NO_MEM;
    bool found = ek_trace_ask((uint8_t)choice, may_miss, values, room) >= 0;
    int code = MPI_SUCCESS;
    ek_trace.has_missed = !found;
    *completed = !found ? 0 : values[0] ? (int)(values[0] - 1) : MPI_UNDEFINED;
    for (int i = 0; i < *completed && !code; i++) {
        indices[i] = (int)values[i + 1];
        if (values[i + 1] >= count)
            ek_trace_outcome_does_not_fit();
        code = await(&requests[indices[i]], status_at(statuses, i));
    }
    if (values != few)
        free(values);
    return code;
}

int ek_traced_waitsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    if (ek_trace_replays())
        return await_some(EK_CHOICE_WAITSOME, false, count, requests, completed, indices, statuses);
    BEFORE(b, count, requests);
    MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? b.statuses : statuses;
    int code = PMPI_Waitsome(count, requests, completed, indices, s);
    return code ? failed(code, b.count, b.handles, requests)
                : note_some(EK_CHOICE_WAITSOME, &b, *completed, indices, s);
}

int ek_traced_testsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
{
    if (ek_trace_replays())
        return await_some(EK_CHOICE_TESTSOME, true, count, requests, completed, indices, statuses);
    BEFORE(b, count, requests);
    MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? b.statuses : statuses;
    int code = PMPI_Testsome(count, requests, completed, indices, s);
    if (code)
        return failed(code, b.count, b.handles, requests);
    if (*completed)
        return note_some(EK_CHOICE_TESTSOME, &b, *completed, indices, s);
    ek_trace_miss();
    return MPI_SUCCESS;
}

/* ---- a question ---- */

int ek_traced_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    ek_traced_request *r = ek_traced_request_of(request);
    int code = MPI_SUCCESS;
    if (!ek_trace_replays()) {
        code = PMPI_Request_get_status(request, flag, s);
        if (code || !ek_trace_note_flag(EK_CHOICE_GET_STATUS, *flag))
            return code;
    } else {
        *flag = ek_trace_ask_flag(EK_CHOICE_GET_STATUS);
        if (!*flag)
            return MPI_SUCCESS;
        bool is_active = r && r->is_active && r->receives;
        if (is_active && r->is_nowhere && !r->is_cancelled)
            ek_trace_never_complete(r->was_cancelled);
        MPI_Request asked = is_active && r->is_persistent ? r->inner : request;
        for (int complete = 0; !complete && !code;)
            code = PMPI_Request_get_status(asked, &complete, s);
    }
    if (r && !code)
        ek_trace_learn(r, s);
    return code;
}
