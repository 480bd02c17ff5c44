/* Waiting for one transfer. */
#ifndef EK_MESSAGE_WAIT_H
#define EK_MESSAGE_WAIT_H
#include "message/transfer.h"

/* Waits until a transfer is complete, and finishes it. Returns an MPI error code. */
int ek_transfer_wait(ek_transfer *, const ek_comm_entry *, MPI_Status *);

#endif
