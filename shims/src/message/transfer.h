/* One direction of a point-to-point call: a send or receive under way, and what is to be done when it is
 * complete. */
#ifndef EK_MESSAGE_TRANSFER_H
#define EK_MESSAGE_TRANSFER_H
#include "evenkeel.h"
#include "host/datatype.h"
#include "process/communicator.h"

typedef struct ek_transfer {
    ek_message *message; /* NULL: complete */
    char *packed;        /* owned; of a receive: to be unpacked */
    /* Of a receive: */
    void *buffer;
    MPI_Count count;
    MPI_Count size, extent; /* of an element */
    union {
        MPI_Datatype type;      /* valid if owns_type, or if there are packed bytes and no map */
        const ek_type_map *map; /* valid if holds_map */
    } layout;
    bool owns_type; /* the type is a duplicate, to be freed */
    bool holds_map; /* the map is to be released */
} ek_transfer;

typedef enum ek_send_mode { EK_STANDARD, EK_SYNCHRONOUS, EK_BUFFERED } ek_send_mode;

/* These start a transfer. They return MPI_SUCCESS, EK_DECLINED or an MPI error code. */

int ek_transfer_send(ek_transfer *, const ek_comm_entry *, const void *buf, MPI_Count count, MPI_Datatype,
                     int dest, int tag, ek_send_mode);
int ek_transfer_receive(ek_transfer *, const ek_comm_entry *, void *buf, MPI_Count count, MPI_Datatype,
                        int source, int tag);

/* Receives a message that a probe took out. */
int ek_transfer_receive_matched(ek_transfer *, const ek_comm_entry *, void *buf, MPI_Count count,
                                MPI_Datatype, void *matched);

/* `learns_order`: see ek_message_is_complete. */
static inline bool ek_transfer_is_complete(const ek_transfer *t, bool learns_order)
{
    return !t->message || t->message->plain ||
           (t->message->done && ek_message_is_complete(t->message, learns_order));
}

/* Finishes a complete transfer: unpacks, frees, fills in the status. Returns an MPI error code. */
int ek_transfer_finish(ek_transfer *, MPI_Status *);

/* Fills in the status of a transfer as MPI_Request_get_status does. Returns an MPI error code. */
int ek_transfer_get_status(const ek_transfer *, MPI_Status *);

/* Frees a transfer without a result, whether or not it is complete. */
void ek_transfer_cancel(ek_transfer *);

#endif
