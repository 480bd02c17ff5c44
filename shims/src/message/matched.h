/* Messages that a matched probe took out: a handle of the host's for each.
 *
 * The handle is that of a genuine message that the process has sent to itself and that is never received
 * before the end: conversions between languages find what they expect. Handles are used again. */
#ifndef EK_MESSAGE_MATCHED_H
#define EK_MESSAGE_MATCHED_H
#include "host/library.h"
#include "process/communicator.h"

typedef struct ek_matched {
    MPI_Message handle;
    MPI_Request sent; /* the send of the handle's message; complete when that is received, at the end */
    void *message;    /* the engine's; NULL: the handle is free */
    MPI_Comm comm;
    ek_comm_entry *entry;
    struct ek_matched *next;
} ek_matched;

/* Gives the program a handle for a message that was taken out. Returns an MPI error code. */
int ek_matched_hand_out(void *message, ek_comm_entry *, MPI_Comm, MPI_Message *);

/* NULL: the handle is the host's. */
ek_matched *ek_matched_of(MPI_Message);

/* To be called when the message has been received: its handle is free, and the program's becomes
 * MPI_MESSAGE_NULL. */
void ek_matched_release(ek_matched *, MPI_Message *);

/* At the end. */
void ek_matched_close(void);

#endif
