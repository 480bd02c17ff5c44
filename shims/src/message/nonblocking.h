/* Nonblocking sends and receives. See point_to_point.h for what ek_try_x returns. */
#ifndef EK_MESSAGE_NONBLOCKING_H
#define EK_MESSAGE_NONBLOCKING_H
#include "host/library.h"

int ek_try_isend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_issend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_irsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_ibsend(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_irecv(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request *);
int ek_try_isendrecv(const void *, MPI_Count, MPI_Datatype, int dest, int sendtag, void *, MPI_Count,
                     MPI_Datatype, int source, int recvtag, MPI_Comm, MPI_Request *);
int ek_try_isendrecv_replace(void *, MPI_Count, MPI_Datatype, int dest, int sendtag, int source, int recvtag,
                             MPI_Comm, MPI_Request *);

#endif
