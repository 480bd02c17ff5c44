#include "host/status.h"

void ek_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    ek_host.Status_set_elements_x(status, ek_handles.byte, (MPI_Count)bytes);
    ek_host.Status_set_cancelled(status, cancelled);
}

void ek_status_set_empty(MPI_Status *status) { ek_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false); }
