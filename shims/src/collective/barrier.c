#include "collective/barrier.h"
#include "process/errors.h"
#include "process/faults.h"
#include "process/host_progress.h"

ek_last_barrier_comm ek_last_barrier;

int ek_barrier_with_progress(MPI_Comm comm, ek_comm *engine)
{
    ek_gate = 0;
    ek_last_barrier = (ek_last_barrier_comm){comm, engine};
    int code = ek_barrier(engine, false);
    if (ek_process.host_requests > 0 || ek_process.host_barriers > 0)
        ek_host_progress(); /* all ranks have entered, so what they sent before is here */
    if (ek_process.host_barriers > 0)
        ek_process.host_barriers--;
    ek_gate_close_if_deferred();
    return code;
}

int ek_barrier_failed(MPI_Comm comm, int code) { return ek_raise(comm, ek_error_class(code)); }
