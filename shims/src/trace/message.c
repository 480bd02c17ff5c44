#include "trace/message.h"
#include "host/datatype.h"
#include "trace/collective.h"
#include "trace/data.h"
#include <limits.h>
#include <stdlib.h>

/* ---- hashes ---- */

/* Of a request: they are read when it is complete, or started. */
static void keep_elements(ek_traced_request *r, MPI_Datatype type)
{
    r->elements = ek_traced_type_of(type);
    ek_traced_type_hold(&r->elements);
}

void ek_trace_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag)
{
    if (dest == MPI_PROC_NULL || count < 0)
        return;
    ek_traced_type t = ek_traced_type_of(type);
    ek_trace_elements(false, dest, tag, buf, (size_t)count * t.size, &t);
}

static const ek_traced_type NOT_READ = {0};

static void received(const MPI_Status *status, const void *buf, const ek_traced_type *type)
{
    int bytes = 0;
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    if (ek_host.Get_count(status, ek_handles.byte, &bytes) || bytes == MPI_UNDEFINED)
        bytes = 0; /* more than an int holds */
    ek_trace_elements(true, status->MPI_SOURCE, status->MPI_TAG, buf, (size_t)bytes, type);
}

void ek_trace_found(const MPI_Status *status) { received(status, NULL, &NOT_READ); }

/* ---- blocking receives ---- */

