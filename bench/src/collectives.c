/* How long each rank is inside a collective call. An ordinary MPI program.
 *
 *   collectives [--ops barrier,allreduce:8,…] [--cap S] [--budget S] [--separator neutral|mpi] [--root R]
 *               [--parts N] [--limit S]
 *
 * With --parts N the ranks are dealt out to N communicators, and all of these make the same call at the same
 * time; the root is that of each of them.
 *
 * A separating barrier (neutral.h) precedes every timed call. Barriers themselves are called back to back,
 * first without reading the clock (mean), then with it (median, p99, completion). Calls are repeated until
 * `cap` seconds are spent on each operation. An operation that would start after `budget` seconds is skipped,
 * and a line says so. Every result is checked. Times are in microseconds; the cost of reading the clock is
 * subtracted. */
#include "neutral.h"
#include "numbers.h"
#include <getopt.h>
#include <signal.h>

enum { MOST_CALLS = 64, SAMPLES = 200000 };

typedef enum collective {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    SCAN,
    COLLECTIVES
} collective;
static const char *const names[COLLECTIVES] = {"barrier", "bcast",     "reduce",   "allreduce", "gather",
                                               "scatter", "allgather", "alltoall", "scan"};

typedef struct timed_call {
    collective collective;
    size_t bytes;
} timed_call;

static neutral n;
static int root;
static double *out, *in; /* a block for each member */

/* The communicator: its members are every `parts`-th rank, from `first` on. */
static MPI_Comm comm;
static int parts = 1, first, members, me;

static int world_rank_of(int member) { return member * parts + first; }

static void wrong(const timed_call *t, double got, double wanted)
{
    fprintf(stderr, "wrong answer: %s %zu B, rank %d: %g instead of %g\n", names[t->collective], t->bytes,
            n.rank, got, wanted);
    MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

static void expect(const timed_call *t, double got, double wanted)
{
    if (got != wanted)
        wrong(t, got, wanted);
}

/* Puts the iteration into the first and the last element of every block, so that an old answer is noticed. */
static void prepare(const timed_call *t, long i)
{
    size_t count = t->bytes / sizeof(double);
    if (!count)
        return;
    double stamp = (double)(i % 1000 + 1);
    int blocks = t->collective == SCATTER || t->collective == ALLTOALL ? members : 1;
    for (int b = 0; b < blocks; b++) {
        out[(size_t)b * count] = stamp + n.rank;
        out[(size_t)(b + 1) * count - 1] = stamp + n.rank;
    }
    if (t->collective == BCAST && me != root)
        out[0] = out[count - 1] = -1;
    in[0] = -1;
}

static void call(const timed_call *t)
{
    int count = (int)(t->bytes / sizeof(double));
    switch (t->collective) {
    case BARRIER: MPI_Barrier(comm); break;
    case BCAST: MPI_Bcast(out, count, MPI_DOUBLE, root, comm); break;
    case REDUCE: MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm); break;
    case GATHER: MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, comm); break;
    case SCATTER: MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, comm); break;
    case ALLGATHER: MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm); break;
    case ALLTOALL: MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm); break;
    case SCAN: MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); break;
    case COLLECTIVES: break;
    }
}

static void check(const timed_call *t, long i)
{
    size_t count = t->bytes / sizeof(double);
    if (!count)
        return;
    double stamp = (double)(i % 1000 + 1), sum = 0, partial = 0;
    for (int r = 0; r < members; r++) {
        sum += stamp + world_rank_of(r);
        if (r == me)
            partial = sum;
    }
    switch (t->collective) {
    case BCAST:
        expect(t, out[0], stamp + world_rank_of(root));
        expect(t, out[count - 1], stamp + world_rank_of(root));
        break;
    case REDUCE:
        if (me != root)
            break;
        /* fall through */
    case ALLREDUCE:
        expect(t, in[0], sum);
        expect(t, in[count - 1], sum);
        break;
    case SCAN:
        expect(t, in[0], partial);
        expect(t, in[count - 1], partial);
        break;
    case SCATTER:
        expect(t, in[0], stamp + world_rank_of(root));
        expect(t, in[count - 1], stamp + world_rank_of(root));
        break;
    case GATHER:
        if (me != root)
            break;
        /* fall through */
    case ALLGATHER:
    case ALLTOALL:
        for (int r = 0; r < members; r++)
            expect(t, in[(size_t)(r + 1) * count - 1], stamp + world_rank_of(r));
        break;
    case BARRIER:
    case COLLECTIVES: break;
    }
}

