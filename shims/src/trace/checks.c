#include "trace/checks.h"
#include "host/datatype.h"
#include "process/communicator.h"
#include "trace/constants.h"
#include "trace/script.h"
#include "trace/signature.h"
#include <stdlib.h>

ek_checked_process ek_checks;

/* ---- words of this thread's call ---- */

static _Thread_local struct {
    int64_t *words;
    size_t count, room;
    MPI_Request *requests; /* those that the call was passed */
    int request_count, request_room;
    MPI_Status *statuses;
    int status_room;
} call __attribute__((tls_model("initial-exec")));

static _Thread_local int64_t no_words[1];

void ek_check_no_words(void)
{
    call.count = 0;
    call.request_count = 0;
}

void ek_check_word(int64_t word)
{
    if (EK_UNLIKELY(call.count == call.room)) {
        size_t room = call.room ? 2 * call.room : 64;
        int64_t *words = realloc(call.words, room * sizeof *words);
        if (!words)
            return;
        call.words = words;
        call.room = room;
    }
    call.words[call.count++] = word;
}

void ek_check_buffer(const void *buffer)
{
    ek_check_word(buffer == MPI_IN_PLACE ? EK_CHECKS_IN_PLACE : (int64_t)(uintptr_t)buffer);
}

/* They are kept: the call may set them to MPI_REQUEST_NULL. */
static void keep_requests(int count, const MPI_Request *requests)
{
    if (count > call.request_room) {
        MPI_Request *kept = realloc(call.requests, (size_t)count * 2 * sizeof *kept);
        if (!kept)
            return;
        call.requests = kept;
        call.request_room = 2 * count;
    }
    for (int i = 0; i < count; i++)
        call.requests[i] = requests[i];
    call.request_count = count;
}

void ek_check_request(const MPI_Request *request)
{
    ek_check_word(request ? (int64_t)(uintptr_t)*request : 0);
    if (request)
        keep_requests(1, request);
}

void ek_check_requests(int64_t count, const MPI_Request *requests)
{
    EK_CHECK_HANDLES(count, requests);
    if (count > 0 && requests)
        keep_requests((int)count, requests);
}

void ek_check_status(int count, const MPI_Status *statuses)
{
    if (statuses == MPI_STATUS_IGNORE || statuses == MPI_STATUSES_IGNORE)
        count = 0;
    ek_check_word(count);
    ek_depth++;
    for (int i = 0; i < count; i++) {
        const MPI_Status *status = &statuses[i];
        int bytes = 0, was_cancelled = 0;
        if (ek_host.Get_count((MPI_Status *)status, ek_handles.byte, &bytes) || bytes < 0)
            bytes = -1;
        if (EK_UNLIKELY(ek_times.has_cancelled))
            ek_host.Test_cancelled((MPI_Status *)status, &was_cancelled);
        ek_check_word(ek_times_peer(status->MPI_SOURCE));
        ek_check_word(ek_times_tag(status->MPI_TAG));
        ek_check_word(bytes);
        ek_check_word(was_cancelled != 0);
    }
    ek_depth--;
}

int ek_check_comm_size(MPI_Comm comm) { return ek_checks_comm_size((uintptr_t)comm); }

int ek_check_root_size(MPI_Comm comm, int root)
{
    return ek_checks_root_size((uintptr_t)comm, root, root == MPI_ROOT);
}

/* ---- the beginning and the end of a call ---- */

void ek_check_begin(ek_timed *t, const ek_checked_function *function)
{
    ek_script_place place;
    bool is_in_script = ek_script_find((const void *)t->call.site, &place);
    ek_times_take_turn();
    const ek_checked_call begun = {
        .function = function,
        .site = t->call.site,
        .script = is_in_script ? ek_checks_script(place.file, place.line, place.function) : 0,
        .thread = t->call.thread,
        .words = call.count ? call.words : no_words,
        .count = call.count,
    };
    ek_checks_begin(&begun);
    ek_times_leave_turn();
    t->is_checked = true;
    call.count = 0; /* what the call gets comes next */
}

static _Thread_local bool reenters __attribute__((tls_model("initial-exec")));

void ek_check_reenters(void) { reenters = true; }

void ek_check_freed_within(const ek_checked_function *function, int64_t handle)
{
    bool is_outer = reenters;
    reenters = false;
    if (is_outer || ek_times_thread.depth == 0)
        return;
    const ek_checked_call call = {
        .function = function, .thread = ek_times_thread.number - 1, .words = &handle, .count = 1};
    ek_times_take_turn();
    ek_checks_begin(&call);
    ek_checks_end(call.thread, false, no_words, 0);
    ek_times_leave_turn();
}

