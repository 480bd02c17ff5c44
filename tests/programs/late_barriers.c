/* Strict barriers at which the same rank always arrives last: when all others sleep in the barrier.
 *
 *   late_barriers late=RANK count=N
 *
 * For one node. Each rank says in a shared window which barrier it is about to enter; one that has said so
 * and sleeps has entered it, however busy the machine is. */
#include "check.h"
#include <stdatomic.h>
#include <time.h>

enum { PATIENCE_S = 60 };

static char state_of(int pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] ? name_end[2] : 0;
}

static void wait_until_asleep_in(int barrier, int rank, int pid, const _Atomic int *about_to_enter)
{
    for (time_t began = time(NULL); *about_to_enter != barrier || state_of(pid) != 'S'; sched_yield())
        if (time(NULL) - began > PATIENCE_S) {
            fprintf(stderr, "late_barriers: rank %d did not sleep in barrier %d\n", rank, barrier);
            exit(2);
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int late = (int)number(argc, argv, "late", 0), count = (int)number(argc, argv, "count", 200);
    int *mine, pid = getpid(), pids[world_size];
    MPI_Win window;
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    _Atomic int *about_to_enter[world_size];
    for (int rank = 0; rank < world_size; rank++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, rank, &bytes, &unit, &about_to_enter[rank]);
    }
    *about_to_enter[world_rank] = 0;
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    for (int barrier = 1; barrier <= count; barrier++) {
        for (int rank = 0; world_rank == late && rank < world_size; rank++)
            if (rank != late)
                wait_until_asleep_in(barrier, rank, pids[rank], about_to_enter[rank]);
        *about_to_enter[world_rank] = barrier;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
