/* MPI_Status of what evenkeel has completed. */
#ifndef EK_HOST_STATUS_H
#define EK_HOST_STATUS_H
#include "host/library.h"
#include <stdbool.h>
#include <stddef.h>

/* `status` may be MPI_STATUS_IGNORE. */
void ek_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled);

/* As the standard says for null and inactive requests, and for operations without data. */
void ek_status_set_empty(MPI_Status *status);

#endif
