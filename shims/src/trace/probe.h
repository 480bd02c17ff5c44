/* Probes of a program that is traced: MPI_X is ek_traced_x. */
#ifndef EK_TRACE_PROBE_H
#define EK_TRACE_PROBE_H
#include "host/library.h"

int ek_traced_probe(int source, int tag, MPI_Comm, MPI_Status *);
int ek_traced_iprobe(int source, int tag, MPI_Comm, int *flag, MPI_Status *);
int ek_traced_mprobe(int source, int tag, MPI_Comm, MPI_Message *, MPI_Status *);
int ek_traced_improbe(int source, int tag, MPI_Comm, int *flag, MPI_Message *, MPI_Status *);

#endif
