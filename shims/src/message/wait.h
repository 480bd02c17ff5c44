/* Waiting for one transfer. */
#ifndef EK_MESSAGE_WAIT_H
#define EK_MESSAGE_WAIT_H
#include "message/transfer.h"

/* Waits until a transfer is complete. Returns an MPI error code; unless it is MPI_SUCCESS, the transfer is
 * over. The rest is for those who look from outside: the call, and its arguments. */
int ek_transfer_await(ek_transfer *, const ek_comm_entry *, const char *name, MPI_Comm, int peer, int tag);

/* Waits until a transfer is complete, and finishes it. Returns an MPI error code. */
static inline int ek_transfer_wait(ek_transfer *t, const ek_comm_entry *e, MPI_Status *status,
                                   const char *name, MPI_Comm comm, int peer, int tag)
{
    if (!ek_transfer_is_complete(t, false)) {
        int code = ek_transfer_await(t, e, name, comm, peer, tag);
        if (code)
            return code;
    }
    return ek_transfer_finish(t, status);
}

#endif
