#include "message/recorded_call.h"
#include "collective/nonblocking.h"
#include "evenkeel.h"
#include "host/datatype.h"
#include "process/host_looks.h"
#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

/* A tool between the program and the host may call MPI from within a call: that is no other call of the
 * program's. */
static _Thread_local bool is_recording __attribute__((tls_model("initial-exec")));

void ek_recorded_call_start(ek_recorded_call *c)
{
    if (is_recording || !ek_process.reports_messages || !ek_serves_caller())
        return;
    is_recording = true;
    c->is_wait = c->is_other = false;
    c->peer = -1;
    c->comm = NULL;
    c->began = ek_message_call_begin();
}

/* The world rank of a member; negative if it is not known. */
static int world_rank(const ek_comm_entry *e, int rank)
{
    return e && e->members && rank >= 0 && rank < e->size ? e->members[rank] : -1;
}

void ek_recorded_call_finish(ek_recorded_call *c)
{
    is_recording = false;
    if (c->comm)
        c->peer = world_rank(c->comm, c->status->MPI_SOURCE);
    if (!c->is_other)
        ek_message_call_end(c->began, c->is_wait, c->peer);
}

/* ---- messages ---- */

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    ek_type scratch;
    const ek_type *t = count > 0 ? ek_type_of(type, &scratch) : NULL;
    return t ? (uint64_t)(count * t->layout.size) : 0;
}

void ek_record_sent(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    if (dest != MPI_PROC_NULL)
        ek_host_message_sent(world_rank(ek_comm_find(comm), dest), bytes_of(count, type));
}

/* Pending barriers may have been completed since the call began: that is not the message's time. */
static void begin_wait(ek_recorded_call *c)
{
    c->is_wait = true;
    c->began = ek_message_call_begin();
}

void ek_record_send(ek_recorded_call *c, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    ek_record_sent(count, type, dest, comm);
    c->peer = world_rank(ek_comm_find(comm), dest);
    begin_wait(c);
}

static void want_status(ek_recorded_call *c, MPI_Status **status)
{
    if (*status == MPI_STATUS_IGNORE) {
        c->own_status.MPI_SOURCE = MPI_PROC_NULL;
        *status = &c->own_status;
    }
}

void ek_record_receive(ek_recorded_call *c, int source, MPI_Comm comm, MPI_Status **status)
{
    begin_wait(c);
    if (source == MPI_PROC_NULL)
        return;
    const ek_comm_entry *e = ek_comm_find(comm);
    c->peer = world_rank(e, source);
    if (source == MPI_ANY_SOURCE) {
        want_status(c, status);
        c->comm = e;
        c->status = *status;
    }
}

/* ---- requests that are made and started ---- */

static void add(MPI_Request request, ek_host_request what)
{
    if (request != ek_handles.request_null)
        ek_host_request_add((uintptr_t)request, what);
}

/* Forgets a request. The entry of the communicator of a receive from any rank has been held for it. */
static void forget(MPI_Request request)
{
    ek_host_request gone;
    if (ek_host_request_remove((uintptr_t)request, &gone) && gone.comm)
        ek_comm_entry_drop((ek_comm_entry *)gone.comm);
}

void ek_record_send_request(int dest, MPI_Comm comm, MPI_Request request)
{
    add(request, (ek_host_request){.peer = world_rank(ek_comm_find(comm), dest)});
}

void ek_record_send_init(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request request)
{
    add(request, (ek_host_request){.peer = world_rank(ek_comm_find(comm), dest),
                                   .sends = dest != MPI_PROC_NULL,
                                   .bytes = bytes_of(count, type)});
}

void ek_record_receive_request(int source, MPI_Comm comm, MPI_Request request)
{
    ek_comm_entry *e = ek_comm_find(comm);
    bool is_from_any = e && source == MPI_ANY_SOURCE && request != ek_handles.request_null;
    if (is_from_any)
        ek_comm_entry_hold(e);
    add(request, (ek_host_request){.comm = is_from_any ? e : NULL, .peer = world_rank(e, source)});
}

void ek_record_starts(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        ek_host_request r;
        if (ek_host_request_find((uintptr_t)requests[i], &r) && r.sends)
            ek_host_message_sent(r.peer, r.bytes);
    }
}

void ek_record_freed(MPI_Request request) { forget(request); }

/* ---- requests that become complete ---- */

void ek_record_requests(ek_recorded_call *c, ek_recorded_requests *r, int count, const MPI_Request *requests)
{
    r->handles = count > EK_FEW_RECORDED ? malloc(sizeof *requests * (size_t)count) : r->few;
    r->count = count > 0 && requests && r->handles ? count : 0;
    if (r->count)
        memcpy(r->handles, requests, sizeof *requests * (size_t)r->count);
    ek_host_request found;
    bool is_any_recorded = false;
    for (int i = 0; i < r->count && !is_any_recorded; i++)
        is_any_recorded = ek_host_request_find((uintptr_t)requests[i], &found);
    c->is_other = !is_any_recorded;
}

void ek_record_wait(ek_recorded_call *c, MPI_Status **status)
{
    want_status(c, status);
    c->began = ek_message_call_begin();
}

void ek_record_ended_by(ek_recorded_call *c, const ek_recorded_requests *r, int index,
                        const MPI_Status *status)
{
    ek_host_request found;
    c->is_wait = index >= 0 && index < r->count && ek_host_request_find((uintptr_t)r->handles[index], &found);
    if (!c->is_wait)
        return;
    bool is_from_any = found.comm && status;
    c->peer = is_from_any ? world_rank(found.comm, status->MPI_SOURCE) : found.peer;
}

/* Whether a request is complete, null or inactive. It is not completed. */
static bool is_complete(MPI_Request request, MPI_Status *status)
{
    int flag = 1;
    EK_HOST_TESTS_SCOPE;
    ek_depth++;
    int code = request == ek_handles.request_null ? 0 : ek_host.Request_get_status(request, &flag, status);
    ek_depth--;
    return code || flag; /* an error is reported when the request is completed */
}

void ek_record_wait_for_all(ek_recorded_call *c, const ek_recorded_requests *r)
{
    if (c->is_other)
        return;
    ek_pause pause = {0};
    MPI_Status status = {.MPI_SOURCE = MPI_PROC_NULL};
    int last = -1; /* all others are complete before this one */
    c->began = ek_message_call_begin();
    for (int i = 0; i < r->count; i++) {
        for (bool is_first = true; !is_complete(r->handles[i], &status); is_first = false) {
            last = i;
            ek_collectives_poll();
            if (ek_process.carries_messages)
                ek_messages_progress();
            if (is_first)
                ek_collectives_set_awaited(r->count, r->handles, true);
            else
                ek_pause_once(&pause);
        }
        if (last == i)
            ek_record_ended_by(c, r, i, &status);
    }
}

void ek_record_completed(ek_recorded_requests *r, const MPI_Request *requests)
{
    for (int i = 0; i < r->count; i++)
        if (requests[i] != r->handles[i])
            forget(r->handles[i]);
    if (r->handles != r->few)
        free(r->handles);
}
