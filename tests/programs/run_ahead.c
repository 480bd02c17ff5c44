/* Reductions and gathers to random roots, while ranks take turns in standing still: the others run ahead of
 * them by far more than the window. Results are compared with what a serial program computes.
 *
 *   run_ahead seed=1 phases=40 rounds=300 still=3000
 *
 * In each phase one rank, or none, stands still for `still` microseconds before the first of the phase's
 * `rounds` calls on each of two communicators. The first one is freed while its roots are behind. Now and
 * then come calls for which a rank has to return to the window: allreduces, broadcasts, barriers. */
#include "check.h"
#include <time.h>

enum { LARGEST = 9000 }; /* elements; a ring holds 8192 */

static int mine[LARGEST], all[LARGEST * 16], counts[16], places[16];

static int element(int call, int rank, int i) { return call * 7 + rank * 1000 + i; }

static void stand_still(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static int random_size(rng *r)
{
    static const int sizes[] = {1, 2, 10, 11, 256, 3000, LARGEST};
    return sizes[below(r, one_in(r, 8) ? 7 : 5)];
}

static void reduce(MPI_Comm comm, int call, int n, int root)
{
    MPI_Reduce(mine, all, n, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; i < n && world_rank == root; i += 1 + n / 7) {
        int expected = 0;
        for (int r = 0; r < world_size; r++)
            expected += element(call, r, i);
        CHECK(all[i] == expected, "reduce %d: element %d is %d, not %d", call, i, all[i], expected);
    }
}

static void gather(MPI_Comm comm, int call, int n, int root, int is_ragged)
{
    int total = 0;
    for (int r = 0; r < world_size; r++) {
        counts[r] = is_ragged ? (n + r) % LARGEST : n, places[r] = total;
        total += counts[r];
    }
    if (is_ragged)
        MPI_Gatherv(mine, counts[world_rank], MPI_INT, all, counts, places, MPI_INT, root, comm);
    else
        MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, comm);
    for (int r = 0; r < world_size && world_rank == root; r++)
        for (int i = 0; i < counts[r]; i += 1 + counts[r] / 3)
            CHECK(all[places[r] + i] == element(call, r, i), "gather %d: element %d of rank %d is %d", call,
                  i, r, all[places[r] + i]);
}

static void contribute(MPI_Comm comm, int call, rng *r, int root)
{
    int n = random_size(r), kind = below(r, 4);
    for (int i = 0; i < n + world_size && i < LARGEST; i++)
        mine[i] = element(call, world_rank, i);
    if (kind < 2)
        reduce(comm, call, n, root);
    else
        gather(comm, call, n, root, kind == 3);
}

/* Calls in which every rank needs something, or contributes to all. */
static void meet(MPI_Comm comm, int call, rng *r)
{
    int root = below(r, world_size), value = world_rank + call, sum = 0;
    switch (below(r, 3)) {
    case 0:
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == world_size * call + world_size * (world_size - 1) / 2, "allreduce %d: %d", call, sum);
        break;
    case 1:
        value = world_rank == root ? call : -1;
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        CHECK(value == call, "bcast %d: %d", call, value);
        break;
    default: MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    rng r = {(uint64_t)number(argc, argv, "seed", 1)};
    int phases = (int)number(argc, argv, "phases", 40), rounds = (int)number(argc, argv, "rounds", 300);
    long still = number(argc, argv, "still", 3000);
    for (int phase = 0, call = 0; phase < phases; phase++) {
        int standing = below(&r, world_size + 1), root = below(&r, world_size), changes = one_in(&r, 3);
        MPI_Comm comms[2];
        for (int c = 0; c < 2; c++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        if (standing == world_rank)
            stand_still(still);
        for (int c = 0; c < 2; c++) {
            for (int round = 0; round < rounds; round++, call++) {
                if (c == 1 && one_in(&r, 200))
                    meet(comms[c], call, &r);
                contribute(comms[c], call, &r, changes ? below(&r, world_size) : root);
            }
            MPI_Comm_free(&comms[c]);
        }
    }
    int code = report_result((uint64_t)phases);
    MPI_Finalize();
    return code;
}
