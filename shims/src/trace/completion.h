/* Waits and tests of a program that is traced: MPI_X is ek_traced_x. */
#ifndef EK_TRACE_COMPLETION_H
#define EK_TRACE_COMPLETION_H
#include "host/library.h"

int ek_traced_wait(MPI_Request *, MPI_Status *);
int ek_traced_waitall(int count, MPI_Request *, MPI_Status *);
int ek_traced_waitany(int count, MPI_Request *, int *index, MPI_Status *);
int ek_traced_waitsome(int count, MPI_Request *, int *completed, int *indices, MPI_Status *);
int ek_traced_test(MPI_Request *, int *flag, MPI_Status *);
int ek_traced_testall(int count, MPI_Request *, int *flag, MPI_Status *);
int ek_traced_testany(int count, MPI_Request *, int *index, int *flag, MPI_Status *);
int ek_traced_testsome(int count, MPI_Request *, int *completed, int *indices, MPI_Status *);
int ek_traced_request_get_status(MPI_Request, int *flag, MPI_Status *);

#endif
