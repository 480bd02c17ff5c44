/* A program that does not call MPI_Init, one that calls MPI_Abort, one that forks, and one that does none of
 * this.
 *
 *   init_abort_fork what=noinit|abort|fork|fine */
#include "check.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    const char *what = argument(argc, argv, "what", "noinit");
    if (!strcmp(what, "noinit")) {
        puts("did not call MPI_Init");
        return 7;
    }
    begin(&argc, &argv);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "sum %d", sum);
    if (!strcmp(what, "abort")) {
        if (world_rank == world_size - 1)
            MPI_Abort(MPI_COMM_WORLD, 42);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "fork")) {
        for (int round = 0; round < 3; round++) {
            pid_t child = fork();
            if (child == 0) {
                /* A child may use its memory, and end by exit, _exit or exec. */
                volatile char *heap = malloc(100000);
                heap[5] = 1;
                if (round == 0)
                    exit(3);
                if (round == 1)
                    _exit(3);
                execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
            }
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == world_size, "round %d: sum %d", round, sum);
            int status = 0;
            waitpid(child, &status, 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "child ended with %x", status);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == world_size, "round %d: sum %d after the child", round, sum);
        }
    }
    int code = report_result(1);
    MPI_Finalize();
    return code;
}
