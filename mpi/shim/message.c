/* Blocking sends and receives, and probes. See message.h. */
#include "message.h"

int ek_messages;

static int tag_limit = 32767;

/* ---- what is ours, and what is wrong with a call ---------------------------------------------------------------- */

ek_entry *ek_message_entry(MPI_Comm comm)
{
    ek_entry *e = ek_find(comm);
    return e && e->ek && ek_serves(e->ek) && !ek_is_revoked(e->ek) ? e : NULL;
}

bool ek_message_revoked(const ek_entry *e) { return e && e->ek && ek_is_revoked(e->ek); }

bool ek_message_peer(const ek_entry *e, int rank, bool wildcard)
{
    return (rank >= 0 && rank < e->size) || (wildcard && rank == MPI_ANY_SOURCE);
}

bool ek_message_tag(int tag, bool wildcard) { return (tag >= 0 && tag <= tag_limit) || (wildcard && tag == MPI_ANY_TAG); }

int ek_raise(MPI_Comm comm, const ek_entry *e, int code)
{
    if (code) {
        ek_depth++;
        ek_host.Comm_call_errhandler(e && atomic_load(&e->handle) == (uintptr_t)comm ? comm : ek_handles.world, code);
        ek_depth--;
    }
    return code;
}

/* ---- statuses ------------------------------------------------------------------------------------------------- */

void ek_status(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    ek_host.Status_set_elements_x(status, ek_handles.byte, (MPI_Count)bytes);
    ek_host.Status_set_cancelled(status, cancelled);
}

void ek_status_empty(MPI_Status *status) { ek_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false); }

/* ---- halves ------------------------------------------------------------------------------------------------------ */

void ek_half_drop(ek_half *h)
{
    free(h->packed);
    if (h->own_type)
        ek_host.Type_free(&h->type);
    *h = (ek_half){0};
}

int ek_half_send(ek_half *h, ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, enum ek_mode mode)
{
    ek_side side;
    *h = (ek_half){0};
    if (!ek_message_peer(e, dest, false) || !ek_message_tag(tag, false) || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    const void *data = buf;
    if (!side.type->dense || mode == EK_BUFFERED) {
        if (!(h->packed = malloc(side.bytes + 1)))
            return MPI_ERR_NO_MEM;
        if (!side.type->dense && ek_pack(buf, count, type, side.type, h->packed)) {
            ek_half_drop(h);
            return EK_HOST_SHALL; /* the host will say what is wrong */
        }
        if (side.type->dense && side.bytes)
            memcpy(h->packed, buf, side.bytes);
        data = h->packed;
    } else if (!buf && side.bytes) {
        return EK_HOST_SHALL;
    }
    h->message = ek_message_send(e->ek, dest, tag, mode == EK_SYNCHRONOUS, data, side.bytes);
    if (!h->message && h->packed)
        ek_half_drop(h);
    return MPI_SUCCESS;
}

int ek_half_receive(ek_half *h, ek_entry *e, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, void *matched)
{
    ek_side side;
    *h = (ek_half){0};
    if (!matched && (!ek_message_peer(e, source, true) || !ek_message_tag(tag, true)))
        return EK_HOST_SHALL;
    if (!ek_measure(&side, count, type) || (side.type->dense && !buf && side.bytes))
        return EK_HOST_SHALL;
    void *room = buf;
    if (!side.type->dense && side.bytes) {
        if (!(h->packed = malloc(side.bytes)))
            return MPI_ERR_NO_MEM;
        h->type = type;
        /* The program may free the type while the receive is under way. */
        if (!side.type->named && !(h->own_type = !ek_host.Type_dup(type, &h->type))) {
            ek_half_drop(h);
            return MPI_ERR_TYPE;
        }
        room = h->packed;
    }
    h->user = buf;
    h->count = count;
    h->size = side.type->size;
    h->extent = side.type->extent;
    h->message = matched ? ek_message_receive_matched(e->ek, matched, room, side.bytes)
                         : ek_message_receive(e->ek, source == MPI_ANY_SOURCE ? -1 : source, tag == MPI_ANY_TAG ? -1 : tag, room, side.bytes);
    return MPI_SUCCESS;
}

/* Fewer bytes may have come than the buffer holds, and they may end within an element. */
static int unpack(const ek_half *h, size_t bytes)
{
    MPI_Count whole = (MPI_Count)bytes / h->size;
    size_t    rest = bytes % (size_t)h->size;
    int       code = ek_unpack(h->packed, whole, h->type, h->size, h->extent, h->user);
    if (code || !rest)
        return code;
    const ek_type one = {.size = h->size, .extent = h->extent};
    char *element = malloc((size_t)h->size), *place = (char *)h->user + whole * h->extent;
    if (!element)
        return MPI_ERR_NO_MEM;
    code = ek_pack(place, 1, h->type, &one, element);
    if (!code) {
        memcpy(element, h->packed + whole * h->size, rest);
        code = ek_unpack(element, 1, h->type, h->size, h->extent, place);
    }
    free(element);
    return code;
}

int ek_half_finish(ek_half *h, MPI_Status *status)
{
    const ek_message *m = h->message;
    int code = MPI_SUCCESS;
    if (m && h->user && h->packed && !m->cancelled) {
        size_t room = (size_t)(h->count * h->size);
        code = unpack(h, m->bytes < room ? m->bytes : room);
    }
    if (m && m->truncated) {
        code = MPI_ERR_TRUNCATE;
    }
    if (status != MPI_STATUS_IGNORE) {
        size_t room = (size_t)(h->count * h->size);
        if (m)
            ek_status(status, m->source < 0 ? MPI_ANY_SOURCE : m->source, m->source < 0 ? MPI_ANY_TAG : m->tag,
                      m->cancelled ? 0 : m->truncated ? room : m->bytes, m->cancelled);
        else
            ek_status_empty(status);
    }
    if (h->message)
        ek_message_free(h->message);
    ek_half_drop(h);
    return code;
}

void ek_message_wait_on(const ek_half *h)
{
    ek_message_pause(h->message && h->message->done ? EK_BESIDE_BARRIER : EK_BESIDE_NOTHING);
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
}

/* Waits for one half; its error, not raised. */
static int finish(ek_half *h, const ek_entry *e, MPI_Status *status)
{
    if (!ek_half_complete(h, false)) {
        ek_message_wait_begin();
        while (!ek_half_complete(h, false)) {
            if (EK_UNLIKELY(ek_message_revoked(e))) {
                ek_message_free(h->message);
                h->message = NULL;
                ek_half_drop(h);
                return ek_error_class(EK_REVOKED);
            }
            ek_message_wait_on(h);
        }
        ek_message_wait_end();
    }
    return ek_half_finish(h, status);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static int send_and_wait(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, enum ek_mode mode)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half h;
    int code = ek_half_send(&h, e, buf, count, type, dest, tag, mode);
    if (EK_LIKELY(code == MPI_SUCCESS)) {
        if (EK_LIKELY(!h.message))
            return MPI_SUCCESS;
        code = finish(&h, e, MPI_STATUS_IGNORE);
    }
    return code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

int ekm_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_and_wait(buf, count, type, dest, tag, comm, EK_STANDARD);
}

int ekm_ssend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_and_wait(buf, count, type, dest, tag, comm, EK_SYNCHRONOUS);
}

