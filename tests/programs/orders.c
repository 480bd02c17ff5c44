/* All ranks call the blocking collectives of a communicator in the same order, and the nonblocking ones in
 * the same order; but each starts its nonblocking ones at another place among the blocking ones.
 *
 *   orders ops=N bytes=B */
#include "check.h"

static void fill(int *out, int n, int round, int i)
{
    for (int k = 0; k < n; k++)
        out[k] = (int)(mix3((uint64_t)round, (uint64_t)i, (uint64_t)k) & 0xffff) * (world_rank + 1);
}

static void judge(const int *in, int n, int round, int i, const char *what)
{
    for (int k = 0; k < n; k++) {
        int expected = (int)(mix3((uint64_t)round, (uint64_t)i, (uint64_t)k) & 0xffff) *
                       (world_size * (world_size + 1) / 2);
        if (in[k] != expected) {
            fail("round %d %s %d: element %d is %d, not %d", round, what, i, k, in[k], expected);
            return;
        }
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int ops = atoi(argument(argc, argv, "ops", "3")),
        n = atoi(argument(argc, argv, "bytes", "8")) / (int)sizeof(int);
    size_t room = (size_t)ops * (size_t)n;
    int *in = calloc(room, sizeof *in), *out = calloc(room, sizeof *out),
        *sum = calloc((size_t)n, sizeof *sum), *one = calloc((size_t)n, sizeof *one);
    MPI_Request *requests = calloc(2 * (size_t)ops, sizeof *requests);
    uint64_t checks = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int round = 0; round < 4 * world_size; round++) {
        /* Before which of the blocking ones this rank starts its nonblocking ones. */
        int begins = (world_rank + round) % (ops + 1);
        for (int i = 0; i <= ops; i++) {
            if (i == begins)
                for (int k = 0; k < ops; k++) {
                    fill(out + k * n, n, round, k);
                    EXPECT_OK(
                        MPI_Iallreduce(out + k * n, in + k * n, n, MPI_INT, MPI_SUM, comm, &requests[2 * k]));
                    EXPECT_OK(MPI_Ibarrier(comm, &requests[2 * k + 1]));
                }
            if (i == ops)
                break;
            EXPECT_OK(MPI_Barrier(comm));
            fill(one, n, round, 1000 + i);
            EXPECT_OK(MPI_Allreduce(one, sum, n, MPI_INT, MPI_SUM, comm));
            judge(sum, n, round, 1000 + i, "allreduce");
        }
        EXPECT_OK(MPI_Waitall(2 * ops, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < ops; k++)
            judge(in + k * n, n, round, k, "iallreduce");
        checks += 2 * (uint64_t)ops;
    }
    MPI_Comm_free(&comm);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
