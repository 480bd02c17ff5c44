/* Point-to-point calls of which evenkeel carries the messages. Each ekm_x is asked first by the wrapper of
 * MPI_X (with int and with MPI_Count counts) while messages are evenkeel's; EK_HOST_SHALL: the host has to
 * carry out the call. */
#ifndef EVENKEEL_MESSAGE_H
#define EVENKEEL_MESSAGE_H
#include "shim.h"

/* One direction of a call: a send or receive under way, and what is to be done when it is complete. */
typedef struct ek_half {
    ek_message *message; /* NULL: complete */
    char *packed;        /* owned; of a receive: to be unpacked */
    void *user;
    MPI_Count count, size, extent;
    MPI_Datatype type;
    bool own_type; /* a duplicate, to be freed */
} ek_half;

enum ek_mode { EK_STANDARD, EK_SYNCHRONOUS, EK_BUFFERED };

/* Served by evenkeel's messages, and rank and tag such that nothing is wrong with them. */
ek_entry *ek_message_entry(MPI_Comm);
bool ek_message_peer(const ek_entry *, int rank, bool wildcard);
bool ek_message_tag(int tag, bool wildcard);
/* These return MPI_SUCCESS, EK_HOST_SHALL, or an MPI error code. */
int ek_half_send(ek_half *, ek_entry *, const void *buf, MPI_Count, MPI_Datatype, int dest, int tag,
                 enum ek_mode);
int ek_half_receive(ek_half *, ek_entry *, void *buf, MPI_Count, MPI_Datatype, int source, int tag,
                    void *matched);
static inline bool ek_half_complete(const ek_half *h, bool choose)
{
    return !h->message || h->message->plain || (h->message->done && ek_message_complete(h->message, choose));
}
/* Unpacks, frees; an MPI error code. */
int ek_half_finish(ek_half *, MPI_Status *);
void ek_half_drop(ek_half *); /* of a receive that was never posted, or a finished one */
/* Waits until it is complete, and finishes it. An MPI error code. */
int ek_half_await(ek_half *, const ek_entry *, MPI_Status *);
void ek_half_abandon(ek_half *); /* goes on, and is finished when it is complete */
void ek_status(MPI_Status *, int source, int tag, size_t bytes, bool cancelled);
void ek_status_empty(MPI_Status *);
/* To the communicator's error handler. */
int ek_raise(MPI_Comm, const ek_entry *, int code);
/* Pauses once in a wait for something that is, or is not, done but for its barrier. */
void ek_message_wait_on(const ek_half *);
bool ek_message_revoked(const ek_entry *);
/* probe.c */
void ek_matched_end(void);
int ek_half_matched(ek_half *, void *buf, MPI_Count, MPI_Datatype, MPI_Message *, ek_entry **, MPI_Comm *);

/* detached.c */
int ek_buffered_send(ek_entry *, const void *buf, MPI_Count, MPI_Datatype, int dest, int tag);
void ek_detached_end(void);
static inline int ek_begin_send(ek_half *h, ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type,
                                int dest, int tag, enum ek_mode mode)
{
    return mode == EK_BUFFERED ? ek_buffered_send(e, buf, count, type, dest, tag)
                               : ek_half_send(h, e, buf, count, type, dest, tag, mode);
}

/* ---- transfer.c: requests ---- */

enum ek_state { EK_FREE, EK_INACTIVE, EK_ACTIVE };
/* A request of ours. Its handle is a genuine request of the host's that is never started: so conversions
 * between languages, and whoever looks into it, find what they expect. */
typedef struct ek_transfer {
    uintptr_t key;
    MPI_Request handle;
    uint8_t state; /* enum ek_state */
    bool persistent, receives, sends;
    enum ek_mode mode;
    ek_half in, out;
    MPI_Comm comm;
    ek_entry *entry;
    /* What a persistent request starts. */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool own_type;
    int peer, tag;
    struct ek_transfer *next;
} ek_transfer;

void ek_messages_begin(void);
void ek_messages_end(void);
void ek_transfers_end(void);

