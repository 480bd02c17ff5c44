#include "host/generalized_request.h"
#include "host/status.h"
#include <stdlib.h>

static int query(void *outcome, MPI_Status *status)
{
    ek_status_set_empty(status);
    status->MPI_ERROR = MPI_SUCCESS;
    return outcome ? *(const int *)outcome : MPI_SUCCESS;
}

static int release(void *outcome)
{
    free(outcome);
    return MPI_SUCCESS;
}

/* A nonblocking collective cannot be cancelled. */
static int refuse_to_cancel(void *outcome, int complete)
{
    (void)outcome, (void)complete;
    return MPI_SUCCESS;
}

int ek_generalized_request_start(MPI_Request *handle, int *outcome)
{
    return ek_host.Grequest_start(query, release, refuse_to_cancel, outcome, handle);
}