static bool is_wild(int source, int tag)
{
    return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

static void want_status(ek_traced_receive *r, MPI_Status **status)
{
    if (*status == MPI_STATUS_IGNORE)
        *status = &r->own;
    r->status = *status;
}

void ek_trace_receive(ek_traced_receive *r, int *source, int *tag, MPI_Status **status)
{
    want_status(r, status);
    r->is_wild = is_wild(*source, *tag);
    if (!r->is_wild)
        return;
    ek_trace_posted posted = ek_trace_post();
    r->number = posted.number;
    if (!ek_trace_replays())
        return;
    if (posted.fate != EK_TRACE_FATE_MATCHED)
        ek_trace_never_complete(false);
    *source = posted.source;
    *tag = posted.tag;
}

void ek_trace_receive_matched(ek_traced_receive *r, MPI_Status **status)
{
    want_status(r, status);
    r->is_wild = false;
}

void ek_trace_received(const ek_traced_receive *r, int code, const void *buf, MPI_Datatype type)
{
    if (code) {
        ek_trace_note_failure();
        return;
    }
    if (r->is_wild)
        ek_trace_matched(r->number, r->status->MPI_SOURCE, r->status->MPI_TAG);
    ek_traced_type t = ek_traced_type_of(type);
    received(r->status, buf, &t);
}

/* ---- nonblocking receives ---- */

/* A place where nothing is sent to. */
static MPI_Comm nowhere(void)
{
    if (!ek_trace.has_nowhere) {
        ek_depth++;
        ek_trace.has_nowhere = !ek_host.Comm_dup(ek_handles.self, &ek_trace.nowhere);
        ek_depth--;
    }
    return ek_trace.nowhere;
}

/* Gives a receive the source and tag that the trace says. Returns whether it is posted where nothing is sent.
 */
static bool direct(const ek_trace_posted *posted, bool is_wild, int *source, int *tag, MPI_Comm *comm)
{
    if (posted->fate == EK_TRACE_FATE_MATCHED) {
        *source = posted->source;
        *tag = posted->tag;
        return false;
    }
    if (!comm || (!is_wild && posted->fate != EK_TRACE_FATE_CANCELLED))
        return false;
    *source = *tag = 0;
    *comm = nowhere();
    return true;
}

void ek_trace_post_receive(ek_traced_post *p, int *source, int *tag, MPI_Comm *comm)
{
    p->is_from_nobody = *source == MPI_PROC_NULL;
    if (p->is_from_nobody)
        return;
    p->is_wild = is_wild(*source, *tag);
    p->posted = ek_trace_post();
    p->is_nowhere = ek_trace_replays() && direct(&p->posted, p->is_wild, source, tag, comm);
}

void ek_trace_receive_posted(const ek_traced_post *p, int code, MPI_Request request, void *buf,
                             MPI_Datatype type)
{
    ek_traced_request *r = code || p->is_from_nobody ? NULL : ek_traced_request_add(request);
    if (!r)
        return;
    r->receives = r->is_numbered = true;
    r->is_wild = p->is_wild;
    r->is_nowhere = p->is_nowhere;
    r->was_cancelled = p->posted.fate == EK_TRACE_FATE_CANCELLED;
    r->number = p->posted.number;
    keep_elements(r, type);
    r->buf = buf;
}

void ek_trace_matched_receive_started(int code, MPI_Request request, void *buf, MPI_Datatype type)
{
    ek_traced_request *r = code ? NULL : ek_traced_request_add(request);
    if (!r)
        return;
    r->receives = true;
    keep_elements(r, type);
    r->buf = buf;
}

/* ---- persistent requests ---- */

void ek_trace_send_made(int code, MPI_Request request, const void *buf, MPI_Count count, MPI_Datatype type,
                        int dest, int tag)
{
    ek_traced_request *r = code || dest == MPI_PROC_NULL ? NULL : ek_traced_request_add(request);
    if (!r)
        return;
    r->is_persistent = true;
    r->is_active = false;
    keep_elements(r, type);
    r->buf = (void *)buf;
    r->count = count;
    r->peer = dest;
    r->tag = tag;
}

void ek_trace_make_receive(ek_traced_request *made, void *buf, MPI_Count count, MPI_Datatype type,
                           int *source, int *tag, MPI_Comm *comm)
{
    *made = (ek_traced_request){.receives = true,
                                .is_persistent = true,
                                .is_wild = is_wild(*source, *tag),
                                .buf = buf,
                                .count = count,
                                .type = type,
                                .peer = *source,
                                .tag = *tag,
                                .comm = *comm,
                                .inner = ek_handles.request_null};
    if (!ek_trace_replays() || *source == MPI_PROC_NULL)
        return;
    /* The request that the program gets is never started. Its type may be freed before it would be. */
    ek_type scratch;
    const ek_type *t = ek_type_of(type, &scratch);
    if (!t || !t->predefined) {
        ek_depth++;
        made->owns_type = !ek_host.Type_dup(type, &made->type);
        ek_depth--;
    }
    *source = *tag = 0;
    *comm = nowhere();
}

void ek_trace_receive_made(const ek_traced_request *made, int code, MPI_Request request)
{
    ek_traced_request *r = code || made->peer == MPI_PROC_NULL ? NULL : ek_traced_request_add(request);
    if (!r)
        return;
    ek_traced_request *next = r->next;
    *r = *made;
    keep_elements(r, made->type);
    r->next = next;
    r->handle = request;
}

/* Of a repetition: posts what a persistent receive starts. */
static int post_inner(ek_traced_request *r, const ek_trace_posted *posted)
{
    int source = r->peer, tag = r->tag;
    MPI_Comm comm = r->comm;
    r->is_nowhere = direct(posted, r->is_wild, &source, &tag, &comm);
    if (r->count <= INT_MAX)
        return PMPI_Irecv(r->buf, (int)r->count, r->type, source, tag, comm, &r->inner);
#ifdef EK_HAS_Irecv_c
    return PMPI_Irecv_c(r->buf, r->count, r->type, source, tag, comm, &r->inner);
#else
    return MPI_ERR_COUNT;
#endif
}

/* Returns whether a repetition has started it in another way. */
static bool begin(ek_traced_request *r, int *code)
{
    r->is_active = true;
    r->is_settled = r->is_cancelled = false;
    if (r->contribution) {
        ek_trace_contribution(r->contribution);
        return false;
    }
    if (!r->receives) {
        size_t bytes = r->elements.is_read ? (size_t)r->count * r->elements.size : 0;
        ek_trace_elements(false, r->peer, r->tag, r->buf, bytes, &r->elements);
        return false;
    }
    ek_trace_posted posted = ek_trace_post();
    r->number = posted.number;
    r->is_numbered = true;
    r->was_cancelled = posted.fate == EK_TRACE_FATE_CANCELLED;
    if (!ek_trace_replays())
        return false;
    *code = post_inner(r, &posted);
    return true;
}

int ek_traced_start(MPI_Request *request)
{
    int code = MPI_SUCCESS;
    ek_traced_request *r = ek_traced_request_of(*request);
    return r && begin(r, &code) ? code : PMPI_Start(request);
}

int ek_traced_startall(int count, MPI_Request *requests)
{
    if (ek_trace_replays()) {
        int code = MPI_SUCCESS;
        for (int i = 0; i < count && !code; i++)
            code = ek_traced_start(&requests[i]);
        return code;
    }
    for (int i = 0, ignored; i < count; i++) {
        ek_traced_request *r = ek_traced_request_of(requests[i]);
        if (r)
            begin(r, &ignored);
    }
    return PMPI_Startall(count, requests);
}

/* ---- any request ---- */

static void resolve(const ek_traced_request *r, const MPI_Status *status, int was_cancelled)
{
    if (!r->is_numbered || ek_trace_replays())
        return;
    if (was_cancelled)
        ek_trace_cancelled(r->number);
    else if (r->is_wild)
        ek_trace_matched(r->number, status->MPI_SOURCE, status->MPI_TAG);
}

static int is_cancelled(const ek_traced_request *r, const MPI_Status *status)
{
    int cancelled = 0;
    if (r->is_cancelled)
        ek_host.Test_cancelled(status, &cancelled);
    return cancelled;
}

void ek_trace_learn(ek_traced_request *r, const MPI_Status *status)
{
    if (r->result && !r->is_settled) {
        ek_trace_result(r->result);
        r->is_settled = true;
    }
    if (!r->receives || !r->is_active || r->is_settled)
        return;
    int was_cancelled = is_cancelled(r, status);
    resolve(r, status, was_cancelled);
    if (!was_cancelled)
        received(status, r->buf, &r->elements);
    r->is_settled = true;
}

void ek_trace_settle(ek_traced_request *r, const MPI_Status *status)
{
    ek_trace_learn(r, status);
    if (r->is_persistent)
        r->is_active = false;
    else
        ek_traced_request_remove(r);
}

/* Cancelling what is no receive with a number is left to the library when a trace is written. In a repetition
 * nothing but a receive from nowhere is cancelled: all others got a message in the recorded run. */
int ek_traced_cancel(MPI_Request *request)
{
    ek_traced_request *r = ek_traced_request_of(*request);
    if (r && r->receives)
        r->is_cancelled = true;
    if (!ek_trace_replays()) {
        if (!r || !r->is_numbered)
            ek_trace_unpromised("MPI_Cancel of a send, or of the receive of a matched message");
        return PMPI_Cancel(request);
    }
    if (!r || !r->receives || !r->is_nowhere)
        return MPI_SUCCESS;
    return PMPI_Cancel(r->is_persistent ? &r->inner : request);
}

int ek_traced_request_free(MPI_Request *request)
{
    ek_traced_request *r = ek_traced_request_of(*request);
    if (r && r->receives && r->is_active) {
        r->is_freed = true; /* in MPI_Finalize it is seen whether it has taken a message */
        *request = ek_handles.request_null;
        return MPI_SUCCESS;
    }
    if (r)
        ek_traced_request_remove(r);
    return PMPI_Request_free(request);
}

/* A receive that got a message which no call has shown: that matters, as later receives got later ones. */
static void settle_at_the_end(ek_traced_request *r)
{
    if (!r->receives || !r->is_active)
        return;
    MPI_Request *request = r->is_persistent && ek_trace_replays() ? &r->inner : &r->handle;
    MPI_Status status;
    int flag = 0, code = MPI_SUCCESS;
    if (ek_trace_replays() && r->is_nowhere) {
        PMPI_Cancel(request);
        PMPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    if (!ek_trace_replays())
        code = PMPI_Test(request, &flag, &status);
    if (flag && !code && !r->is_settled)
        resolve(r, &status, is_cancelled(r, &status));
    else if (r->is_freed && *request != ek_handles.request_null)
        PMPI_Request_free(request);
}

void ek_trace_settle_all(void) { ek_traced_requests_visit(settle_at_the_end); }
