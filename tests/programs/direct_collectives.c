/* Small collectives between hosts at random: barriers, broadcasts, reductions and allreduces of at most 256
 * bytes, now and then a longer one, on MPI_COMM_WORLD, a duplicate of it, all ranks in reverse order, and
 * parts of the ranks: columns (every second rank), pairs of neighbours, halves at random, and a duplicate of
 * the columns.
 *
 *   direct_collectives counters=FILE calls=N seed=S [late=PERMILLE] [free=1] [threads=1] [longer=0]
 *
 * In so many of a thousand calls a rank comes up to two milliseconds late. With free=1 the communicators but
 * MPI_COMM_WORLD are freed and made anew all the time. With threads=1 each communicator has a thread of its
 * own, and all make their calls at once. With longer=0 none has more than 256 bytes. Each part of the ranks
 * makes as many calls as it likes. Every result is checked. FILE, which all hosts share, has a 64-bit counter
 * for each communicator and rank: before a barrier each rank writes the number of the call there, and behind
 * it looks at all others. */
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { MOST = 40, COMMUNICATORS = 7, MOST_RANKS = 256 };

/* A communicator, its members in MPI_COMM_WORLD, and which of the parts it is. */
struct part {
    MPI_Comm comm;
    int size, color, members[MOST_RANKS];
    _Atomic int64_t *entered; /* the last barrier on it that each rank has entered */
};

static uint64_t seed;
static long calls, late, frees, longest;
static struct part parts[COMMUNICATORS];

static uint64_t pick(uint64_t call, uint64_t what) { return mix(seed ^ mix(call << 8 | what)); }

/* What a rank contributes: small integers, so that sums of doubles are exact. */
static double contribution(uint64_t call, int rank, int at)
{
    return (double)(mix(call << 20 | (uint64_t)rank << 8 | (uint64_t)at) % 1000);
}

static double sum(const struct part *part, uint64_t call, int at)
{
    double all = 0;
    for (int i = 0; i < part->size; i++)
        all += contribution(call, part->members[i], at);
    return all;
}

/* root < 0: of a reduction */
static void check_all(const struct part *part, uint64_t call, const char *op, const double *found, int n,
                      int root)
{
    for (int at = 0; at < n; at++) {
        double expected = root < 0 ? sum(part, call, at) : contribution(call, part->members[root], at);
        CHECK(found[at] == expected, "%s %ld: element %d is %g, not %g", op, (long)call, at, found[at],
              expected);
    }
}

static void max_of_ints(const struct part *part, uint64_t call)
{
    int mine = (int)(mix(call << 8 | (uint64_t)world_rank) % 1000), found = -1, expected = 0;
    for (int i = 0; i < part->size; i++) {
        int theirs = (int)(mix(call << 8 | (uint64_t)part->members[i]) % 1000);
        expected = theirs > expected ? theirs : expected;
    }
    MPI_Allreduce(&mine, &found, 1, MPI_INT, MPI_MAX, part->comm);
    CHECK(found == expected, "the maximum of call %ld is %d, not %d", (long)call, found, expected);
}

static void barrier(const struct part *part, uint64_t call)
{
    part->entered[world_rank] = (int64_t)call + 1;
    MPI_Barrier(part->comm);
    for (int i = 0; i < part->size; i++)
        CHECK(part->entered[part->members[i]] > (int64_t)call, "rank %d has not entered barrier %ld",
              part->members[i], (long)call);
}

static void one_call(const struct part *part, uint64_t call)
{
    double mine[MOST], all[MOST];
    int n = 1 + (int)(pick(call, 2) % (pick(call, 1) % 20 == 0 ? (uint64_t)longest : 32));
    int root = (int)(pick(call, 3) % (uint64_t)part->size);
    for (int at = 0; at < n; at++)
        mine[at] = contribution(call, world_rank, at);
    switch (pick(call, 4) % 5) {
    case 0: barrier(part, call); break;
    case 1:
        MPI_Bcast(mine, n, MPI_DOUBLE, root, part->comm);
        check_all(part, call, "broadcast", mine, n, root);
        break;
    case 2:
        MPI_Reduce(mine, all, n, MPI_DOUBLE, MPI_SUM, root, part->comm);
        check_all(part, call, "reduction", all, world_rank == part->members[root] ? n : 0, -1);
        break;
    case 3:
        MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, part->comm);
        check_all(part, call, "allreduce", mine, n, -1);
        break;
    default: max_of_ints(part, call);
    }
}

