/* Many long nonblocking collectives at once, in place: more than bounce buffers hold.
 *
 *   many_long_collectives count=24 bytes=400000 rounds=3 */
#include "check.h"

enum { KINDS = 4 };

static int count, n;

static uint32_t value(int rank, int round, int which, int i)
{
    return (uint32_t)mix3((uint64_t)(rank + 1), (uint64_t)(round * count + which), (uint64_t)i) >> 8;
}

static uint32_t sum(int round, int which, int i)
{
    uint32_t all = 0;
    for (int r = 0; r < world_size; r++)
        all += value(r, round, which, i);
    return all;
}

/* Starts a collective whose data are in `buffer`, a block of n numbers for each rank. */
static void start(int which, uint32_t *buffer, uint32_t *more, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int root = which % world_size, is_root = world_rank == root;
    uint32_t *own = buffer + (size_t)world_rank * n;
    switch (which % KINDS) {
    case 0: EXPECT_OK(MPI_Iallreduce(MPI_IN_PLACE, own, n, MPI_UINT32_T, MPI_SUM, world, request)); break;
    case 1:
        EXPECT_OK(MPI_Ireduce(is_root ? MPI_IN_PLACE : own, is_root ? own : NULL, n, MPI_UINT32_T, MPI_SUM,
                              root, world, request));
        break;
    case 2:
        EXPECT_OK(
            MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, n, MPI_UINT32_T, world, request));
        break;
    default:
        for (int r = 0; r < world_size; r++)
            memcpy(more + (size_t)r * n, own, sizeof *own * (size_t)n);
        EXPECT_OK(MPI_Ialltoall(more, n, MPI_UINT32_T, buffer, n, MPI_UINT32_T, world, request));
    }
}

static void check(int round, int which, const uint32_t *buffer)
{
    int kind = which % KINDS, root = which % world_size, combines = kind < 2;
    if (kind == 1 && world_rank != root)
        return;
    for (int r = combines ? world_rank : 0; r < (combines ? world_rank + 1 : world_size); r++)
        for (int i = 0; i < n; i++) {
            uint32_t found = buffer[(size_t)r * n + i];
            uint32_t expected = combines ? sum(round, which, i) : value(r, round, which, i);
            if (found != expected) {
                fail("round %d, collective %d: number %d of rank %d is %u, not %u", round, which, i, r, found,
                     expected);
                return;
            }
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    count = (int)number(argc, argv, "count", 24), n = (int)number(argc, argv, "bytes", 400000) / 4;
    int rounds = (int)number(argc, argv, "rounds", 3);
    size_t numbers = (size_t)n * world_size;
    uint32_t *buffers = malloc(sizeof *buffers * numbers * count),
             *more = malloc(sizeof *more * numbers * count);
    MPI_Request *requests = malloc(sizeof *requests * count);
    for (int round = 0; round < rounds; round++) {
        for (int which = 0; which < count; which++) {
            uint32_t *buffer = buffers + which * numbers;
            for (int i = 0; i < n; i++)
                buffer[(size_t)world_rank * n + i] = value(world_rank, round, which, i);
            start(which, buffer, more + which * numbers, &requests[which]);
        }
        EXPECT_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        for (int which = 0; which < count; which++)
            check(round, which, buffers + which * numbers);
    }
    int code = report_result((uint64_t)rounds * (uint64_t)count);
    MPI_Finalize();
    return code;
}
