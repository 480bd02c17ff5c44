/* Collectives of the ranks that share a host, and of all ranks; prints how many hosts there are.
 *
 *   several_hosts rounds=100 */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long rounds = number(argc, argv, "rounds", 100);
    char host[256] = "", all[64][256];
    gethostname(host, sizeof host - 1);
    CHECK(world_size <= 64, "too many ranks for this test");
    MPI_Allgather(host, 256, MPI_CHAR, all, 256, MPI_CHAR, MPI_COMM_WORLD);
    int here = 0, hosts = 0;
    for (int i = 0; i < world_size; i++) {
        int first = 1;
        for (int j = 0; j < i; j++)
            first &= strcmp(all[i], all[j]) != 0;
        hosts += first;
        here += strcmp(all[i], host) == 0;
    }
    MPI_Comm node;
    int node_rank, node_size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    CHECK(node_size == here, "%d ranks share memory, but %d run on %s", node_size, here, host);
    /* One rank of each host. */
    MPI_Comm across;
    MPI_Comm_split(MPI_COMM_WORLD, node_rank, 0, &across);
    int across_size;
    MPI_Comm_size(across, &across_size);
    CHECK(node_rank > 0 || across_size == hosts, "%d of %d hosts", across_size, hosts);
    for (long round = 0; round < rounds; round++) {
        long mine = world_rank + round, sum = 0, within = 0, expected = 0;
        MPI_Allreduce(&mine, &within, 1, MPI_LONG, MPI_SUM, node);
        /* All hosts have the same number of ranks, so the sums of all hosts meet here. */
        MPI_Allreduce(&within, &sum, 1, MPI_LONG, MPI_SUM, across);
        for (int i = 0; i < world_size; i++)
            expected += i + round;
        CHECK(sum == expected, "round %ld: %ld instead of %ld", round, sum, expected);
        long whole = 0;
        MPI_Allreduce(&mine, &whole, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(whole == expected, "round %ld, all at once: %ld instead of %ld", round, whole, expected);
        long from = world_rank == round % world_size ? round : -1;
        MPI_Bcast(&from, 1, MPI_LONG, (int)(round % world_size), MPI_COMM_WORLD);
        CHECK(from == round, "round %ld: %ld came", round, from);
        MPI_Barrier(round % 2 ? node : MPI_COMM_WORLD);
    }
    if (world_rank == 0)
        printf("HOSTS %d RANKS %d\n", hosts, world_size);
    int code = report_result((uint64_t)rounds * 3);
    MPI_Finalize();
    return code;
}
