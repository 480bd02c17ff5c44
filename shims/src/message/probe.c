#include "message/probe.h"
#include "collective/nonblocking.h"
#include "host/status.h"
#include "message/arguments.h"
#include "message/matched.h"
#include "message/poll.h"
#include "message/request.h"
#include "message/wait.h"
#include "process/call_line.h"
#include "process/errors.h"
#include "process/faults.h"

/* ---- probing ---- */

/* What a probe is for. */
typedef struct pattern {
    ek_comm_entry *entry;
    int source, tag;
    bool takes; /* what it finds is taken out */
} pattern;

static bool probe_once(const pattern *p, ek_found_message *found, MPI_Status *status)
{
    bool is_there = ek_message_probe(p->entry->engine, ek_engine_source(p->source), ek_engine_tag(p->tag),
                                     p->takes, found);
    if (is_there)
        ek_status_set(status, found->source, found->tag, found->bytes, false);
    return is_there;
}

static int wait_for(const char *name, MPI_Comm comm, const pattern *p, ek_found_message *found,
                    MPI_Status *status)
{
    EK_IN_CALL(name, comm, p->source, p->tag);
    int code = MPI_SUCCESS;
    ek_message_wait_begin();
    while (!code && !probe_once(p, found, status)) {
        ek_message_wait_pause(ek_deferred ? EK_ALSO_AWAITED_BARRIER : EK_ALSO_AWAITED_NOTHING);
        ek_collectives_poll();
        if (EK_UNLIKELY(ek_message_is_revoked(p->entry)))
            code = ek_error_class(EK_REVOKED);
    }
    ek_message_wait_end();
    return code;
}

static bool poll(const char *name, const pattern *p, ek_found_message *found, MPI_Status *status)
{
    bool is_there;
    int rounds = EK_POLL_FIRST;
    ek_collectives_poll();
    do
        is_there = probe_once(p, found, status);
    while (!is_there && ek_poll_again(name, &rounds));
    return is_there;
}

/* Any of the four probes. `flag`: NULL if it waits; `message`: NULL if what it finds stays where it is. */
static int probe(const char *name, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    const pattern p = {ek_message_comm(comm), source, tag, message != NULL};
    if (source == MPI_PROC_NULL || !p.entry || !ek_message_rank_is_valid(p.entry, source, true) ||
        !ek_message_tag_is_valid(tag, true))
        return EK_DECLINED;
    EK_OPEN_GATE_SCOPE;
    ek_found_message found;
    int code = MPI_SUCCESS;
    bool is_there = true;
    if (flag)
        *flag = is_there = poll(name, &p, &found, status);
    else
        code = wait_for(name, comm, &p, &found, status);
    if (!code && is_there && message)
        code = ek_matched_hand_out(found.matched, p.entry, comm, message);
    return ek_raise_checked(comm, p.entry, code);
}

int ek_try_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe("MPI_Probe", source, tag, comm, NULL, NULL, status);
}

int ek_try_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe("MPI_Iprobe", source, tag, comm, flag, NULL, status);
}

int ek_try_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe("MPI_Mprobe", source, tag, comm, NULL, message, status);
}

int ek_try_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return probe("MPI_Improbe", source, tag, comm, flag, message, status);
}

/* ---- receiving what was taken out ---- */

/* Starts the receive. The message is evenkeel's, so even a call with an error cannot be left to the host. */
static int receive(ek_matched *m, ek_transfer *t, void *buf, MPI_Count count, MPI_Datatype type,
                   MPI_Message *message)
{
    int code = ek_transfer_receive_matched(t, m->entry, buf, count, type, m->message);
    if (code == MPI_SUCCESS)
        ek_matched_release(m, message);
    return code == EK_DECLINED ? MPI_ERR_TYPE : code;
}

int ek_try_mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    EK_OPEN_GATE_SCOPE;
    ek_transfer t;
    ek_matched *m = ek_matched_of(*message);
    if (!m)
        return EK_DECLINED;
    int code = receive(m, &t, buf, count, type, message);
    if (!code)
        code = ek_transfer_wait(&t, m->entry, status, "MPI_Mrecv", m->comm, EK_NONE, EK_NONE);
    return ek_raise_checked(m->comm, m->entry, code);
}

int ek_try_imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    EK_OPEN_GATE_SCOPE;
    ek_transfer t;
    ek_matched *m = ek_matched_of(*message);
    if (!m)
        return EK_DECLINED;
    int code = receive(m, &t, buf, count, type, message);
    if (code)
        return ek_raise_checked(m->comm, m->entry, code);
    ek_message_request *r = ek_message_request_obtain(m->entry, m->comm);
    if (!r)
        return ek_raise_checked(m->comm, m->entry, MPI_ERR_NO_MEM);
    r->receives = true;
    r->in = t;
    return ek_message_request_hand_out(r, MPI_SUCCESS, request);
}
