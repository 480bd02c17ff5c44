/* A first MPI program: sums over all ranks, 200 times, and whether they are right. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks, right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < 200; turn++) {
        int mine = rank + turn, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        right &= sum == ranks * (ranks - 1) / 2 + ranks * turn;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%s on %d ranks\n", right ? "right" : "wrong", ranks);
    MPI_Finalize();
    return right ? 0 : 1;
}
