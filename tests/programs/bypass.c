/* Who may go on while one rank is stopped? Every rank counts its steps in a file that the test reads.
 *
 *   bypass FILE op=reduce stopped=3 bytes=8 rounds=2        (op: the names of MPI's operations in lower case)
 *
 * After a barrier, rank `stopped` stops itself (SIGSTOP) before its next call; the others make `rounds` calls
 * and note in FILE (one 64-bit counter per rank) each call they have left: 1, 2, …; -1 for the stopped rank
 * just before it stops. After SIGCONT everybody finishes, and the results are checked. Root is 0. `bytes` is
 * a vector's, or a part's where parts are exchanged. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *op = argument(argc, argv, "op", "reduce");
    int stopped = (int)number(argc, argv, "stopped", 3), rounds = (int)number(argc, argv, "rounds", 2);
    int n = (int)number(argc, argv, "bytes", 8) / 4;
    int fd = open(argv[1], O_RDWR);
    _Atomic int64_t *counters = mmap(NULL, 8 * (size_t)world_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int *mine = malloc(4 * (size_t)n * (size_t)world_size), *all = malloc(4 * (size_t)n * (size_t)world_size);
    int *counts = malloc(4 * (size_t)world_size), *places = malloc(4 * (size_t)world_size);
    for (int r = 0; r < world_size; r++)
        counts[r] = n, places[r] = r * n;
    for (int round = 0; round < 20; round++) { /* the caches are warm and everybody has been here */
        MPI_Allreduce(&round, all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == stopped) {
        counters[world_rank] = -1;
        raise(SIGSTOP);
        counters[world_rank] = 0;
    }
    for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < n * world_size; i++)
            mine[i] = round * 1000 + world_rank + i, all[i] = -1;
        if (!strcmp(op, "reduce")) {
            MPI_Reduce(mine, all, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            for (int i = 0; i < n && world_rank == 0; i++)
                CHECK(all[i] == world_size * (round * 1000 + i) + world_size * (world_size - 1) / 2,
                      "reduce %d: element %d is %d", round, i, all[i]);
        } else if (!strcmp(op, "bcast")) {
            int *data = world_rank == 0 ? mine : all;
            MPI_Bcast(data, n, MPI_INT, 0, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++)
                CHECK(data[i] == round * 1000 + i, "bcast %d: element %d is %d", round, i, data[i]);
        } else if (!strcmp(op, "gather")) {
            MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, 0, MPI_COMM_WORLD);
            for (int r = 0; r < world_size && world_rank == 0; r++)
                CHECK(all[r * n] == round * 1000 + r, "gather %d: from %d came %d", round, r, all[r * n]);
        } else if (!strcmp(op, "scan") || !strcmp(op, "exscan")) {
            int last = strcmp(op, "scan") ? world_rank - 1 : world_rank;
            strcmp(op, "scan") ? MPI_Exscan(mine, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                               : MPI_Scan(mine, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            for (int i = 0; i < n && last >= 0; i++)
                CHECK(all[i] == (last + 1) * (round * 1000 + i) + last * (last + 1) / 2,
                      "%s %d: element %d is %d", op, round, i, all[i]);
        } else if (!strcmp(op, "gatherv")) {
            MPI_Gatherv(mine, n, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
            for (int r = 0; r < world_size && world_rank == 0; r++)
                CHECK(all[r * n] == round * 1000 + r, "gatherv %d: from %d came %d", round, r, all[r * n]);
        } else if (!strcmp(op, "allgather") || !strcmp(op, "allgatherv")) {
            if (!strcmp(op, "allgather"))
                MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
            else
                MPI_Allgatherv(mine, n, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
            for (int r = 0; r < world_size; r++)
                CHECK(all[r * n] == round * 1000 + r, "allgather %d: from %d came %d", round, r, all[r * n]);
        } else if (!strcmp(op, "alltoall") || !strcmp(op, "alltoallv")) {
            if (!strcmp(op, "alltoall"))
                MPI_Alltoall(mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
            else
                MPI_Alltoallv(mine, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
            for (int r = 0; r < world_size; r++)
                CHECK(all[r * n] == round * 1000 + r + world_rank * n, "alltoall %d: from %d came %d", round,
                      r, all[r * n]);
        } else if (!strcmp(op, "allreduce")) {
            MPI_Allreduce(mine, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++)
                CHECK(all[i] == world_size * (round * 1000 + i) + world_size * (world_size - 1) / 2,
                      "allreduce %d: element %d is %d", round, i, all[i]);
        } else if (!strcmp(op, "reduce_scatter")) {
            MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            int first = world_rank * n;
            CHECK(all[0] == world_size * (round * 1000 + first) + world_size * (world_size - 1) / 2,
                  "reduce_scatter %d: %d", round, all[0]);
        } else if (!strcmp(op, "scatterv")) {
            MPI_Scatterv(mine, counts, places, MPI_INT, all, n, MPI_INT, 0, MPI_COMM_WORLD);
            CHECK(all[0] == round * 1000 + world_rank * n, "scatterv %d: %d", round, all[0]);
        } else {
            MPI_Scatter(mine, n, MPI_INT, all, n, MPI_INT, 0, MPI_COMM_WORLD);
            CHECK(all[0] == round * 1000 + world_rank * n, "scatter %d: %d", round, all[0]);
        }
        counters[world_rank] = round;
    }
    int code = report_result((uint64_t)rounds);
    MPI_Finalize();
    return code;
}
