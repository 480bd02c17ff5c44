/* Which ranks return from a collective while one rank is stopped? Every rank counts its calls in a file that
 * the test reads.
 *
 *   bypass FILE op=reduce stopped=3 bytes=8 rounds=2        (op: a name of MPI's in lower case)
 *
 * After a barrier, rank `stopped` stops itself (SIGSTOP) before its next call. The others make `rounds`
 * calls. After each call a rank writes its number, 1, 2, …, to its 64-bit counter in FILE; the stopped rank
 * writes -1 just before it stops. After SIGCONT all ranks finish and check their results. The root is rank 0.
 * `bytes` is the size of a vector, or of a rank's part. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define WORLD MPI_COMM_WORLD
#define IS_OP(name) (!strcmp(op, name))

static const char *op;
static int n, *mine, *all, *counts, *places; /* n: elements of a vector or a part */

/* Element i of what rank r contributes in a round. */
static int element(int round, int r, int i) { return round * 1000 + r + i; }

/* The sum of element i over ranks 0 to `last`. */
static int sum(int round, int last, int i) { return (last + 1) * (round * 1000 + i) + last * (last + 1) / 2; }

static void check(int round, int at, int expected)
{
    CHECK(all[at] == expected, "%s %d: element %d is %d, not %d", op, round, at, all[at], expected);
}

static int call_reduction(int round)
{
    int me = world_rank, everyone = world_size - 1, last = everyone, first = 0, count = n;
    if (IS_OP("reduce")) {
        MPI_Reduce(mine, all, n, MPI_INT, MPI_SUM, 0, WORLD);
        count = me == 0 ? n : 0;
    } else if (IS_OP("allreduce")) {
        MPI_Allreduce(mine, all, n, MPI_INT, MPI_SUM, WORLD);
    } else if (IS_OP("scan")) {
        MPI_Scan(mine, all, n, MPI_INT, MPI_SUM, WORLD);
        last = me;
    } else if (IS_OP("exscan")) {
        MPI_Exscan(mine, all, n, MPI_INT, MPI_SUM, WORLD);
        last = me - 1, count = me > 0 ? n : 0;
    } else if (IS_OP("reduce_scatter")) {
        MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, WORLD);
        first = me * n;
    } else {
        return 0;
    }
    for (int i = 0; i < count; i++)
        check(round, i, sum(round, last, first + i));
    return 1;
}

static int call_with_root(int round)
{
    int me = world_rank;
    if (IS_OP("bcast")) {
        MPI_Bcast(me == 0 ? mine : all, n, MPI_INT, 0, WORLD);
        for (int i = 0; i < n && me != 0; i++)
            check(round, i, element(round, 0, i));
    } else if (IS_OP("scatter") || IS_OP("scatterv")) {
        if (IS_OP("scatter"))
            MPI_Scatter(mine, n, MPI_INT, all, n, MPI_INT, 0, WORLD);
        else
            MPI_Scatterv(mine, counts, places, MPI_INT, all, n, MPI_INT, 0, WORLD);
        check(round, 0, element(round, 0, me * n));
    } else if (IS_OP("gather") || IS_OP("gatherv")) {
        if (IS_OP("gather"))
            MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, 0, WORLD);
        else
            MPI_Gatherv(mine, n, MPI_INT, all, counts, places, MPI_INT, 0, WORLD);
        for (int r = 0; r < world_size && me == 0; r++)
            check(round, r * n, element(round, r, 0));
    } else {
        return 0;
    }
    return 1;
}

static int call_exchange(int round)
{
    int first = 0;
    if (IS_OP("allgather")) {
        MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, WORLD);
    } else if (IS_OP("allgatherv")) {
        MPI_Allgatherv(mine, n, MPI_INT, all, counts, places, MPI_INT, WORLD);
    } else {
        first = world_rank * n;
        if (IS_OP("alltoall"))
            MPI_Alltoall(mine, n, MPI_INT, all, n, MPI_INT, WORLD);
        else if (IS_OP("alltoallv"))
            MPI_Alltoallv(mine, counts, places, MPI_INT, all, counts, places, MPI_INT, WORLD);
        else
            return 0;
    }
    for (int r = 0; r < world_size; r++)
        check(round, r * n, element(round, r, first));
    return 1;
}

static void call(int round)
{
    for (int i = 0; i < n * world_size; i++)
        mine[i] = element(round, world_rank, i), all[i] = -1;
    if (!call_reduction(round) && !call_with_root(round) && !call_exchange(round)) {
        fprintf(stderr, "bypass: there is no op=%s\n", op);
        MPI_Abort(WORLD, 2);
    }
}

static int *allocate(int count) { return malloc(sizeof(int) * (size_t)count); }

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    op = argument(argc, argv, "op", "reduce"), n = (int)number(argc, argv, "bytes", 8) / 4;
    int stopped = (int)number(argc, argv, "stopped", 3), rounds = (int)number(argc, argv, "rounds", 2);
    int fd = open(argv[1], O_RDWR);
    _Atomic int64_t *counters = mmap(NULL, 8 * (size_t)world_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mine = allocate(n * world_size), all = allocate(n * world_size);
    counts = allocate(world_size), places = allocate(world_size);
    for (int r = 0; r < world_size; r++)
        counts[r] = n, places[r] = r * n;
    for (int round = 0; round < 20; round++) /* warms the caches, and every rank has been here */
        MPI_Allreduce(&round, all, 1, MPI_INT, MPI_MAX, WORLD);
    MPI_Barrier(WORLD);
    if (world_rank == stopped) {
        counters[world_rank] = -1;
        raise(SIGSTOP);
        counters[world_rank] = 0;
    }
    for (int round = 1; round <= rounds; round++) {
        call(round);
        counters[world_rank] = round;
    }
    int code = report_result((uint64_t)rounds);
    MPI_Finalize();
    return code;
}
