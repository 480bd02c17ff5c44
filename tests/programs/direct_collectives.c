/* Small collectives between hosts at random: barriers, broadcasts, reductions and allreduces of at most 256
 * bytes, now and then a longer one, on MPI_COMM_WORLD, a duplicate of it, and all ranks in reverse order.
 *
 *   direct_collectives counters=FILE calls=N seed=S [late=PERMILLE] [free=1]
 *
 * In so many of a thousand calls a rank comes up to two milliseconds late. With free=1 the other two
 * communicators are freed and made anew all the time. Every result is checked. Before a barrier each rank
 * writes the number of the call to its 64-bit counter in FILE, which all hosts share, and behind it looks at
 * all others. */
#include "check.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { MOST = 40, COMMUNICATORS = 3 };

static uint64_t seed;
static _Atomic int64_t *entered; /* the last barrier that each rank has entered */

static uint64_t pick(uint64_t call, uint64_t what) { return mix(seed ^ mix(call << 8 | what)); }

/* What a rank contributes: small integers, so that sums of doubles are exact. */
static double contribution(uint64_t call, int rank, int at)
{
    return (double)(mix(call << 20 | (uint64_t)rank << 8 | (uint64_t)at) % 1000);
}

static double sum(uint64_t call, int at)
{
    double all = 0;
    for (int rank = 0; rank < world_size; rank++)
        all += contribution(call, rank, at);
    return all;
}

static void check_all(uint64_t call, const char *op, const double *found, int n, int root)
{
    for (int at = 0; at < n; at++) {
        double expected = root < 0 ? sum(call, at) : contribution(call, root, at);
        CHECK(found[at] == expected, "%s %ld: element %d is %g, not %g", op, (long)call, at, found[at],
              expected);
    }
}

static void max_of_ints(uint64_t call, MPI_Comm comm)
{
    int mine = (int)(mix(call << 8 | (uint64_t)world_rank) % 1000), found = -1, expected = 0;
    for (int rank = 0; rank < world_size; rank++) {
        int theirs = (int)(mix(call << 8 | (uint64_t)rank) % 1000);
        expected = theirs > expected ? theirs : expected;
    }
    MPI_Allreduce(&mine, &found, 1, MPI_INT, MPI_MAX, comm);
    CHECK(found == expected, "the maximum of call %ld is %d, not %d", (long)call, found, expected);
}

static void barrier(uint64_t call, MPI_Comm comm)
{
    entered[world_rank] = (int64_t)call + 1;
    MPI_Barrier(comm);
    for (int rank = 0; rank < world_size; rank++)
        CHECK(entered[rank] > (int64_t)call, "rank %d has not entered barrier %ld", rank, (long)call);
}

static void one_call(uint64_t call, MPI_Comm comm, int is_reversed)
{
    double mine[MOST], all[MOST];
    int longer = pick(call, 1) % 20 == 0, n = 1 + (int)(pick(call, 2) % (longer ? MOST : 32));
    int root = (int)(pick(call, 3) % (uint64_t)world_size); /* in MPI_COMM_WORLD */
    int root_here = is_reversed ? world_size - 1 - root : root;
    for (int at = 0; at < n; at++)
        mine[at] = contribution(call, world_rank, at);
    switch (pick(call, 4) % 5) {
    case 0: barrier(call, comm); break;
    case 1:
        MPI_Bcast(mine, n, MPI_DOUBLE, root_here, comm);
        check_all(call, "broadcast", mine, n, root);
        break;
    case 2:
        MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_SUM, root_here, comm);
        check_all(call, "reduction", all, world_rank == root ? n : 0, -1);
        break;
    case 3:
        MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, comm);
        check_all(call, "allreduce", mine, n, -1);
        break;
    default: max_of_ints(call, comm);
    }
}

static MPI_Comm make(int which)
{
    MPI_Comm comm;
    if (which == 1)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, 0, world_size - world_rank, &comm);
    return comm;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long calls = number(argc, argv, "calls", 1000), late = number(argc, argv, "late", 0);
    long frees = number(argc, argv, "free", 0);
    seed = (uint64_t)number(argc, argv, "seed", 1);
    int fd = open(argument(argc, argv, "counters", ""), O_RDWR);
    entered = mmap(NULL, 8 * (size_t)world_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (entered == MAP_FAILED) {
        fprintf(stderr, "direct_collectives: counters=FILE is needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm comms[COMMUNICATORS] = {MPI_COMM_WORLD};
    for (int i = 1; i < COMMUNICATORS; i++)
        comms[i] = make(i);
    for (uint64_t call = 0; call < (uint64_t)calls; call++) {
        if ((long)(mix(pick(call, 5) ^ (uint64_t)world_rank) % 1000) < late)
            usleep((useconds_t)(pick(call, 6) % 2000));
        int which = (int)(pick(call / 10, 7) % COMMUNICATORS);
        if (frees && call % 50 == 49 && which > 0) {
            MPI_Comm_free(&comms[which]);
            comms[which] = make(which);
        }
        one_call(call, comms[which], which == 2);
    }
    for (int i = 1; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comms[i]);
    int code = report_result((uint64_t)calls);
    MPI_Finalize();
    return code;
}
