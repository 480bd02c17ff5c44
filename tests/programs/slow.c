/* A program that waits a lot and is right: messages and collectives between ranks that sleep at random. The
 * digest is that of all that the ranks have received.
 *
 *   slow seed=N rounds=N sleep=MICROSECONDS
 *
 * sleep: the longest one; 0 means that no rank sleeps. */
#include "check.h"

static void take(int value) { digest_bytes(&value, sizeof value); }

static void sleep_a_while(rng *own, int longest)
{
    if (longest > 0 && one_in(own, 3))
        usleep((unsigned)below(own, longest));
}

static void to_the_next(int round, int bytes)
{
    static char out[1 << 20], in[1 << 20];
    int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
    memset(out, round + world_rank, (size_t)bytes);
    if (world_rank % 2 || bytes < 1024)
        MPI_Send(out, bytes, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, round % 2 ? last : MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!(world_rank % 2 || bytes < 1024))
        MPI_Send(out, bytes, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    take(in[bytes - 1]);
}

static void back_and_forth(int round)
{
    int other = world_rank ^ 1, value = round;
    if (other >= world_size)
        return;
    for (int turn = 0; turn < 50; turn++) {
        if (world_rank % 2)
            MPI_Recv(&value, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value += turn;
        MPI_Ssend(&value, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
        if (world_rank % 2 == 0)
            MPI_Recv(&value, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    take(value);
}

static void with_requests(int round)
{
    int other = world_rank ^ 1, in = 0;
    MPI_Request requests[2];
    if (other >= world_size)
        return;
    MPI_Isend(&round, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    take(in);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rounds = (int)number(argc, argv, "rounds", 100), longest = (int)number(argc, argv, "sleep", 200000);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    rng common = {seed}, own = {mix3(seed, 1, (uint64_t)world_rank)};
    for (int round = 0; round < rounds; round++) {
        int what = below(&common, 8), root = below(&common, world_size);
        int value = round + world_rank, sum = 0;
        sleep_a_while(&own, longest);
        switch (what) {
        case 0: to_the_next(round, 8); break;
        case 1: to_the_next(round, 1 << 20); break;
        case 2: back_and_forth(round); break;
        case 3: with_requests(round); break;
        case 4: MPI_Barrier(MPI_COMM_WORLD); break;
        case 5: MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD); break;
        case 6: MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD); break;
        default: MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
        }
        take(value);
        take(sum);
    }
    int code = report_result(rounds);
    MPI_Finalize();
    return code;
}
