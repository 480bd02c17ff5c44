/* Gives the host a chance to move its own messages on while evenkeel waits. */
#ifndef EK_PROCESS_HOST_PROGRESS_H
#define EK_PROCESS_HOST_PROGRESS_H
#include "process/state.h"

int ek_host_progress_open(void); /* an MPI error code */
void ek_host_progress_close(void);

/* May be called from any thread. It does nothing if another thread is in it already. */
void ek_host_progress(void);

/* What ek_set_host_progress needs. */
uint32_t ek_host_activity(void);

/* To be called when the program sends or receives through the host. The host may have something left to do
 * for it, and its own barrier would do it. So it makes progress after the next barriers of evenkeel's, and
 * soon in the next waits. */
static inline void ek_host_used(void)
{
    enum { BARRIERS_WITH_PROGRESS = 4, WAITS_WITH_PROGRESS = 4 };
    __atomic_store_n(&ek_process.host_waits, WAITS_WITH_PROGRESS, __ATOMIC_RELAXED);
    if (!ek_process.may_defer)
        __atomic_store_n(&ek_process.host_barriers, BARRIERS_WITH_PROGRESS, __ATOMIC_RELAXED);
}

#endif
