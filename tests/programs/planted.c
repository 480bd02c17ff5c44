/* One rank is late at each call of one operation, or two ranks in turn.
 *
 *   planted op=NAME late=RANK turn=RANK rounds=N us=N root=RANK bytes=N comm=NAME
 *
 * A late rank measures by its own clock how long it slept before its calls. Each rank prints
 * "SLEPT rank times nanoseconds kept": for so many nanoseconds the kernel kept it from running. In operations
 * that are messages, the rank after the late one waits for it.
 */
#include "check.h"
#include <time.h>

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* How long this rank was ready to run and had no core; 0 where the kernel does not count it. */
static long long kept_ns(void)
{
    long long kept = 0;
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (file) {
        if (fscanf(file, "%*d %lld", &kept) != 1)
            kept = 0;
        fclose(file);
    }
    return kept;
}

static char *in, *out;
static int root, bytes, late, follower;
static MPI_Comm comm;
static MPI_Request requests[4];

enum { TAG = 5 };

/* ---- collectives ---- */

static void barrier(void) { EXPECT_OK(MPI_Barrier(comm)); }
static void reduce(void) { EXPECT_OK(MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BXOR, root, comm)); }
static void allreduce(void) { EXPECT_OK(MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BXOR, comm)); }
static void bcast(void) { EXPECT_OK(MPI_Bcast(in, bytes, MPI_BYTE, root, comm)); }
static void scan(void) { EXPECT_OK(MPI_Scan(in, out, bytes, MPI_BYTE, MPI_BXOR, comm)); }
static void gather(void) { EXPECT_OK(MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, comm)); }
static void scatter(void) { EXPECT_OK(MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm)); }
static void allgather(void) { EXPECT_OK(MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm)); }
static void alltoall(void)
{
    EXPECT_OK(MPI_Alltoall(out, bytes, MPI_BYTE, out + bytes * world_size, bytes, MPI_BYTE, comm));
}

static void wait_for_first(void) { EXPECT_OK(MPI_Wait(requests, MPI_STATUS_IGNORE)); }

static void ibarrier(void)
{
    EXPECT_OK(MPI_Ibarrier(comm, requests));
    wait_for_first();
}
static void iallreduce(void)
{
    EXPECT_OK(MPI_Iallreduce(in, out, bytes, MPI_BYTE, MPI_BXOR, comm, requests));
    wait_for_first();
}
static void ireduce(void)
{
    EXPECT_OK(MPI_Ireduce(in, out, bytes, MPI_BYTE, MPI_BXOR, root, comm, requests));
    wait_for_first();
}
static void ibcast(void)
{
    EXPECT_OK(MPI_Ibcast(in, bytes, MPI_BYTE, root, comm, requests));
    wait_for_first();
}

/* ---- messages from the late rank to the next one ---- */

static void send(void) { EXPECT_OK(MPI_Send(in, bytes, MPI_BYTE, follower, TAG, comm)); }

static void receive(int source)
{
    EXPECT_OK(MPI_Recv(out, bytes, MPI_BYTE, source, TAG, comm, MPI_STATUS_IGNORE));
}

static void message(void)
{
    if (world_rank == late)
        send();
    else if (world_rank == follower)
        receive(late);
}

static void from_any(void)
{
    if (world_rank == late)
        send();
    else if (world_rank == follower)
        receive(MPI_ANY_SOURCE);
}

static void probe(void)
{
    MPI_Status status;
    if (world_rank == late)
        send();
    if (world_rank != follower)
        return;
    EXPECT_OK(MPI_Probe(MPI_ANY_SOURCE, TAG, comm, &status));
    receive(status.MPI_SOURCE);
}

static void irecv_from_any(void)
{
    if (world_rank == late)
        send();
    if (world_rank != follower)
        return;
    EXPECT_OK(MPI_Irecv(out, bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG, comm, requests));
    wait_for_first();
}

/* The late rank receives. */
static void ssend(void)
{
    if (world_rank == late)
        receive(follower);
    else if (world_rank == follower)
        EXPECT_OK(MPI_Ssend(in, bytes, MPI_BYTE, late, TAG, comm));
}

static void issend(void)
{
    if (world_rank == late)
        receive(follower);
    if (world_rank != follower)
        return;
    EXPECT_OK(MPI_Issend(in, bytes, MPI_BYTE, late, TAG, comm, requests));
    wait_for_first();
}

/* ---- messages between all neighbours in a ring ---- */

