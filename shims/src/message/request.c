#include "message/request.h"
#include "gate/deferral.h"
#include "host/status.h"
#include "message/abandoned.h"
#include "message/arguments.h"
#include "process/errors.h"
#include <stdlib.h>

/* ---- the table ---- */

enum { FIRST_BITS = 8 };

uint32_t ek_message_table_bits;
ek_message_request **ek_message_table;
static uint32_t entries;

static uint32_t table_size(void) { return 1u << ek_message_table_bits; }

ek_message_request *ek_message_request_find(uintptr_t key)
{
    uint32_t mask = table_size() - 1, at = (uint32_t)ek_hash(key, ek_message_table_bits);
    while (ek_message_table[at] && ek_message_table[at]->key != key)
        at = (at + 1) & mask;
    ek_message_request *r = ek_message_table[at];
    return r && r->state != EK_UNUSED ? r : NULL;
}

static void enter(ek_message_request *r)
{
    uint32_t mask = table_size() - 1, at = (uint32_t)ek_hash(r->key, ek_message_table_bits);
    while (ek_message_table[at])
        at = (at + 1) & mask;
    ek_message_table[at] = r;
}

static bool grow(void)
{
    ek_message_request **old = ek_message_table;
    uint32_t bits = old ? ek_message_table_bits + 1 : FIRST_BITS, old_size = old ? table_size() : 0;
    ek_message_request **larger = calloc((size_t)1 << bits, sizeof(*larger));
    if (!larger)
        return false;
    ek_message_table = larger;
    ek_message_table_bits = bits;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i])
            enter(old[i]);
    free(old);
    return true;
}

/* ---- obtaining and releasing ---- */

static ek_message_request *unused;
static ek_message_request *sent; /* see ek_message_request_obtain_sent */
static char nowhere;

/* Makes a request. Requests are used again, so that the host makes a handle only when more are in use than
 * ever before. */
static ek_message_request *make(void)
{
    if ((!ek_message_table || 2 * entries >= table_size()) && !grow())
        return NULL;
    ek_message_request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    ek_depth++;
    int code = ek_host.Recv_init(&nowhere, 0, ek_handles.byte, 0, 0, ek_handles.self, &r->handle);
    ek_depth--;
    if (code) {
        free(r);
        return NULL;
    }
    r->key = (uintptr_t)r->handle;
    entries++;
    enter(r);
    return r;
}

ek_message_request *ek_message_request_obtain(ek_comm_entry *e, MPI_Comm comm)
{
    ek_message_request *r = unused;
    if (r)
        unused = r->next;
    else if (!(r = make()))
        return NULL;
    r->state = EK_ACTIVE;
    r->is_persistent = r->receives = r->sends = r->receives_nothing = false;
    r->call.owns_type = false;
    r->in = r->out = (ek_transfer){0};
    r->comm = comm;
    r->entry = e;
    return r;
}

ek_message_request *ek_message_request_obtain_sent(ek_comm_entry *e, MPI_Comm comm)
{
    if (EK_UNLIKELY(!sent) && (sent = ek_message_request_obtain(e, comm)))
        sent->sends = true;
    return sent;
}

void ek_message_request_release(ek_message_request *r)
{
    if (r == sent)
        return;
    if (r->call.owns_type)
        ek_host.Type_free(&r->call.type);
    r->call.owns_type = false;
    r->state = EK_UNUSED;
    r->next = unused;
    unused = r;
}

int ek_message_request_hand_out(ek_message_request *r, int code, MPI_Request *request)
{
    if (!code) {
        *request = r->handle;
        return MPI_SUCCESS;
    }
    MPI_Comm comm = r->comm;
    ek_comm_entry *e = r->entry;
    ek_message_request_release(r);
    return code == EK_DECLINED ? code : ek_raise_checked(comm, e, code);
}

void ek_message_requests_close(void)
{
    for (uint32_t i = 0; ek_message_table && i < table_size(); i++) {
        if (ek_message_table[i]) {
            ek_host.Request_free(&ek_message_table[i]->handle);
            free(ek_message_table[i]);
        }
    }
    free(ek_message_table);
    ek_message_table = NULL;
    unused = sent = NULL;
    entries = 0;
}

/* ---- finishing ---- */

int ek_message_request_finish(ek_message_request *r, MPI_Request *request, MPI_Status *status)
{
    if (r->state == EK_INACTIVE) {
        ek_status_set_empty(status);
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    if (r->sends)
        code = ek_transfer_finish(&r->out, r->receives ? MPI_STATUS_IGNORE : status);
    if (r->receives_nothing)
        ek_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    else if (r->receives)
        code = ek_transfer_finish(&r->in, status);
    if (r->is_persistent) {
        r->state = EK_INACTIVE;
    } else {
        ek_message_request_release(r);
        *request = ek_handles.request_null;
    }
    return code;
}

int ek_message_request_get_status(const ek_message_request *r, MPI_Status *status)
{
    if (r->state == EK_ACTIVE)
        return ek_transfer_get_status(r->receives ? &r->in : &r->out, status);
    ek_status_set_empty(status);
    return MPI_SUCCESS;
}

bool ek_message_request_gives_up(ek_message_request *r)
{
    if (r->state != EK_ACTIVE || !ek_message_is_revoked(r->entry))
        return false;
    ek_transfer_cancel(&r->in);
    ek_transfer_cancel(&r->out);
    return true;
}

/* ---- MPI calls ---- */

int ek_try_cancel(MPI_Request *request)
{
    ek_message_request *r = ek_message_request_of(*request);
    if (!r)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    if (r->state != EK_ACTIVE || !r->in.message)
        return MPI_SUCCESS;
    /* That it can be cancelled tells the program that nothing has come, as a test does. */
    if (!r->in.message->done && ek_deferred) {
        ek_complete_deferred("MPI_Cancel", false);
        ek_messages_progress();
    }
    if (!r->in.message->done)
        ek_message_cancel(r->in.message);
    return MPI_SUCCESS; /* a send goes on: MPI allows that a cancelled send is sent */
}

int ek_try_request_free(MPI_Request *request)
{
    ek_message_request *r = ek_message_request_of(*request);
    if (!r)
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    if (r->state == EK_ACTIVE) {
        ek_transfer_abandon(&r->in);
        ek_transfer_abandon(&r->out);
    }
    ek_message_request_release(r);
    *request = ek_handles.request_null;
    return MPI_SUCCESS;
}
