/* How long each rank is inside a collective call. An ordinary MPI program.
 *
 *   collectives [--ops barrier,allreduce:8,…] [--cap S] [--budget S] [--separator neutral|mpi] [--root R]
 * [--limit S]
 *
 * Every timed call follows a separating barrier (neutral.h); a barrier itself is called back to back, first
 * without looking at the clock (mean), then with (median, p99, completion). Calls are repeated until `cap`
 * seconds are spent on each operation; an operation that would start after `budget` seconds is left out and
 * says so. Every result is checked. Times are microseconds, the cost of reading the clock taken off. */
#include "neutral.h"
#include "numbers.h"
#include <getopt.h>
#include <signal.h>

enum { MAX_OPS = 64, SAMPLES = 200000 };

typedef enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    SCAN,
    KINDS
} kind;
static const char *const names[KINDS] = {"barrier", "bcast",     "reduce",   "allreduce", "gather",
                                         "scatter", "allgather", "alltoall", "scan"};

typedef struct op {
    kind kind;
    size_t bytes;
} op;

static neutral n;
static int root;
static double *out, *in; /* `ranks` blocks each */

static void wrong(const op *o, double got, double wanted)
{
    fprintf(stderr, "wrong answer: %s %zu B, rank %d: %g instead of %g\n", names[o->kind], o->bytes, n.rank,
            got, wanted);
    MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

static void expect(const op *o, double got, double wanted)
{
    if (got != wanted)
        wrong(o, got, wanted);
}

/* The first and the last element of every block carry the iteration, so that an old answer is seen. */
static void prepare(const op *o, long i)
{
    size_t count = o->bytes / sizeof(double);
    if (!count)
        return;
    double stamp = (double)(i % 1000 + 1);
    int blocks = o->kind == SCATTER || o->kind == ALLTOALL ? n.ranks : 1;
    for (int b = 0; b < blocks; b++) {
        out[(size_t)b * count] = stamp + n.rank;
        out[(size_t)(b + 1) * count - 1] = stamp + n.rank;
    }
    if (o->kind == BCAST && n.rank != root)
        out[0] = out[count - 1] = -1;
    in[0] = -1;
}

static void call(const op *o)
{
    int count = (int)(o->bytes / sizeof(double));
    switch (o->kind) {
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case BCAST: MPI_Bcast(out, count, MPI_DOUBLE, root, MPI_COMM_WORLD); break;
    case REDUCE: MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); break;
    case ALLREDUCE: MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case GATHER: MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, MPI_COMM_WORLD); break;
    case SCATTER: MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, MPI_COMM_WORLD); break;
    case ALLGATHER: MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD); break;
    case ALLTOALL: MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD); break;
    case SCAN: MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case KINDS: break;
    }
}

static void check(const op *o, long i)
{
    size_t count = o->bytes / sizeof(double);
    if (!count)
        return;
    double stamp = (double)(i % 1000 + 1), ranks = n.ranks, before = n.rank + 1;
    double sum = ranks * stamp + ranks * (ranks - 1) / 2;
    double partial = before * stamp + before * (before - 1) / 2;
    switch (o->kind) {
    case BCAST:
        expect(o, out[0], stamp + root);
        expect(o, out[count - 1], stamp + root);
        break;
    case REDUCE:
        if (n.rank != root)
            break;
        /* fall through */
    case ALLREDUCE:
        expect(o, in[0], sum);
        expect(o, in[count - 1], sum);
        break;
    case SCAN:
        expect(o, in[0], partial);
        expect(o, in[count - 1], partial);
        break;
    case SCATTER:
        expect(o, in[0], stamp + root);
        expect(o, in[count - 1], stamp + root);
        break;
    case GATHER:
        if (n.rank != root)
            break;
        /* fall through */
    case ALLGATHER:
    case ALLTOALL:
        for (int r = 0; r < n.ranks; r++)
            expect(o, in[(size_t)(r + 1) * count - 1], stamp + r);
        break;
    case BARRIER:
    case KINDS: break;
    }
}

