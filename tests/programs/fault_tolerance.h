/* For programs that handle failed processes: Open MPI's functions for it, and classes of errors. */
#include "check.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}