void ek_check_own_statuses(int count, MPI_Status **statuses)
{
    if (count <= 0 || (*statuses != MPI_STATUS_IGNORE && *statuses != MPI_STATUSES_IGNORE))
        return;
    if (count > call.status_room) {
        free(call.statuses);
        call.statuses = malloc((size_t)count * 2 * sizeof *call.statuses);
        call.status_room = call.statuses ? 2 * count : 0;
    }
    if (!call.statuses)
        return;
    memset(call.statuses, 0, (size_t)count * sizeof *call.statuses);
    *statuses = call.statuses;
}

bool ek_check_is_truncated(int code)
{
    int class = MPI_SUCCESS;
    ek_host.Error_class(code, &class);
    return class == MPI_ERR_TRUNCATE;
}

static void call_over(uint32_t thread, bool has_failed)
{
    ek_checks_end(thread, has_failed, call.count ? call.words : no_words, call.count);
    ek_check_no_words();
}

/* ---- what a call that has succeeded has done ---- */

static void complete(MPI_Request request)
{
    if (request != ek_handles.request_null)
        ek_checks_complete((uintptr_t)request);
}

void ek_check_complete(int index)
{
    if (index < 0 || index >= call.request_count)
        return;
    ek_times_take_turn();
    complete(call.requests[index]);
    ek_times_leave_turn();
}

void ek_check_complete_all(void)
{
    ek_times_take_turn();
    for (int i = 0; i < call.request_count; i++)
        complete(call.requests[i]);
    ek_times_leave_turn();
}

void ek_check_started(void)
{
    ek_times_take_turn();
    for (int i = 0; i < call.request_count; i++)
        ek_checks_started((uintptr_t)call.requests[i]);
    ek_times_leave_turn();
}

void ek_check_request_freed(void)
{
    ek_times_take_turn();
    for (int i = 0; i < call.request_count; i++)
        ek_checks_forget_request((uintptr_t)call.requests[i]);
    ek_times_leave_turn();
}

void ek_check_sends(MPI_Request request, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                    bool is_persistent)
{
    if (dest == MPI_PROC_NULL || ek_process.has_devices)
        return;
    ek_times_take_turn();
    ek_checks_sends((uintptr_t)request, (uintptr_t)buf, count, (uintptr_t)type, is_persistent);
    ek_times_leave_turn();
}

void ek_check_comm_usable(MPI_Comm comm)
{
    if (comm == ek_handles.comm_null)
        return;
    int is_inter = 0, rank = -1, count, remote_count = 0, *remote = NULL;
    MPI_Group group;
    ek_depth++;
    ek_host.Comm_test_inter(comm, &is_inter);
    ek_host.Comm_rank(comm, &rank);
    ek_host.Comm_group(comm, &group);
    int *members = ek_times_world_ranks(group, &count);
    if (is_inter) {
        ek_host.Comm_remote_group(comm, &group);
        remote = ek_times_world_ranks(group, &remote_count);
    }
    ek_depth--;
    ek_times_take_turn();
    ek_checks_define_comm((uintptr_t)comm, rank, members, count, remote, remote_count);
    ek_times_leave_turn();
    free(members);
    free(remote);
}

static void define_type(const ek_type *type)
{
    uint32_t elements = 0;
    bool has_elements = ek_signature_of(type->layout.type, &elements);
    ek_checks_define_type(type->handle, has_elements, elements, (uint64_t)type->layout.size,
                          type->layout.extent, type->contiguous, type->layout.map);
}

void ek_check_type_usable(MPI_Datatype datatype)
{
    ek_type scratch;
    ek_depth++;
    const ek_type *type = ek_type_of(datatype, &scratch);
    ek_times_take_turn();
    if (type && type->layout.size >= 0)
        define_type(type);
    ek_times_leave_turn();
    ek_depth--;
}

/* ---- start and end ---- */

static void init_over(ek_timed *t, const char *name)
{
    if (!ek_checks.is_on)
        return;
    static ek_checked_function function;
    function = (ek_checked_function){name, "", ""};
    ek_check_no_words();
    ek_check_begin(t, &function);
}

static void end(void)
{
    if (!ek_checks.is_on)
        return;
    ek_checks.is_on = false;
    ek_checks_finish();
}

static void stop(void)
{
    ek_checks.is_on = false;
    ek_checks_forget();
}

void ek_check_start(int rank, int size, uint64_t run)
{
    if (!ek_times.is_on || !ek_checks_open((uint32_t)rank, (uint32_t)size, run))
        return;
    ek_note_constants();
    ek_types_each(define_type);
    ek_check_comm_usable(ek_handles.world);
    ek_check_comm_usable(ek_handles.self);
    static const ek_times_observer observer = {init_over, call_over, end, stop};
    ek_times_observed_by = &observer;
    ek_checks.is_on = true;
}
