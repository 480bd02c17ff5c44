#include "collective/barrier.h"
#include "process/errors.h"
#include "process/faults.h"

ek_last_barrier_comm ek_last_barrier;

int ek_barrier_failed(MPI_Comm comm, int code) { return ek_raise(comm, ek_error_class(code)); }
