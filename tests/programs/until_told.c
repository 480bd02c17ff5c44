/* Allreduces until a file exists, so that a run lasts as long as a test needs it.
 *
 *   until_told file=PATH */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *file = argument(argc, argv, "file", "");
    uint64_t calls = 0;
    for (int is_told = 0; !is_told; calls++) {
        int mine[2] = {world_rank, world_rank == 0 && access(file, F_OK) == 0}, sum[2];
        MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum[0] == world_size * (world_size - 1) / 2, "call %d: the sum is %d", (int)calls, sum[0]);
        is_told = sum[1];
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int code = report_result(calls);
    MPI_Finalize();
    return code;
}
