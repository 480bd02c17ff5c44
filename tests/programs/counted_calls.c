/* Makes calls that a PMPI tool can count: 10 barriers, 20 allreduces, 30 nonblocking ones, 40 broadcasts. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int one = 1, sum = 0;
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "sum %d", sum);
    for (int i = 0; i < 30; i++) {
        MPI_Request request;
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == world_size, "nonblocking: sum %d", sum);
    }
    for (int i = 0; i < 40; i++) {
        int data = world_rank == i % world_size ? i : -1;
        MPI_Bcast(&data, 1, MPI_INT, i % world_size, MPI_COMM_WORLD);
        CHECK(data == i, "bcast %d", data);
    }
    int code = report_result(100);
    MPI_Finalize();
    return code;
}
