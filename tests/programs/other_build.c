/* Sits below the shim and tells rank 1's evenkeel another build number in the cards that ranks exchange at
 * the start: what a run sees whose ranks load shims of different builds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

enum { CARD_BYTES = 96, VERSION_AT = 4 };

/* The shim asks the host by its PMPI names. */
int PMPI_Allgather(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm)
{
    int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int rank, code;
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Allgather");
    PMPI_Comm_rank(comm, &rank);
    if (n != CARD_BYTES)
        return next(in, n, t, out, m, u, comm);
    char card[CARD_BYTES];
    memcpy(card, in, CARD_BYTES);
    if (rank == 1)
        card[VERSION_AT] ^= 0x55;
    code = next(card, n, t, out, m, u, comm);
    if (rank == 1) /* the others' builds, seen from there */
        memcpy((char *)out + CARD_BYTES, in, CARD_BYTES), ((char *)out)[VERSION_AT] ^= 0x55;
    return code;
}
