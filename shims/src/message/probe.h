/* Probes, and receives of what a matched probe took out. See point_to_point.h for what ek_try_x returns. */
#ifndef EK_MESSAGE_PROBE_H
#define EK_MESSAGE_PROBE_H
#include "host/library.h"

int ek_try_probe(int source, int tag, MPI_Comm, MPI_Status *);
int ek_try_iprobe(int source, int tag, MPI_Comm, int *flag, MPI_Status *);
int ek_try_mprobe(int source, int tag, MPI_Comm, MPI_Message *, MPI_Status *);
int ek_try_improbe(int source, int tag, MPI_Comm, int *flag, MPI_Message *, MPI_Status *);
int ek_try_mrecv(void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Status *);
int ek_try_imrecv(void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Request *);

#endif
