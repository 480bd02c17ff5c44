/* The arguments of any collective call, as the program passes them. */
#ifndef EK_COLLECTIVE_ARGUMENTS_H
#define EK_COLLECTIVE_ARGUMENTS_H
#include "host/library.h"
#include <stdbool.h>
#include <stdint.h>

/* The wrapper fills in what its function has. Names are the standard's, except that a lone `count` or
 * `datatype` is sendcount or sendtype, and MPI_Bcast's buffer is recvbuf. */
typedef struct ek_arguments {
    uint32_t kind;     /* ek_kind */
    bool large_counts; /* counts and displacements are MPI_Count and MPI_Aint, not int */
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    const void *sendcounts, *sdispls, *recvcounts, *rdispls;
    MPI_Datatype sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Request *request; /* NULL: blocking */
} ek_arguments;

/* Element of an array of counts or displacements. */
static inline MPI_Count ek_count_at(const void *array, bool large_counts, int i)
{
    _Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8,
                   "one width for large counts and addresses");
    return large_counts ? (MPI_Count)((const int64_t *)array)[i] : ((const int *)array)[i];
}

#endif
