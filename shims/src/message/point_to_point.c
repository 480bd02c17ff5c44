/* Blocking sends and receives; how the carrying of messages starts and ends. See message.h. */
#include "message/message.h"

int ek_messages;

static int tag_limit = 32767;

/* ---- what is ours, and what is wrong with a call ---- */

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

bool ek_message_tag(int tag, bool wildcard)
{
    return (tag >= 0 && tag <= tag_limit) || (wildcard && tag == MPI_ANY_TAG);
}

int ek_raise(MPI_Comm comm, const ek_entry *e, int code)
{
    if (code) {
        ek_depth++;
        ek_host.Comm_call_errhandler(
            e && atomic_load(&e->handle) == (uintptr_t)comm ? comm : ek_handles.world, code);
        ek_depth--;
    }
    return code;
}

/* ---- waiting ---- */

void ek_message_wait_on(const ek_half *h)
{
    ek_message_pause(h->message && h->message->done ? EK_BESIDE_BARRIER : EK_BESIDE_NOTHING);
    if (EK_UNLIKELY(ek_outstanding > 0))
        ek_poll();
}

int ek_half_await(ek_half *h, const ek_entry *e, MPI_Status *status)
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

/* ---- calls ---- */

static int send_and_wait(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                         MPI_Comm comm, enum ek_mode mode)
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
        code = ek_half_await(&h, e, MPI_STATUS_IGNORE);
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

int ekm_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    if (!e)
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half h;
    int code = ek_half_receive(&h, e, buf, count, type, source, tag, NULL);
    if (EK_LIKELY(code == MPI_SUCCESS))
        code = ek_half_await(&h, e, status);
    return EK_LIKELY(code == MPI_SUCCESS) || code == EK_HOST_SHALL ? code : ek_raise(comm, e, code);
}

int ekm_sendrecv(const void *out, MPI_Count out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                 MPI_Count in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side side;
    if (!e || (dest == MPI_PROC_NULL && source == MPI_PROC_NULL))
        return EK_HOST_SHALL;
    /* All that could be wrong is looked at first: one half alone cannot be the host's. */
    if ((dest != MPI_PROC_NULL && (!ek_message_peer(e, dest, false) || !ek_message_tag(out_tag, false) ||
                                   !ek_measure(&side, out_count, out_type))) ||
        (source != MPI_PROC_NULL && (!ek_message_peer(e, source, true) || !ek_message_tag(in_tag, true) ||
                                     !ek_measure(&side, in_count, in_type))))
        return EK_HOST_SHALL;
    EK_PASS;
    ek_half receive = {0}, send = {0};
    int code = source == MPI_PROC_NULL
                   ? MPI_SUCCESS
                   : ek_half_receive(&receive, e, in, in_count, in_type, source, in_tag, NULL);
    if (!code && dest != MPI_PROC_NULL)
        code = ek_half_send(&send, e, out, out_count, out_type, dest, out_tag, EK_STANDARD);
    if (code == EK_HOST_SHALL)
        code = MPI_ERR_BUFFER;
    if (!code)
        code = ek_half_await(&send, e, MPI_STATUS_IGNORE);
    if (source == MPI_PROC_NULL) {
        ek_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    } else if (!code) {
        code = ek_half_await(&receive, e, status);
    }
    return code ? ek_raise(comm, e, code) : MPI_SUCCESS;
}

int ekm_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int out_tag, int source,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    ek_entry *e = ek_message_entry(comm);
    ek_side side;
    if (!e || !ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    EK_PASS;
    char *copy = malloc(side.bytes + 1);
    if (!copy)
        return ek_raise(comm, e, MPI_ERR_NO_MEM);
    int code = EK_HOST_SHALL;
    if (!side.bytes || !ek_pack(buf, count, type, side.type, copy))
        code = ekm_sendrecv(copy, (MPI_Count)side.bytes, ek_handles.byte, dest, out_tag, buf, count, type,
                            source, in_tag, comm, status);
    free(copy);
    return code;
}

/* ---- start and end ---- */

/* Whether all ranks carry messages is agreed once, when all other facts of the start are known. */
static bool agreed(void)
{
    ek_entry *e = ek_find(ek_handles.world);
    int size;
    char mine =
        (char)(ek_defers && !ek_handles_faults() && e && e->ek && ek_serves(e->ek) && ek_messages_wanted());
    ek_host.Comm_size(ek_handles.world, &size);
    char *all = calloc((size_t)size, 1);
    bool yes =
        all && !ek_host.Allgather(&mine, 1, ek_handles.byte, all, 1, ek_handles.byte, ek_handles.world);
    for (int r = 0; yes && r < size; r++)
        yes = all[r];
    free(all);
    return yes;
}

void ek_messages_begin(void)
{
    void *limit;
    int flag = 0;
    if (!agreed())
        return;
    if (!ek_host.Comm_get_attr(ek_handles.world, MPI_TAG_UB, &limit, &flag) && flag)
        tag_limit = *(int *)limit;
    ek_messages_open();
    ek_messages = 1;
}

/* What has been sent is received, or never will be; nobody leaves before others have what they want from him.
 */
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
    ek_matched_end();
    ek_messages = 0;
    ek_messages_close();
}
