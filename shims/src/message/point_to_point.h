/* Blocking sends and receives.
 *
 * ek_try_x is MPI_X, with int or MPI_Count counts, as evenkeel carries it out: MPI_SUCCESS, an MPI error
 * code that has been raised, or EK_DECLINED. The wrapper of MPI_X calls it first, while messages are
 * evenkeel's. */
#ifndef EK_MESSAGE_POINT_TO_POINT_H
#define EK_MESSAGE_POINT_TO_POINT_H
#include "host/library.h"

int ek_try_send(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ek_try_ssend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ek_try_rsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm);
int ek_try_recv(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *);
int ek_try_sendrecv(const void *, MPI_Count, MPI_Datatype, int dest, int sendtag, void *, MPI_Count,
                    MPI_Datatype, int source, int recvtag, MPI_Comm, MPI_Status *);
int ek_try_sendrecv_replace(void *, MPI_Count, MPI_Datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm, MPI_Status *);

#endif
