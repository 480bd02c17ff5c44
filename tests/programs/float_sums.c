/* Reductions of random floating-point numbers: the same bits whoever comes late, and close to the exact
 * result.
 *
 *   floats n=60 repeats=4 seed=1
 *
 * Every case is computed `repeats` times with random stalls before each call; all repetitions, and all ranks
 * that receive the same result, must agree bit for bit. Two runs with one seed print the same digest. */
#include "check.h"
#include <math.h>

static const size_t counts[] = {1, 2, 5, 7, 8, 100, 128, 1000, 4096, 12800, 131072};
static double numbers(uint64_t seed, int rank, size_t i)
{
    return (double)(mix3(seed, (uint64_t)rank, i) >> 11) / 9007199254740992.0 - 0.25;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int cases = (int)number(argc, argv, "n", 60), repeats = (int)number(argc, argv, "repeats", 4);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 77)};
    uint64_t checks = 0;
    for (int c = 0; c < cases; c++) {
        size_t n = counts[below(&shared, sizeof counts / sizeof *counts)];
        int single = one_in(&shared, 3), kind = below(&shared, 6), root = below(&shared, world_size);
        uint64_t content = draw(&shared);
        if (kind >= 4 && n > 13000) /* the vector is n elements per rank there */
            n = 4096;
        size_t width = single ? 4 : 8, vector = kind >= 4 ? n * (size_t)world_size : n;
        MPI_Datatype t = single ? MPI_FLOAT : MPI_DOUBLE;
        unsigned char *send = malloc(vector * width), *recv = malloc(n * width), *first = malloc(n * width);
        for (size_t i = 0; i < vector; i++) {
            double x = numbers(content, world_rank, i % 509);
            if (single)
                ((float *)send)[i] = (float)x;
            else
                ((double *)send)[i] = x;
        }
        int mine = kind != 0 || world_rank == root; /* do I receive anything? */
        if (kind == 3 && world_rank == 0)
            mine = 0;
        for (int repeat = 0; repeat < repeats; repeat++) {
            MPI_Request request = MPI_REQUEST_NULL;
            memset(recv, 0, n * width);
            stall(&own, 2, 3000);
            switch (kind) {
            case 0: MPI_Reduce(send, recv, (int)n, t, MPI_SUM, root, MPI_COMM_WORLD); break;
            case 1: MPI_Allreduce(send, recv, (int)n, t, MPI_SUM, MPI_COMM_WORLD); break;
            case 2: MPI_Scan(send, recv, (int)n, t, MPI_SUM, MPI_COMM_WORLD); break;
            case 3: MPI_Exscan(send, recv, (int)n, t, MPI_SUM, MPI_COMM_WORLD); break;
            case 4: MPI_Reduce_scatter_block(send, recv, (int)n, t, MPI_SUM, MPI_COMM_WORLD); break;
            default:
                MPI_Ireduce_scatter_block(send, recv, (int)n, t, MPI_SUM, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            if (!mine)
                continue;
            if (repeat == 0)
                memcpy(first, recv, n * width);
            CHECK(!memcmp(first, recv, n * width), "case %d (kind %d, %zu %s): repetition %d has other bits",
                  c, kind, n, single ? "floats" : "doubles", repeat);
            checks++;
        }
        int last = kind == 2 ? world_rank : kind == 3 ? world_rank - 1 : world_size - 1;
        for (size_t i = 0; mine && i < n; i++) {
            double exact = 0, sizes = 0, got = single ? (double)((float *)recv)[i] : ((double *)recv)[i];
            size_t at = kind >= 4 ? (size_t)world_rank * n + i : i;
            for (int r = 0; r <= last; r++) {
                double x = numbers(content, r, at % 509);
                exact += single ? (double)(float)x : x;
                sizes += fabs(x);
            }
            if (!(fabs(got - exact) <= world_size * sizes * (single ? 1.2e-7 : 2.3e-16))) {
                fail("case %d (kind %d, %zu %s) element %zu: %.17g, not %.17g", c, kind, n,
                     single ? "floats" : "doubles", i, got, exact);
                break;
            }
        }
        if (kind == 1) { /* an Allreduce gives everybody the same bits: go round by messages */
            uint64_t before = digest, hash, theirs;
            digest = 1, digest_bytes(recv, n * width), hash = digest, digest = before;
            MPI_Sendrecv(&hash, 1, MPI_UINT64_T, (world_rank + 1) % world_size, 3, &theirs, 1, MPI_UINT64_T,
                         (world_rank + world_size - 1) % world_size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(hash == theirs, "case %d: Allreduce gave different bits to ranks %d and %d", c, world_rank,
                  (world_rank + world_size - 1) % world_size);
        }
        if (mine)
            digest_bytes(recv, n * width);
        free(send), free(recv), free(first);
    }
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
