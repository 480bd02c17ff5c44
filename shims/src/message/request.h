/* Requests for messages that evenkeel carries.
 *
 * The handle of such a request is a genuine request of the host's that is never started: conversions
 * between languages, and tools that examine it, find what they expect. A table leads from the handle to
 * the request. */
#ifndef EK_MESSAGE_REQUEST_H
#define EK_MESSAGE_REQUEST_H
#include "host/hash.h"
#include "message/transfer.h"

typedef enum ek_request_state { EK_UNUSED, EK_INACTIVE, EK_ACTIVE } ek_request_state;

/* What a persistent request starts. */
typedef struct ek_persistent_call {
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool owns_type; /* it is a duplicate, to be freed */
    int peer, tag;
    ek_send_mode mode;
} ek_persistent_call;

typedef struct ek_message_request {
    uintptr_t key; /* the handle, as the table knows it */
    MPI_Request handle;
    ek_request_state state;
    bool is_persistent, receives, sends;
    bool receives_nothing; /* an MPI_Isendrecv from MPI_PROC_NULL */
    ek_transfer in, out;
    MPI_Comm comm;
    ek_comm_entry *entry;
    ek_persistent_call call;
    struct ek_message_request *next; /* unused ones */
} ek_message_request;

/* Returns a request for a call on this communicator; NULL if there is no memory. */
ek_message_request *ek_message_request_obtain(ek_comm_entry *, MPI_Comm);

/* Returns the request of all sends that are complete when they have been started: nothing tells them
 * apart. */
ek_message_request *ek_message_request_obtain_sent(ek_comm_entry *, MPI_Comm);

/* To be called when the program has no use for the request any more: it may be obtained again. */
void ek_message_request_release(ek_message_request *);

/* Hands the request to the program if `code` is MPI_SUCCESS; else releases it, and raises the error unless it
 * is EK_DECLINED. */
int ek_message_request_hand_out(ek_message_request *, int code, MPI_Request *);

extern EK_HIDDEN uint32_t ek_message_table_bits;
extern EK_HIDDEN ek_message_request **ek_message_table;

/* The slow part of ek_message_request_of. */
ek_message_request *ek_message_request_find(uintptr_t key);

/* NULL: the request is the host's. */
static inline ek_message_request *ek_message_request_of(MPI_Request request)
{
    uintptr_t key = (uintptr_t)request;
    if (!ek_message_table)
        return NULL;
    ek_message_request *r = ek_message_table[ek_hash(key, ek_message_table_bits)];
    if (EK_LIKELY(r && r->key == key))
        return r->state == EK_UNUSED ? NULL : r;
    return r ? ek_message_request_find(key) : NULL;
}

/* `learns_order`: see ek_message_is_complete. */
static inline bool ek_message_request_is_complete(const ek_message_request *r, bool learns_order)
{
    return r->state != EK_ACTIVE ||
           (ek_transfer_is_complete(&r->in, learns_order) && ek_transfer_is_complete(&r->out, learns_order));
}

/* Finishes a complete request: fills in the status, and the handle becomes null or inactive. Returns an MPI
 * error code, which the caller has to raise. */
int ek_message_request_finish(ek_message_request *, MPI_Request *, MPI_Status *);

/* Fills in the status as MPI_Request_get_status does. Returns an MPI error code, which the caller has to
 * raise. */
int ek_message_request_get_status(const ek_message_request *, MPI_Status *);

/* Whether the request's communicator has been revoked. It is then cancelled, and complete. */
bool ek_message_request_gives_up(ek_message_request *);

/* At the end. None may be active. */
void ek_message_requests_close(void);

/* ek_try_x is MPI_X as evenkeel carries it out; see point_to_point.h. */
int ek_try_cancel(MPI_Request *);
int ek_try_request_free(MPI_Request *);

#endif
