/* Probes, and receives of what a matched probe took out. See message.h. */
#include "message/message.h"

/* ---- looking ---- */

static ek_entry *probed(int source, int tag, MPI_Comm comm)
{
    ek_entry *e = source == MPI_PROC_NULL ? NULL : ek_message_entry(comm);
    return e && ek_message_peer(e, source, true) && ek_message_tag(tag, true) ? e : NULL;
}

/* One look; 1 if something was found. */
static int probe(ek_entry *e, int source, int tag, int take, ek_probed *found, MPI_Status *status)
{
    int there = ek_message_probe(e->ek, source == MPI_ANY_SOURCE ? -1 : source, tag == MPI_ANY_TAG ? -1 : tag,
                                 take, found);
    if (there)
        ek_status(status, found->source, found->tag, found->bytes, false);
    return there;
}

static int await(ek_entry *e, int source, int tag, int take, ek_probed *found, MPI_Status *status)
{
    int code = MPI_SUCCESS;
    ek_message_wait_begin();
    while (!code && !probe(e, source, tag, take, found, status)) {
        ek_message_pause(ek_deferred ? EK_BESIDE_BARRIER : EK_BESIDE_NOTHING);
        if (EK_UNLIKELY(ek_outstanding > 0))
            ek_poll();
        if (EK_UNLIKELY(ek_message_revoked(e)))
            code = ek_error_class(EK_REVOKED);
    }
    ek_message_wait_end();
    return code;
}

/* ---- taking out ---- */

/* What a matched probe took out goes by a genuine message handle of the host's, kept for later use. */
typedef struct kept {
    MPI_Message handle;
    MPI_Request sent; /* what the handle comes from: complete when that is received, at the end */
    void *matched;    /* NULL: free */
    MPI_Comm comm;
    ek_entry *entry;
    struct kept *next;
} kept;
static kept *all_kept;
static char nothing;
static MPI_Comm aside; /* where genuine messages come from */
static bool has_aside;

static kept *keep(void)
{
    kept *k = all_kept;
    while (k && k->matched)
        k = k->next;
    if (k || !(k = calloc(1, sizeof *k)))
        return k;
    int there = 0, code = has_aside ? MPI_SUCCESS : ek_host.Comm_dup(ek_handles.self, &aside);
    has_aside = has_aside || !code;
    if (!code)
        code = ek_host.Isend(&nothing, 0, ek_handles.byte, 0, 0, aside, &k->sent);
    while (!code && !there)
        code = ek_host.Improbe(0, 0, aside, &there, &k->handle, MPI_STATUS_IGNORE);
    if (code) {
        free(k);
        return NULL;
    }
    k->next = all_kept;
    all_kept = k;
    return k;
}

void ek_matched_end(void)
{
    while (all_kept) {
        kept *k = all_kept;
        all_kept = k->next;
        ek_host.Mrecv(&nothing, 0, ek_handles.byte, &k->handle, MPI_STATUS_IGNORE);
        for (int there = 0; !there && !ek_host.Test(&k->sent, &there, MPI_STATUS_IGNORE);)
            ;
        free(k);
    }
    if (has_aside)
        ek_host.Comm_free(&aside);
    has_aside = false;
}

static int hand_out(ek_entry *e, MPI_Comm comm, const ek_probed *found, MPI_Message *message)
{
    ek_depth++;
    kept *k = keep();
    ek_depth--;
    if (!k)
        return MPI_ERR_NO_MEM;
    k->matched = found->matched;
    k->comm = comm;
    k->entry = e;
    *message = k->handle;
    return MPI_SUCCESS;
}

/* ---- the four probes ---- */

/* Any of them. `flag`: NULL if it waits; `message`: NULL if what it finds stays where it is. */
static int any_probe(const char *name, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                     MPI_Status *status)
{
    ek_entry *e = probed(source, tag, comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_probed found;
    int code, there = 1, take = message != NULL;
    if (!flag) {
        code = await(e, source, tag, take, &found, status);
    } else {
        if (EK_UNLIKELY(ek_outstanding > 0))
            ek_poll();
        EK_LOOK(name, (there = probe(e, source, tag, take, &found, status), MPI_SUCCESS), there, code);
        *flag = there;
    }
    if (!code && there && take)
        code = hand_out(e, comm, &found, message);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

int ekm_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return any_probe("MPI_Probe", source, tag, comm, NULL, NULL, status);
}

int ekm_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return any_probe("MPI_Iprobe", source, tag, comm, flag, NULL, status);
}

int ekm_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return any_probe("MPI_Mprobe", source, tag, comm, NULL, message, status);
}

int ekm_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return any_probe("MPI_Improbe", source, tag, comm, flag, message, status);
}

/* ---- receives of what was taken out ---- */

/* The receive of a matched message of ours, started. */
int ek_half_matched(ek_half *h, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                    ek_entry **e, MPI_Comm *comm)
{
    kept *k = all_kept;
    while (k && (k->handle != *message || !k->matched))
        k = k->next;
    if (!k)
        return EK_HOST_SHALL;
    int code = ek_half_receive(h, k->entry, buf, count, type, 0, 0, k->matched);
    *e = k->entry;
    *comm = k->comm;
    if (code == EK_HOST_SHALL)
        return MPI_ERR_TYPE; /* the host knows nothing of this message */
    if (code == MPI_SUCCESS) {
        k->matched = NULL;
        *message = MPI_MESSAGE_NULL;
    }
    return code;
}

int ekm_mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    EK_PASS;
    ek_half h;
    ek_entry *e;
    MPI_Comm comm;
    int code = ek_half_matched(&h, buf, count, type, message, &e, &comm);
    if (code == EK_HOST_SHALL)
        return code;
    if (!code)
        code = ek_half_await(&h, e, status);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}
