/* A PMPI tool: counts calls and passes them on. At the end it prints "TOOL rank R barrier B allreduce A
 * iallreduce I bcast C". It is built as a shared library and preloaded before or after evenkeel's shim. */
#include <mpi.h>
#include <stdio.h>

static long barriers, allreduces, iallreduces, bcasts;

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    allreduces++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    iallreduces++;
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    bcasts++;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "TOOL rank %d barrier %ld allreduce %ld iallreduce %ld bcast %ld\n", rank, barriers,
            allreduces, iallreduces, bcasts);
    return PMPI_Finalize();
}
