/* Ranks compute for some time between two collectives.
 *
 *   long_computation ms=2500 */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double ms = (double)number(argc, argv, "ms", 2500), until;
    struct timespec now;
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "%d ranks of %d", sum, world_size);
    clock_gettime(CLOCK_MONOTONIC, &now);
    until = now.tv_sec * 1e3 + now.tv_nsec / 1e6 + ms;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec * 1e3 + now.tv_nsec / 1e6 < until);
    MPI_Allreduce(&sum, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(one == world_size, "%d", one);
    int code = report_result(2);
    MPI_Finalize();
    return code;
}
