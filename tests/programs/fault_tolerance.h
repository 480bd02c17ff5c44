/* For programs that are told of faults: the calls for it, where Open MPI has them, and classes of errors. */
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
