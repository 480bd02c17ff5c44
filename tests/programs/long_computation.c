/* Ranks compute between two collectives.
 *
 *   long_computation until=FILE
 *
 * They compute until the file exists. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *file = argument(argc, argv, "until", "");
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "%d ranks of %d", sum, world_size);
    fprintf(stderr, "COMPUTING\n");
    while (access(file, F_OK) != 0)
        for (volatile int i = 0; i < 100000; i++)
            ;
    MPI_Allreduce(&sum, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(one == world_size, "%d", one);
    int code = report_result(2);
    MPI_Finalize();
    return code;
}
