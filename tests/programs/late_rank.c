/* A rank that is late, and others that wait for it, one behind the other.
 *
 *   late_rank ROUNDS MS    in each round rank 2 computes for so long before it sends to rank 1, which
 *                          sends on to rank 0; then all meet in a reduction. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int rank, size;

static void compute(long microseconds)
{
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void send_on(int from, int to)
{
    double value = 0;
    MPI_Recv(&value, 1, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (to >= 0)
        MPI_Send(&value, 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
}

static void late_sender(long microseconds)
{
    double value = rank;
    compute(microseconds);
    MPI_Send(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    long late = argc > 2 ? 1000 * atol(argv[2]) : 30000;
    double sum, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        compute(1000);
        if (rank == 2)
            late_sender(late);
        if (rank == 1)
            send_on(2, 0);
        if (rank == 0)
            send_on(1, -1);
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