static int neighbour(int step) { return (world_rank + step + world_size) % world_size; }

static void sendrecv(void)
{
    EXPECT_OK(MPI_Sendrecv(in, bytes, MPI_BYTE, neighbour(1), TAG, out, bytes, MPI_BYTE, neighbour(-1), TAG,
                           comm, MPI_STATUS_IGNORE));
}

static void exchange(void)
{
    for (int i = 0; i < 2; i++) {
        int peer = neighbour(i ? 1 : -1);
        EXPECT_OK(MPI_Irecv(out + i * bytes, bytes, MPI_BYTE, peer, TAG + i, comm, &requests[i]));
        EXPECT_OK(MPI_Isend(in, bytes, MPI_BYTE, peer, TAG + !i, comm, &requests[2 + i]));
    }
}

static void waitall(void)
{
    exchange();
    EXPECT_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

static void waitany(void)
{
    exchange();
    for (int i = 0, index; i < 4; i++)
        EXPECT_OK(MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE));
}

static void waitsome(void)
{
    exchange();
    for (int left = 4, some, indices[4]; left > 0; left -= some)
        EXPECT_OK(MPI_Waitsome(4, requests, &some, indices, MPI_STATUSES_IGNORE));
}

static void persistent(void)
{
    static MPI_Request pair[2];
    if (!pair[0]) {
        EXPECT_OK(MPI_Recv_init(out, bytes, MPI_BYTE, neighbour(-1), TAG, comm, &pair[0]));
        EXPECT_OK(MPI_Send_init(in, bytes, MPI_BYTE, neighbour(1), TAG, comm, &pair[1]));
    }
    EXPECT_OK(MPI_Startall(2, pair));
    EXPECT_OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
}

/* ---- the run ---- */

#define OPERATION(name) {#name, name}
static const struct {
    const char *name;
    void (*call)(void);
} operations[] = {
    OPERATION(barrier),        OPERATION(reduce),   OPERATION(allreduce),  OPERATION(bcast),
    OPERATION(scan),           OPERATION(gather),   OPERATION(scatter),    OPERATION(allgather),
    OPERATION(alltoall),       OPERATION(ibarrier), OPERATION(iallreduce), OPERATION(ireduce),
    OPERATION(ibcast),         OPERATION(message),  OPERATION(from_any),   OPERATION(probe),
    OPERATION(irecv_from_any), OPERATION(ssend),    OPERATION(issend),     OPERATION(sendrecv),
    OPERATION(waitall),        OPERATION(waitany),  OPERATION(waitsome),   OPERATION(persistent),
};

static void (*find(const char *name))(void)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(operations[i].name, name))
            return operations[i].call;
    fail("unknown operation %s", name);
    return NULL;
}

/* The world, or this rank's part of it: the ranks with the same parity, or neighbours. */
static MPI_Comm communicator(const char *name)
{
    MPI_Comm made = MPI_COMM_WORLD;
    int is_column = !strcmp(name, "column") || !strcmp(name, "named");
    if (is_column || !strcmp(name, "row"))
        EXPECT_OK(MPI_Comm_split(MPI_COMM_WORLD, is_column ? world_rank % 2 : world_rank / 2, 0, &made));
    if (!strcmp(name, "named"))
        EXPECT_OK(MPI_Comm_set_name(made, world_rank % 2 ? "odd" : "even"));
    return made;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    void (*call)(void) = find(argument(argc, argv, "op", "barrier"));
    int first = (int)number(argc, argv, "late", 0), second = (int)number(argc, argv, "turn", first);
    int rounds = (int)number(argc, argv, "rounds", 20);
    long us = (long)number(argc, argv, "us", 20000);
    root = (int)number(argc, argv, "root", 0), bytes = (int)number(argc, argv, "bytes", 8);
    comm = communicator(argument(argc, argv, "comm", "world"));
    in = calloc(1, bytes), out = calloc(2 * world_size, bytes);
    long long slept = 0, times = 0, kept = kept_ns();
    for (int i = 0; call && i < rounds; i++) {
        late = i % 2 ? second : first;
        follower = (late + 1) % world_size;
        if (world_rank == late) {
            long long began = now_ns();
            usleep(us);
            slept += now_ns() - began;
            times++;
        }
        call();
    }
    printf("SLEPT %d %lld %lld %lld\n", world_rank, times, slept, kept_ns() - kept);
    MPI_Finalize();
    return failures > 0;
}
