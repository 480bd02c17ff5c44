/* Requests that the host's own waits and tests know, and that evenkeel completes (MPI_Grequest_start). */
#ifndef EK_HOST_GENERALIZED_REQUEST_H
#define EK_HOST_GENERALIZED_REQUEST_H
#include "host/library.h"

/* Starts one that ek_host.Grequest_complete completes. `outcome`: the MPI error code that a wait for it
 * returns, as the first member of a block from malloc, which the host frees with the request; NULL:
 * MPI_SUCCESS. */
int ek_generalized_request_start(MPI_Request *, int *outcome);

#endif
