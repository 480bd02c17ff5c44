/* Persistent sends and receives. See point_to_point.h for what ek_try_x returns. */
#ifndef EK_MESSAGE_PERSISTENT_H
#define EK_MESSAGE_PERSISTENT_H
#include "host/library.h"

int ek_try_send_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_ssend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_rsend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_bsend_init(const void *, MPI_Count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int ek_try_recv_init(void *, MPI_Count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request *);
int ek_try_start(MPI_Request *);
int ek_try_startall(int count, MPI_Request *);

#endif
