#include "process/host_progress.h"
#include "host/generalized_request.h"
#include "host/library.h"
#include "process/host_looks.h"
#include "process/state.h"
#include <pthread.h>

/* To test a request that never completes makes the host look after everything else. A probe does not: in
 * MPICH it leaves the schedules of nonblocking collectives alone. */
static MPI_Request never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int ek_host_progress_open(void) { return ek_generalized_request_start(&never, NULL); }

void ek_host_progress(void)
{
    if (ek_depth || pthread_mutex_trylock(&lock))
        return;
    int flag;
    ek_depth++;
    if (ek_process.active) {
        /* A rank that has just been woken would lose its core for a time slice. Another thread that waits in
         * the host at this moment does not yield once. */
        bool yields = ek_host_set_yield && ek_host_set_yield(false);
        EK_HOST_TESTS_SCOPE;
        ek_host.Test(&never, &flag, MPI_STATUS_IGNORE);
        if (yields)
            ek_host_set_yield(true);
    }
    ek_depth--;
    pthread_mutex_unlock(&lock);
}

uint32_t ek_host_activity(void)
{
    if (atomic_load_explicit(&ek_process.windows, memory_order_relaxed) > 0)
        return 2;
    int waits = __atomic_load_n(&ek_process.host_waits, __ATOMIC_RELAXED);
    if (waits > 0)
        __atomic_store_n(&ek_process.host_waits, waits - 1, __ATOMIC_RELAXED);
    return waits > 0 || ek_process.host_requests > 0;
}

void ek_host_progress_close(void)
{
    int flag;
    pthread_mutex_lock(&lock);
    ek_host.Grequest_complete(never);
    ek_host.Test(&never, &flag, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&lock);
}
