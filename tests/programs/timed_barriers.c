/* Times barriers with MPI_Wtime, as programs do. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++) {
        double before = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        sum += MPI_Wtime() - before;
    }
    if (sum < 0)
        puts("time runs backwards");
    MPI_Finalize();
    return 0;
}
