/* Counting nonblocking operations of the host's, which need progress and forbid that a barrier is deferred:
 * see ek_process. */
#ifndef EK_GATE_HOST_REQUESTS_H
#define EK_GATE_HOST_REQUESTS_H
#include "host/library.h"
#include "process/state.h"

/* Programs whose barriers are deferred have one thread in MPI at a time, whatever they asked for. */
static inline bool ek_host_requests_counted(void) { return ek_process.may_defer || !ek_process.is_threaded; }

static inline void ek_host_requests_started(int count)
{
    if (ek_host_requests_counted())
        ek_process.host_requests += count;
}

/* How many of these requests may still become complete; 0 if nothing need be counted. */
static inline int ek_host_requests_active(int count, const MPI_Request *requests)
{
    int active = 0;
    for (int i = 0; ek_host_requests_counted() && i < count; i++)
        active += requests[i] != ek_handles.request_null;
    return active;
}

static inline void ek_host_requests_completed(int count)
{
    if (ek_host_requests_counted())
        ek_process.host_requests = ek_process.host_requests > count ? ek_process.host_requests - count : 0;
}

#endif
