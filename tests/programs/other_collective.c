/* Rank 0 calls a broadcast of 8 bytes where the others call a barrier: an error of the program. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double number = 1;
    for (int call = 0; call < 3; call++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    int code = report_result(1);
    MPI_Finalize();
    return code;
}
