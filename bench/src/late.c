/* How long a late rank holds up ranks that need nothing from it. An ordinary MPI program.
 *
 *   late [--delay MS] [--repeat N] [--ops ibarrier,reduce:8,bcast:8] [--limit S]
 *
 * ibarrier: all ranks enter MPI_Ibarrier; then all but rank 0 stay away from MPI for the delay. The time is
 * how long rank 0 is in MPI_Wait.
 *
 * reduce, bcast (root 0): one rank calls later than the others by the delay; several ranks take turns to be
 * the late one. The time is how long a rank that needs nothing from the late rank is in the call: all ranks
 * but the root for reduce, all for bcast.
 *
 * A rank that is done sleeps, so that it takes no core from a rank that is held up. */
#include "neutral.h"
#include <getopt.h>
#include <signal.h>

enum { REPEAT = 64 };

static neutral n;
static double delay_ms = 100;
static double *buffer, *sum;

static void sleep_until(uint64_t ns)
{
    uint64_t now = wall_ns();
    if (now < ns)
        usleep((useconds_t)((ns - now) / 1000));
}

static double ms_since(uint64_t ns) { return (double)(wall_ns() - ns) / 1e6; }

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *op, size_t bytes, double *held, int count, const char *more)
{
    qsort(held, (size_t)count, sizeof *held, compare);
    printf("result {\"op\": \"late_%s\", \"bytes\": %zu, \"cases\": %d, \"best_ms\": %.4f, \"median_ms\": "
           "%.4f, \"worst_ms\": %.4f%s}\n",
           op, bytes, count, held[0], held[count / 2], held[count - 1], more);
    fflush(stdout);
}

static void ibarrier(int repeat)
{
    double held[REPEAT];
    for (int i = 0; i < repeat; i++) {
        MPI_Request request;
        neutral_barrier(&n);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        neutral_barrier(&n); /* all have called it */
        uint64_t start = wall_ns();
        if (n.rank != 0)
            usleep((useconds_t)(delay_ms * 1e3));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        held[i] = ms_since(start);
        sleep_until(start + (uint64_t)(delay_ms * 1.1e6));
    }
    if (n.rank == 0)
        print("ibarrier", 0, held, repeat, "");
}

/* Calls once, rank `late` later than the others, and checks the result. Returns the milliseconds inside the
 * call. */
static double call(int is_reduce, int count, int late, int expected)
{
    buffer[0] = buffer[count - 1] = is_reduce || n.rank == 0 ? expected : -1;
    neutral_barrier(&n);
    uint64_t start = wall_ns();
    if (n.rank == late)
        usleep((useconds_t)(delay_ms * 1e3));
    uint64_t called = wall_ns();
    if (is_reduce)
        MPI_Reduce(buffer, sum, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(buffer, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double in_call = ms_since(called);
    double got = is_reduce && n.rank == 0 ? sum[count - 1] / n.ranks : buffer[count - 1];
    if (got != expected) {
        fprintf(stderr, "wrong answer on rank %d: %g instead of %d\n", n.rank, got, expected);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    sleep_until(start + (uint64_t)(delay_ms * 1.2e6));
    return in_call;
}

/* The next late rank: 1, 2, 4, 8, …, and the last one. */
static int next_late(int late)
{
    if (late * 2 < n.ranks)
        return late * 2;
    return late + 1 < n.ranks ? n.ranks - 1 : n.ranks;
}

static void one_late(int is_reduce, size_t bytes, int repeat)
{
    enum { LATE_RANKS = 10 }; /* at most 256 ranks: powers of two and the last one */
    double held[REPEAT * LATE_RANKS], worst_median = 0;
    int cases = 0, worst_late = 0;
    for (int late = 1; late < n.ranks; late = next_late(late)) {
        double longest[REPEAT];
        for (int i = 0; i < repeat; i++) {
            double in_call = call(is_reduce, (int)(bytes / sizeof(double)), late, i + 1);
            int needs_late_rank = n.rank == late || (is_reduce && n.rank == 0);
            const double *all = neutral_gather(&n, needs_late_rank ? -1 : in_call);
            longest[i] = 0;
            for (int r = 0; r < n.ranks; r++)
                if (all[r] > longest[i])
                    longest[i] = all[r];
            held[cases++] = longest[i];
        }
        qsort(longest, (size_t)repeat, sizeof *longest, compare);
        if (longest[repeat / 2] > worst_median) {
            worst_median = longest[repeat / 2];
            worst_late = late;
        }
    }
    char worst[96];
    snprintf(worst, sizeof worst, ", \"worst_case_ms\": %.4f, \"worst_late\": %d", worst_median, worst_late);
    if (n.rank == 0)
        print(is_reduce ? "reduce" : "bcast", bytes, held, cases, worst);
}

int main(int argc, char **argv)
{
    char default_ops[] = "ibarrier,reduce:8,bcast:8", *ops = default_ops;
    int repeat = 3, limit_s = 0, c;
    static const struct option options[] = {
        {"delay", 1, 0, 'd'}, {"repeat", 1, 0, 'r'}, {"ops", 1, 0, 'o'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'd': delay_ms = atof(optarg); break;
        case 'r': repeat = atoi(optarg); break;
        case 'o': ops = optarg; break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    if (repeat < 1 || repeat > REPEAT)
        return 2;
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    n = neutral_open(0);
    neutral_introduce(&n, "late");
    for (char *word = strtok(ops, ","); word; word = strtok(NULL, ",")) {
        char *colon = strchr(word, ':');
        size_t bytes = colon ? strtoul(colon + 1, NULL, 10) / 8 * 8 : 8;
        if (bytes < 8)
            bytes = 8;
        buffer = calloc(1, bytes);
        sum = calloc(1, bytes);
        if (!buffer || !sum)
            neutral_fail("memory");
        if (strncmp(word, "ibarrier", 8) == 0)
            ibarrier(repeat);
        else
            one_late(strncmp(word, "reduce", 6) == 0, bytes, repeat);
        neutral_barrier(&n);
        free(buffer);
        free(sum);
    }
    MPI_Finalize();
    return 0;
}
