/* MPI_Wait and MPI_Test of any request and of some. Which of several is complete first tells the program
 * something about order. See point_to_point.h for what ek_try_x returns. */
#ifndef EK_MESSAGE_WAIT_ANY_H
#define EK_MESSAGE_WAIT_ANY_H
#include "host/library.h"

int ek_try_waitany(int count, MPI_Request *, int *index, MPI_Status *);
int ek_try_testany(int count, MPI_Request *, int *index, int *flag, MPI_Status *);
int ek_try_request_get_status_any(int count, const MPI_Request *, int *index, int *flag, MPI_Status *);
int ek_try_waitsome(int count, MPI_Request *, int *completed, int *indices, MPI_Status *);
int ek_try_testsome(int count, MPI_Request *, int *completed, int *indices, MPI_Status *);
int ek_try_request_get_status_some(int count, const MPI_Request *, int *completed, int *indices,
                                   MPI_Status *);

#endif