/* Makes one of the communicators; the last one is a duplicate of the columns. */
static void make(int which)
{
    struct part *part = &parts[which];
    int half = (int)(mix(seed ^ (uint64_t)world_rank) >> 20 & 1);
    int pair = (world_rank + 1) % world_size / 2;
    int colors[COMMUNICATORS] = {0, 0, 0, world_rank % 2, pair, half, world_rank % 2};
    part->color = colors[which];
    if (which == 0)
        part->comm = MPI_COMM_WORLD;
    else if (which == 1 || which == COMMUNICATORS - 1)
        MPI_Comm_dup(which == 1 ? MPI_COMM_WORLD : parts[3].comm, &part->comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, part->color, which == 2 ? -world_rank : world_rank, &part->comm);
    MPI_Comm_size(part->comm, &part->size);
    MPI_Allgather(&world_rank, 1, MPI_INT, part->members, 1, MPI_INT, part->comm);
}

/* What this rank's part of the ranks does: one to four calls. */
static void some_calls(const struct part *part, uint64_t call)
{
    uint64_t number = call << 8 | (uint64_t)part->color << 2, calls = 1 + pick(number, 8) % 4;
    for (uint64_t i = 0; i < calls; i++)
        one_call(part, number + i);
}

static void come_late(uint64_t call)
{
    if ((long)(mix(pick(call, 5) ^ (uint64_t)world_rank) % 1000) < late)
        usleep((useconds_t)(pick(call, 6) % 2000));
}

/* All calls, each on the communicator that comes next. */
static void one_after_another(void)
{
    for (uint64_t call = 0; call < (uint64_t)calls; call++) {
        come_late(call);
        int which = (int)(pick(call / 10, 7) % COMMUNICATORS);
        if (frees && call % 50 == 49 && which > 0) {
            MPI_Comm_free(&parts[which].comm);
            make(which);
        }
        some_calls(&parts[which], call);
    }
}

/* All calls on one communicator. */
static void *on_one(void *argument)
{
    struct part *part = argument;
    for (uint64_t call = 0; call < (uint64_t)calls; call++) {
        come_late(call ^ (uint64_t)(part - parts) << 32);
        if (frees && call % 50 == 49 && part > parts) {
            MPI_Comm old = part->comm;
            MPI_Comm_dup(old, &part->comm);
            MPI_Comm_free(&old);
        }
        some_calls(part, call);
    }
    return NULL;
}

static void all_at_once(void)
{
    pthread_t threads[COMMUNICATORS];
    for (int i = 0; i < COMMUNICATORS; i++)
        pthread_create(&threads[i], NULL, on_one, &parts[i]);
    for (int i = 0; i < COMMUNICATORS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    long threads = number(argc, argv, "threads", 0);
    begin_with(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    calls = number(argc, argv, "calls", 1000);
    late = number(argc, argv, "late", 0);
    frees = number(argc, argv, "free", 0);
    longest = number(argc, argv, "longer", 1) ? MOST : 32;
    seed = (uint64_t)number(argc, argv, "seed", 1);
    int fd = open(argument(argc, argv, "counters", ""), O_RDWR);
    _Atomic int64_t *counters =
        mmap(NULL, 8 * (size_t)world_size * COMMUNICATORS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED || world_size > MOST_RANKS) {
        fprintf(stderr, "direct_collectives: counters=FILE is needed, and at most %d ranks\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < COMMUNICATORS; i++) {
        parts[i].entered = counters + (ptrdiff_t)i * world_size;
        make(i);
    }
    threads ? all_at_once() : one_after_another();
    for (int i = 1; i < COMMUNICATORS; i++)
        MPI_Comm_free(&parts[i].comm);
    int code = report_result((uint64_t)calls);
    MPI_Finalize();
    return code;
}
