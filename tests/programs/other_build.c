/* A library to be loaded below the shim. It makes ranks believe that rank 1's shim is of another build.
 *
 * At the start, ranks exchange what they know of their processes, the version among it. This library changes
 * the version that rank 1 sends, and on rank 1 the version of the others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

enum { INFO_BYTES = 96, VERSION_AT = 4 };

/* The shim calls the host library by its PMPI names. On rank 1 all others are of another build than itself:
 * what is gathered is changed when it is there. */
int PMPI_Iallgather(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm,
                    MPI_Request *request)
{
    int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *);
    static char info[INFO_BYTES];
    int rank, code;
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iallgather");
    PMPI_Comm_rank(comm, &rank);
    if (n != INFO_BYTES)
        return next(in, n, t, out, m, u, comm, request);
    memcpy(info, in, INFO_BYTES);
    if (rank == 1)
        info[VERSION_AT] ^= 0x55;
    code = next(info, n, t, out, m, u, comm, request);
    if (code || rank != 1)
        return code;
    code = PMPI_Wait(request, MPI_STATUS_IGNORE);
    memcpy((char *)out + INFO_BYTES, in, INFO_BYTES), ((char *)out)[VERSION_AT] ^= 0x55;
    return code;
}
