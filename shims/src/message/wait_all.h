/* MPI_Wait and MPI_Test of one request and of all. See point_to_point.h for what ek_try_x returns. */
#ifndef EK_MESSAGE_WAIT_ALL_H
#define EK_MESSAGE_WAIT_ALL_H
#include "host/library.h"

int ek_try_wait(MPI_Request *, MPI_Status *);
int ek_try_test(MPI_Request *, int *flag, MPI_Status *);
int ek_try_request_get_status(MPI_Request, int *flag, MPI_Status *);
int ek_try_waitall(int count, MPI_Request *, MPI_Status *);
int ek_try_testall(int count, MPI_Request *, int *flag, MPI_Status *);
int ek_try_request_get_status_all(int count, const MPI_Request *, int *flag, MPI_Status *);

#endif