/* Barriers back to back without a clock between them: microseconds each, mean over the ranks. */
static double back_to_back(double cap_s, long *iterations)
{
    uint64_t mine = 0;
    long done = 0;
    neutral_begin(&n, cap_s);
    for (long more; (more = neutral_next(&n, done)) > 0; done += more) {
        neutral_cross(&n);
        uint64_t start = wall_ns();
        for (long i = 0; i < more; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        mine += wall_ns() - start;
    }
    const double *all = neutral_gather(&n, (double)mine / 1e3 / (double)done);
    double sum = 0;
    for (int r = 0; r < n.ranks; r++)
        sum += all[r];
    *iterations = done;
    return sum / n.ranks;
}

static void measure(const op *o, double cap_s, uint64_t clock_cost_ns)
{
    double barrier_mean = 0;
    long untimed = 0;
    if (o->kind == BARRIER)
        barrier_mean = back_to_back(cap_s / 2, &untimed);
    float *mine = neutral_mine(&n);
    double cpu_us = 0;
    long done = 0;
    if (o->kind == BARRIER)
        cap_s /= 2;
    for (int warm = 1; warm >= 0; warm--) { /* a tenth of the time to warm up, thrown away */
        uint64_t cpu = process_cpu_ns();
        done = 0;
        neutral_begin(&n, warm ? cap_s / 10 : cap_s);
        for (long more; (more = neutral_next(&n, done)) > 0;) {
            for (long end = done + more; done < end; done++) {
                prepare(o, done);
                if (o->kind != BARRIER)
                    neutral_separate(&n);
                uint64_t start = wall_ns();
                call(o);
                uint64_t took = wall_ns() - start;
                mine[done] = took > clock_cost_ns ? (float)(took - clock_cost_ns) / 1e3f : 0;
                check(o, done);
            }
        }
        cpu_us = (double)(process_cpu_ns() - cpu) / 1e3 / (double)done;
    }
    const double *cpus = neutral_gather(&n, cpu_us);
    double cpu_sum = 0;
    for (int r = 0; r < n.ranks; r++)
        cpu_sum += cpus[r];
    if (n.rank == 0) {
        numbers t = numbers_of(n.samples, n.stride, (size_t)n.ranks, (size_t)done);
        printf("result {\"op\": \"%s\", \"bytes\": %zu, \"iterations\": %ld, \"mean_us\": %.4f, "
               "\"median_us\": %.4f, "
               "\"p99_us\": %.4f, \"completion_us\": %.4f, \"cpu_us\": %.3f}\n",
               names[o->kind], o->bytes, o->kind == BARRIER ? untimed : done,
               o->kind == BARRIER ? barrier_mean : t.mean, t.median, t.p99, t.completion, cpu_sum);
        fflush(stdout);
    }
    neutral_cross(&n);
}

static int parse_ops(char *text, op *ops)
{
    int count = 0;
    for (char *word = strtok(text, ","); word && count < MAX_OPS; word = strtok(NULL, ",")) {
        char *colon = strchr(word, ':');
        if (colon)
            *colon = 0;
        int k = 0;
        while (k < KINDS && strcmp(names[k], word) != 0)
            k++;
        size_t bytes = colon ? strtoul(colon + 1, NULL, 10) : 0;
        if (k == KINDS || bytes % sizeof(double) || (k != BARRIER && !bytes)) {
            fprintf(stderr, "collectives: no such operation: %s (or not a positive multiple of 8 bytes)\n",
                    word);
            exit(2);
        }
        ops[count++] = (op){(kind)k, k == BARRIER ? 0 : bytes};
    }
    return count;
}

int main(int argc, char **argv)
{
    op ops[MAX_OPS];
    char standard[] = "barrier,allreduce:8,allreduce:32768,reduce:8,reduce:1024,bcast:8,bcast:65536";
    int count = parse_ops(standard, ops);
    double cap_s = 0.1, budget_s = 1e9;
    int mpi_separator = 0, limit_s = 0, c;
    static const struct option options[] = {
        {"ops", 1, 0, 'o'},  {"cap", 1, 0, 'c'},   {"budget", 1, 0, 'b'}, {"separator", 1, 0, 's'},
        {"root", 1, 0, 'r'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'o': count = parse_ops(optarg, ops); break;
        case 'c': cap_s = atof(optarg); break;
        case 'b': budget_s = atof(optarg); break;
        case 's': mpi_separator = strcmp(optarg, "mpi") == 0; break;
        case 'r': root = atoi(optarg); break;
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
    size_t largest = 8;
    for (int i = 0; i < count; i++)
        if (ops[i].bytes > largest)
            largest = ops[i].bytes;
    out = aligned_alloc(4096, (largest * (size_t)ranks + 4095) / 4096 * 4096);
    in = aligned_alloc(4096, (largest * (size_t)ranks + 4095) / 4096 * 4096);
    if (!out || !in)
        neutral_die("memory");
    memset(out, 0, largest * (size_t)ranks);
    memset(in, 0, largest * (size_t)ranks);
    neutral_introduce(&n, "collectives");
    uint64_t clock_cost_ns = wall_cost_ns();
    uint64_t start = wall_ns();
    for (int i = 0; i < count; i++) {
        int late = n.rank == 0 && (double)(wall_ns() - start) / 1e9 > budget_s;
        if (neutral_gather(&n, late)[0] != 0) {
            if (n.rank == 0)
                printf("result {\"op\": \"%s\", \"bytes\": %zu, \"skipped\": \"the %g s of this run were "
                       "used up\"}\n",
                       names[ops[i].kind], ops[i].bytes, budget_s);
            continue;
        }
        measure(&ops[i], cap_s, clock_cost_ns);
    }
    MPI_Finalize();
    return 0;
}
