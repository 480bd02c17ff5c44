#include "process/errors.h"
#include "process/state.h"

int ek_raise(MPI_Comm comm, int code)
{
    ek_depth++;
    ek_host.Comm_call_errhandler(comm, code);
    ek_depth--;
    return code;
}

int ek_raise_checked(MPI_Comm comm, const ek_comm_entry *entry, int code)
{
    if (!code)
        return code;
    bool is_current = entry && atomic_load(&entry->handle) == (uintptr_t)comm;
    return ek_raise(is_current ? comm : ek_handles.world, code);
}