/* Calls barriers back to back without reading the clock between them. Returns the microseconds of a barrier,
 * the mean over the ranks. */
static double back_to_back(double cap_s, long *iterations)
{
    uint64_t mine = 0;
    long done = 0;
    neutral_begin(&n, cap_s);
    for (long more; (more = neutral_next(&n, done)) > 0; done += more) {
        neutral_barrier(&n);
        uint64_t start = wall_ns();
        for (long i = 0; i < more; i++)
            MPI_Barrier(comm);
        mine += wall_ns() - start;
    }
    const double *all = neutral_gather(&n, (double)mine / 1e3 / (double)done);
    double sum = 0;
    for (int r = 0; r < n.ranks; r++)
        sum += all[r];
    *iterations = done;
    return sum / n.ranks;
}

/* Calls until `cap_s` seconds are spent, each timed and checked. Returns how many, and the processor time of
 * a call. */
static long timed_calls(const timed_call *t, double cap_s, uint64_t clock_cost_ns, double *cpu_us)
{
    float *mine = neutral_mine(&n);
    uint64_t cpu = process_cpu_ns();
    long done = 0;
    neutral_begin(&n, cap_s);
    for (long more; (more = neutral_next(&n, done)) > 0;) {
        for (long end = done + more; done < end; done++) {
            prepare(t, done);
            if (t->collective != BARRIER)
                neutral_separate(&n);
            uint64_t start = wall_ns();
            call(t);
            uint64_t took = wall_ns() - start;
            mine[done] = took > clock_cost_ns ? (float)(took - clock_cost_ns) / 1e3f : 0;
            check(t, done);
        }
    }
    *cpu_us = (double)(process_cpu_ns() - cpu) / 1e3 / (double)done;
    return done;
}

static void measure(const timed_call *t, double cap_s, uint64_t clock_cost_ns)
{
    double barrier_mean = 0, cpu_us = 0, cpu_sum = 0;
    long untimed = 0;
    if (t->collective == BARRIER) {
        cap_s /= 2;
        barrier_mean = back_to_back(cap_s, &untimed);
    }
    timed_calls(t, cap_s / 10, clock_cost_ns, &cpu_us); /* warms up */
    long done = timed_calls(t, cap_s, clock_cost_ns, &cpu_us);
    const double *cpus = neutral_gather(&n, cpu_us);
    for (int r = 0; r < n.ranks; r++)
        cpu_sum += cpus[r];
    if (n.rank == 0) {
        numbers all = numbers_of(n.samples, n.stride, (size_t)n.ranks, (size_t)done);
        printf("result {\"op\": \"%s\", \"bytes\": %zu, \"iterations\": %ld, \"mean_us\": %.4f, "
               "\"median_us\": %.4f, \"p99_us\": %.4f, \"completion_us\": %.4f, \"cpu_us\": %.3f}\n",
               names[t->collective], t->bytes, t->collective == BARRIER ? untimed : done,
               t->collective == BARRIER ? barrier_mean : all.mean, all.median, all.p99, all.completion,
               cpu_sum);
        fflush(stdout);
    }
    neutral_barrier(&n);
}

