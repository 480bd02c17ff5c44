/* One rank is late at each call of one operation, or two ranks in turn.
 *
 *   planted op=NAME late=RANK turn=RANK rounds=N us=N root=RANK bytes=N
 *
 * A late rank measures by its own clock how long it slept before its calls. Each rank prints
 * "SLEPT rank times nanoseconds".
 */
#include "check.h"
#include <time.h>

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static char *in, *out;
static int root, bytes, is_sender, receiver, sender;

static void message(void)
{
    if (is_sender)
        EXPECT_OK(MPI_Send(in, bytes, MPI_BYTE, receiver, 5, MPI_COMM_WORLD));
    else if (world_rank == receiver)
        EXPECT_OK(MPI_Recv(out, bytes, MPI_BYTE, sender, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void call(const char *op)
{
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(op, "barrier"))
        EXPECT_OK(MPI_Barrier(world));
    else if (!strcmp(op, "reduce"))
        EXPECT_OK(MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BXOR, root, world));
    else if (!strcmp(op, "allreduce"))
        EXPECT_OK(MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BXOR, world));
    else if (!strcmp(op, "bcast"))
        EXPECT_OK(MPI_Bcast(in, bytes, MPI_BYTE, root, world));
    else if (!strcmp(op, "scan"))
        EXPECT_OK(MPI_Scan(in, out, bytes, MPI_BYTE, MPI_BXOR, world));
    else if (!strcmp(op, "gather"))
        EXPECT_OK(MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, world));
    else if (!strcmp(op, "scatter"))
        EXPECT_OK(MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, world));
    else if (!strcmp(op, "allgather"))
        EXPECT_OK(MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world));
    else if (!strcmp(op, "alltoall"))
        EXPECT_OK(MPI_Alltoall(out, bytes, MPI_BYTE, out + bytes * world_size, bytes, MPI_BYTE, world));
    else if (!strcmp(op, "message"))
        message();
    else
        fail("unknown operation %s", op);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *op = argument(argc, argv, "op", "barrier");
    int late = (int)number(argc, argv, "late", 0), turn = (int)number(argc, argv, "turn", late);
    int rounds = (int)number(argc, argv, "rounds", 20);
    long us = (long)number(argc, argv, "us", 20000);
    root = (int)number(argc, argv, "root", 0), bytes = (int)number(argc, argv, "bytes", 8);
    in = calloc(1, bytes), out = calloc(2 * world_size, bytes);
    long long slept = 0, times = 0;
    for (int i = 0; i < rounds; i++) {
        int now_late = i % 2 ? turn : late;
        sender = now_late, receiver = (now_late + 1) % world_size;
        is_sender = world_rank == now_late;
        if (world_rank == now_late) {
            long long began = now_ns();
            usleep(us);
            slept += now_ns() - began;
            times++;
        }
        call(op);
    }
    printf("SLEPT %d %lld %lld\n", world_rank, times, slept);
    MPI_Finalize();
    return failures > 0;
}