int ekm_rsend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_and_wait(buf, count, type, dest, tag, comm, EK_STANDARD);
}

int ekm_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half h;
    int code = ek_half_receive(&h, e, buf, count, type, source, tag, NULL);
    if (EK_LIKELY(code == MPI_SUCCESS))
        code = finish(&h, e, status);
    return EK_LIKELY(code == MPI_SUCCESS) || code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

int ekm_sendrecv(const void *out, MPI_Count out_count, MPI_Datatype out_type, int dest, int out_tag, void *in, MPI_Count in_count,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side   side;
    if (!e || (dest == MPI_PROC_NULL && source == MPI_PROC_NULL))
        return EK_HOST_SHALL;
    /* All that could be wrong is looked at first: one half alone cannot be the host's. */
    if ((dest != MPI_PROC_NULL && (!ek_message_peer(e, dest, false) || !ek_message_tag(out_tag, false) || !ek_measure(&side, out_count, out_type))) ||
        (source != MPI_PROC_NULL && (!ek_message_peer(e, source, true) || !ek_message_tag(in_tag, true) || !ek_measure(&side, in_count, in_type))))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half receive = {0}, send = {0};
    int code = source == MPI_PROC_NULL ? MPI_SUCCESS : ek_half_receive(&receive, e, in, in_count, in_type, source, in_tag, NULL);
    if (!code && dest != MPI_PROC_NULL)
        code = ek_half_send(&send, e, out, out_count, out_type, dest, out_tag, EK_STANDARD);
    if (code == EK_HOST_SHALL)
        code = MPI_ERR_BUFFER;
    if (!code)
        code = finish(&send, e, MPI_STATUS_IGNORE);
    if (source == MPI_PROC_NULL) {
        ek_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    } else if (!code) {
        code = finish(&receive, e, status);
    }
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

int ekm_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag, MPI_Comm comm,
                         MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side   side;
    if (!e || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    char *copy = malloc(side.bytes + 1);
    if (!copy)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    int code = EK_HOST_SHALL;
    if (!side.bytes || !ek_pack(buf, count, type, side.type, copy))
        code = ekm_sendrecv(copy, (MPI_Count)side.bytes, ek_handles.byte, dest, out_tag, buf, count, type, source, in_tag, comm, status);
    free(copy);
    return code;
}

/* ---- probes ---------------------------------------------------------------------------------------------------- */

static ek_entry *probed(int source, int tag, MPI_Comm comm)
{
    ek_entry *e = source == MPI_PROC_NULL ? NULL : ek_message_entry(comm);
    return e && ek_message_peer(e, source, true) && ek_message_tag(tag, true) ? e : NULL;
}

/* One look; 1 if something was found. */
static int probe(ek_entry *e, int source, int tag, int take, ek_probed *found, MPI_Status *status)
{
    int there = ek_message_probe(e->ek, source == MPI_ANY_SOURCE ? -1 : source, tag == MPI_ANY_TAG ? -1 : tag, take, found);
    if (there)
        ek_status(status, found->source, found->tag, found->bytes, false);
    return there;
}

static int await(ek_entry *e, int source, int tag, int take, ek_probed *found, MPI_Status *status)
{
    ek_message_wait_begin();
    while (!probe(e, source, tag, take, found, status)) {
        if (EK_UNLIKELY(ek_message_revoked(e)))
            return ek_error_class(EK_REVOKED);
        ek_message_pause(ek_deferred ? EK_BESIDE_BARRIER : EK_BESIDE_NOTHING);
        if (EK_UNLIKELY(ek_outstanding > 0))
            ek_poll();
    }
    ek_message_wait_end();
    return MPI_SUCCESS;
}

int ekm_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    ek_entry *e = probed(source, tag, comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_probed found;
    int code = await(e, source, tag, 0, &found, status);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

int ekm_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    ek_entry *e = probed(source, tag, comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_probed found;
    int code;
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
    EK_LOOK("MPI_Iprobe", (*flag = probe(e, source, tag, 0, &found, status), MPI_SUCCESS), *flag, code);
    return code;
}

/* ---- matched probes -------------------------------------------------------------------------------------------- */

/* What a matched probe took out goes by a genuine message handle of the host's, kept for later use. */
typedef struct kept {
    MPI_Message  handle;
    MPI_Request  sent;    /* what the handle comes from: complete when that is received, at the end */
    void        *matched; /* NULL: free */
    MPI_Comm     comm;
    ek_entry    *entry;
    struct kept *next;
} kept;
static kept *all_kept;
static char nothing;
static MPI_Comm aside; /* where genuine messages come from */

static kept *keep(void)
{
    kept *k = all_kept;
    while (k && k->matched)
        k = k->next;
    if (k || !(k = calloc(1, sizeof *k)))
        return k;
    int there = 0, code = aside == ek_handles.comm_null ? ek_host.Comm_dup(ek_handles.self, &aside) : MPI_SUCCESS;
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

static void give_back_kept(void)
{
    while (all_kept) {
        kept *k = all_kept;
        all_kept = k->next;
        ek_host.Mrecv(&nothing, 0, ek_handles.byte, &k->handle, MPI_STATUS_IGNORE);
        for (int there = 0; !there && !ek_host.Test(&k->sent, &there, MPI_STATUS_IGNORE);)
            ;
        free(k);
    }
    if (aside != ek_handles.comm_null)
        ek_host.Comm_free(&aside);
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

int ekm_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    ek_entry *e = probed(source, tag, comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_probed found;
    int code = await(e, source, tag, 1, &found, status);
    if (!code)
        code = hand_out(e, comm, &found, message);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

int ekm_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    ek_entry *e = probed(source, tag, comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_probed found;
    int code;
    EK_LOOK("MPI_Improbe", (*flag = probe(e, source, tag, 1, &found, status), MPI_SUCCESS), *flag, code);
    if (!code && *flag)
        code = hand_out(e, comm, &found, message);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

/* The receive of a matched message of ours, started. */
int ek_half_matched(ek_half *h, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, ek_entry **e, MPI_Comm *comm)
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
    ek_half   h;
    ek_entry *e;
    MPI_Comm  comm;
    int code = ek_half_matched(&h, buf, count, type, message, &e, &comm);
    if (code == EK_HOST_SHALL)
        return code;
    if (!code)
        code = finish(&h, e, status);
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

/* ---- start and end ------------------------------------------------------------------------------------------------- */

/* Whether all ranks carry messages is agreed once, when all other facts of the start are known. */
static bool agreed(void)
{
    ek_entry *e = ek_find(ek_handles.world);
    int  size;
    char mine = (char)(ek_defers && !ek_handles_faults() && e && e->ek && ek_serves(e->ek) && ek_messages_wanted());
    ek_host.Comm_size(ek_handles.world, &size);
    char *all = calloc((size_t)size, 1);
    bool  yes = all && !ek_host.Allgather(&mine, 1, ek_handles.byte, all, 1, ek_handles.byte, ek_handles.world);
    for (int r = 0; yes && r < size; r++)
        yes = all[r];
    free(all);
    return yes;
}

void ek_messages_begin(void)
{
    void *limit;
    int   flag = 0;
    if (!agreed())
        return;
    if (!ek_host.Comm_get_attr(ek_handles.world, MPI_TAG_UB, &limit, &flag) && flag)
        tag_limit = *(int *)limit;
    aside = ek_handles.comm_null;
    ek_messages_open();
    ek_messages = 1;
}


/* What has been sent is received, or never will be; nobody leaves before others have what they want from him. */
void ek_messages_end(void)
{
    if (!ek_messages)
        return;
    ek_message_wait_begin();
    while (ek_messages_sending())
        ek_message_pause(EK_BESIDE_NOTHING);
    ek_entry *e = ek_find(ek_handles.world);
    if (e && e->ek && !ek_is_revoked(e->ek))
        ek_barrier(e->ek, 0);
    ek_transfers_end();
    give_back_kept();
    ek_messages = 0;
    ek_messages_close();
}