static int parse_calls(char *text, timed_call *calls)
{
    int count = 0;
    for (char *word = strtok(text, ","); word && count < MOST_CALLS; word = strtok(NULL, ",")) {
        char *colon = strchr(word, ':');
        if (colon)
            *colon = 0;
        int k = 0;
        while (k < COLLECTIVES && strcmp(names[k], word) != 0)
            k++;
        size_t bytes = colon ? strtoul(colon + 1, NULL, 10) : 0;
        if (k == COLLECTIVES || bytes % sizeof(double) || (k != BARRIER && !bytes)) {
            fprintf(stderr, "collectives: unknown operation %s, or not a positive multiple of 8 bytes\n",
                    word);
            exit(2);
        }
        calls[count++] = (timed_call){(collective)k, k == BARRIER ? 0 : bytes};
    }
    return count;
}

static void allocate_buffers(const timed_call *calls, int count)
{
    size_t largest = 8;
    for (int i = 0; i < count; i++)
        if (calls[i].bytes > largest)
            largest = calls[i].bytes;
    size_t bytes = largest * (size_t)members, whole_pages = (bytes + 4095) / 4096 * 4096;
    out = aligned_alloc(4096, whole_pages);
    in = aligned_alloc(4096, whole_pages);
    if (!out || !in)
        neutral_fail("memory");
    memset(out, 0, bytes);
    memset(in, 0, bytes);
}

static void measure_within(double budget_s, const timed_call *calls, int count, double cap_s)
{
    uint64_t clock_cost_ns = wall_cost_ns(), start = wall_ns();
    for (int i = 0; i < count; i++) {
        int late = n.rank == 0 && (double)(wall_ns() - start) / 1e9 > budget_s;
        if (neutral_gather(&n, late)[0] == 0)
            measure(&calls[i], cap_s, clock_cost_ns);
        else if (n.rank == 0)
            printf("result {\"op\": \"%s\", \"bytes\": %zu, \"skipped\": \"the %g s of this run were used "
                   "up\"}\n",
                   names[calls[i].collective], calls[i].bytes, budget_s);
    }
}

static void make_communicator(void)
{
    comm = MPI_COMM_WORLD;
    first = n.rank % parts;
    if (parts > 1)
        MPI_Comm_split(MPI_COMM_WORLD, first, n.rank, &comm);
    MPI_Comm_size(comm, &members);
    MPI_Comm_rank(comm, &me);
}

int main(int argc, char **argv)
{
    timed_call calls[MOST_CALLS];
    char default_calls[] = "barrier,allreduce:8,allreduce:32768,reduce:8,reduce:1024,bcast:8,bcast:65536";
    int count = parse_calls(default_calls, calls);
    double cap_s = 0.1, budget_s = 1e9;
    int mpi_separator = 0, limit_s = 0, c;
    static const struct option options[] = {
        {"ops", 1, 0, 'o'},  {"cap", 1, 0, 'c'},   {"budget", 1, 0, 'b'}, {"separator", 1, 0, 's'},
        {"root", 1, 0, 'r'}, {"parts", 1, 0, 'p'}, {"limit", 1, 0, 'l'},  {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'o': count = parse_calls(optarg, calls); break;
        case 'c': cap_s = atof(optarg); break;
        case 'b': budget_s = atof(optarg); break;
        case 's': mpi_separator = strcmp(optarg, "mpi") == 0; break;
        case 'r': root = atoi(optarg); break;
        case 'p': parts = atoi(optarg); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = neutral_open((size_t)(SAMPLES / ranks));
    n.mpi_separator = mpi_separator;
    if (parts < 1 || ranks % parts || root >= ranks / parts) {
        fprintf(stderr, "collectives: %d ranks cannot be dealt out to %d communicators with a rank %d\n",
                ranks, parts, root);
        return 2;
    }
    make_communicator();
    allocate_buffers(calls, count);
    neutral_introduce(&n, "collectives");
    measure_within(budget_s, calls, count, cap_s);
    MPI_Finalize();
    return 0;
}
