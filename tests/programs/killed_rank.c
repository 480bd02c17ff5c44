/* One rank dies while the others are in a collective, which they call for ever.
 *
 *   killed_rank op=allreduce|barrier|ibarrier|reduce|bcast victim=RANK how=kill|exit
 *
 * victim=-1: no rank dies, and rank 0 says "RUNNING" and the time after every 20 calls. */
#include "check.h"
#include <signal.h>
#include <time.h>

static void say_that_it_runs(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "RUNNING %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *op = argument(argc, argv, "op", "allreduce"), *how = argument(argc, argv, "how", "kill");
    int victim = (int)number(argc, argv, "victim", 2), sum, rounds = 0;
    for (;; rounds++) {
        if (world_rank == victim && rounds == 50) {
            fprintf(stderr, "victim %d\n", (int)getpid());
            if (!strcmp(how, "kill"))
                raise(SIGKILL);
            _exit(0); /* without MPI_Finalize */
        }
        if (victim < 0 && world_rank == 0 && rounds % 20 == 19)
            say_that_it_runs();
        if (!strcmp(op, "barrier")) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (!strcmp(op, "ibarrier")) {
            MPI_Request request;
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (!strcmp(op, "reduce")) {
            MPI_Reduce(&rounds, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        } else if (!strcmp(op, "bcast")) {
            MPI_Bcast(&rounds, 1, MPI_INT, victim, MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(&rounds, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
    }
}