ek_transfer *ek_transfer_obtain(ek_entry *, MPI_Comm);
/* To the program if `code` is MPI_SUCCESS, else it is given back and the error raised. */
int ek_transfer_hand_out(ek_transfer *, int code, MPI_Request *);
static inline int ek_transfer_receive(ek_transfer *t, void *buf, MPI_Count count, MPI_Datatype type,
                                      int source, int tag)
{
    t->receives = true;
    return ek_half_receive(&t->in, t->entry, buf, count, type, source, tag, NULL);
}
ek_transfer *ek_transfer_find_slowly(uintptr_t key);
extern uint32_t ek_transfer_bits;
extern ek_transfer **ek_transfers;
static inline ek_transfer *ek_transfer_of(MPI_Request request)
{
    uintptr_t key = (uintptr_t)request;
    if (!ek_transfers)
        return NULL;
    ek_transfer *t = ek_transfers[ek_hash(key, ek_transfer_bits)];
    if (EK_LIKELY(t && t->key == key))
        return t->state == EK_FREE ? NULL : t;
    return t ? ek_transfer_find_slowly(key) : NULL;
}
static inline bool ek_transfer_complete(const ek_transfer *t, bool choose)
{
    return t->state != EK_ACTIVE || (ek_half_complete(&t->in, choose) && ek_half_complete(&t->out, choose));
}
/* Of a complete one: status, and the handle becomes null or inactive. An MPI error code, not raised. */
int ek_transfer_finish(ek_transfer *, MPI_Request *, MPI_Status *);
/* As MPI_Request_get_status leaves it. */
int ek_transfer_status(ek_transfer *, MPI_Status *);
bool ek_transfer_gives_up(ek_transfer *); /* its communicator has been revoked */

int ekm_send(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ekm_ssend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ekm_rsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ekm_bsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ekm_recv(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *);
int ekm_sendrecv(const void *, MPI_Count, MPI_Datatype, int dest, int sendtag, void *, MPI_Count,
                 MPI_Datatype, int source, int recvtag, MPI_Comm, MPI_Status *);
int ekm_sendrecv_replace(void *, MPI_Count, MPI_Datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm, MPI_Status *);
int ekm_probe(int source, int tag, MPI_Comm, MPI_Status *);
int ekm_iprobe(int source, int tag, MPI_Comm, int *flag, MPI_Status *);
int ekm_mprobe(int source, int tag, MPI_Comm, MPI_Message *, MPI_Status *);
int ekm_improbe(int source, int tag, MPI_Comm, int *flag, MPI_Message *, MPI_Status *);
int ekm_mrecv(void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Status *);
int ekm_imrecv(void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Request *);
int ekm_isend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_issend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_irsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_ibsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_irecv(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request *);
int ekm_isendrecv(const void *, MPI_Count, MPI_Datatype, int dest, int sendtag, void *, MPI_Count,
                  MPI_Datatype, int source, int recvtag, MPI_Comm, MPI_Request *);
int ekm_isendrecv_replace(void *, MPI_Count, MPI_Datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm, MPI_Request *);
int ekm_send_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_ssend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_rsend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_bsend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ekm_recv_init(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request *);
int ekm_start(MPI_Request *);
int ekm_startall(int, MPI_Request *);
int ekm_cancel(MPI_Request *);
int ekm_request_free(MPI_Request *);
int ekm_buffer_attach(void *, MPI_Count bytes);
int ekm_buffer_detach(void *, void *bytes);
int ekm_comm_attach_buffer(MPI_Comm, void *, MPI_Count bytes);
int ekm_wait(MPI_Request *, MPI_Status *);
int ekm_waitall(int, MPI_Request *, MPI_Status *);
int ekm_waitany(int, MPI_Request *, int *, MPI_Status *);
int ekm_waitsome(int, MPI_Request *, int *, int *, MPI_Status *);
int ekm_test(MPI_Request *, int *, MPI_Status *);
int ekm_testall(int, MPI_Request *, int *, MPI_Status *);
int ekm_testany(int, MPI_Request *, int *, int *, MPI_Status *);
int ekm_testsome(int, MPI_Request *, int *, int *, MPI_Status *);
int ekm_request_get_status(MPI_Request, int *, MPI_Status *);
int ekm_request_get_status_all(int, const MPI_Request *, int *, MPI_Status *);
int ekm_request_get_status_any(int, const MPI_Request *, int *, int *, MPI_Status *);
int ekm_request_get_status_some(int, const MPI_Request *, int *, int *, MPI_Status *);

/* Looks again after completing what is pending, if nothing is found: that something is not there is an
 * observation. `attempt` sets flag and returns a code. */
#define EK_LOOK(name, attempt, flag, code)       \
    do {                                         \
        int again_ = -1;                         \
        for (;;) {                               \
            (code) = (attempt);                  \
            if ((code) != MPI_SUCCESS || (flag)) \
                break;                           \
            if (ek_messages_progress())          \
                continue;                        \
            if (ek_deferred) {                   \
                ek_observed(name, 0);            \
                continue;                        \
            }                                    \
            if (again_ < 0)                      \
                again_ = ek_behind();            \
            if (again_-- <= 0) {                 \
                ek_message_idle();               \
                break;                           \
            }                                    \
            ek_host_progress();                  \
        }                                        \
    } while (0)

#endif
