/* Barriers at which the same rank always arrives last, by half a millisecond.
 *
 *   late_barriers late=RANK count=N */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int late = (int)number(argc, argv, "late", 0), count = (int)number(argc, argv, "count", 200);
    for (int i = 0; i < count; i++) {
        if (world_rank == late)
            usleep(500);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
