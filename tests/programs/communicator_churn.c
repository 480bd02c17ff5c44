/* Makes, uses and frees thousands of communicators. Memory must not grow with their number.
 *
 *   communicator_churn rounds=3000 hoard=0
 *
 * hoard: so many duplicates are made first, and used all at once. */
#include "check.h"

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void use(MPI_Comm comm, int round)
{
    int size, rank, sum = 0, from_last = round;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int mine = rank + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2 + size * round, "round %d: sum %d", round, sum);
    MPI_Request request;
    from_last = rank == size - 1 ? round + 7 : 0;
    MPI_Ibcast(&from_last, 1, MPI_INT, size - 1, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(from_last == round + 7, "round %d: bcast gave %d", round, from_last);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = (int)number(argc, argv, "rounds", 3000), hoard = (int)number(argc, argv, "hoard", 0);
    MPI_Comm *kept = calloc((size_t)hoard + 1, sizeof *kept);
    for (int i = 0; i < hoard; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < hoard; i++)
            use(kept[i], i);
    for (int i = 0; i < hoard; i++)
        MPI_Comm_free(&kept[i]);
    long early = 0;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        if (round % 3)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
        use(comm, round);
        MPI_Comm_free(&comm);
        if (round == rounds / 4)
            early = resident_kib();
    }
    long grown = resident_kib() - early;
    CHECK(hoard || grown < 4096, "%d communicators made this process grow by %ld KiB", rounds - rounds / 4,
          grown);
    use(MPI_COMM_WORLD, 5);
    int code = report_result((uint64_t)rounds + 1);
    MPI_Finalize();
    return code;
}
