/* Starts MPI and ends it: what it takes is the launcher's and the library's. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
