#include "process/errors.h"
#include "process/state.h"

bool ek_errhandler_is_predefined(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL;
}

int ek_raise(MPI_Comm comm, int code)
{
    if (ek_deferred)
        ek_complete_deferred("an error handler", false); /* it may be the program's */
    /* A handler of the program's may call MPI, about requests of evenkeel's too. */
    int depth = ek_process.calls_back ? 0 : 1;
    ek_depth += depth;
    ek_host.Comm_call_errhandler(comm, code);
    ek_depth -= depth;
    return code;
}

int ek_raise_checked(MPI_Comm comm, const ek_comm_entry *entry, int code)
{
    if (!code)
        return code;
    bool is_current = entry && atomic_load(&entry->handle) == (uintptr_t)comm;
    return ek_raise(is_current ? comm : ek_handles.world, code);
}

bool ek_ends_program(MPI_Comm comm)
{
    MPI_Errhandler handler;
    ek_depth++;
    bool ends = !ek_host.Comm_get_errhandler(comm, &handler);
    if (ends) {
        ends = handler != MPI_ERRORS_RETURN && ek_errhandler_is_predefined(handler);
        ek_host.Errhandler_free(&handler);
    }
    ek_depth--;
    return ends;
}
