/* Buffered sends: MPI_Bsend and its kin. Their data are copied to memory of evenkeel's; of the program's
 * buffer only the size matters. */
#ifndef EK_MESSAGE_BUFFERED_H
#define EK_MESSAGE_BUFFERED_H
#include "message/transfer.h"

/* Sends a copy. Returns MPI_SUCCESS, EK_DECLINED or an MPI error code. */
int ek_send_buffered(const ek_comm_entry *, const void *buf, MPI_Count count, MPI_Datatype, int dest,
                     int tag);

/* Starts a send in any mode. A buffered one is complete at once and leaves `t` empty. */
static inline int ek_begin_send(ek_transfer *t, const ek_comm_entry *e, const void *buf, MPI_Count count,
                                MPI_Datatype type, int dest, int tag, ek_send_mode mode)
{
    return mode == EK_BUFFERED ? ek_send_buffered(e, buf, count, type, dest, tag)
                               : ek_transfer_send(t, e, buf, count, type, dest, tag, mode);
}

/* Waits until all of them have been sent. */
void ek_buffered_wait(void);

/* ek_try_x is MPI_X as evenkeel carries it out; see point_to_point.h. The calls about buffers return
 * EK_DECLINED, as the host has to carry them out, too. */
int ek_try_bsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ek_try_buffer_attach(void *, MPI_Count bytes);
int ek_try_buffer_detach(void *, void *bytes);
int ek_try_comm_attach_buffer(MPI_Comm, void *, MPI_Count bytes);

#endif
