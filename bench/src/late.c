/* Who is held by a rank that is late, though it does not need it. An ordinary MPI program.
 *
 *   late [--delay MS] [--repeat N] [--ops ibarrier,reduce:8,bcast:8] [--limit S]
 *
 * ibarrier: all ranks are inside MPI_Ibarrier; then all but rank 0 stay away from MPI for the delay. When
 * does rank 0 leave MPI_Wait? reduce, bcast (root 0): one rank comes late by the delay, each of several ranks
 * in turn. How long is each caller in the call that needs nothing from the late one (reduce: all but the
 * root; bcast: all)? Whoever is done sleeps, so that it takes no core from those that are held. */
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

static void print(const char *op, size_t bytes, double *held, int count, const char *per)
{
    qsort(held, (size_t)count, sizeof *held, compare);
    printf("result {\"op\": \"late_%s\", \"bytes\": %zu, \"cases\": %d, \"best_ms\": %.4f, \"median_ms\": "
           "%.4f, \"worst_ms\": %.4f%s}\n",
           op, bytes, count, held[0], held[count / 2], held[count - 1], per);
    fflush(stdout);
}

static void ibarrier(int repeat)
{
    double held[REPEAT];
    for (int i = 0; i < repeat; i++) {
        MPI_Request request;
        neutral_cross(&n);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        neutral_cross(&n); /* all are inside */
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

static void one_late(int is_reduce, size_t bytes, int repeat)
{
    double held[REPEAT * 8], worst_median = 0;
    int cases = 0, worst_late = 0;
    int count = (int)(bytes / sizeof(double));
    for (int late = 1; late < n.ranks; late = late * 2 < n.ranks   ? late * 2
                                              : late + 1 < n.ranks ? n.ranks - 1
                                                                   : n.ranks) {
        double of_this[REPEAT];
        for (int i = 0; i < repeat; i++) {
            buffer[0] = buffer[count - 1] = is_reduce || n.rank == 0 ? i + 1 : -1;
            neutral_cross(&n);
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
            if (got != i + 1) {
                fprintf(stderr, "wrong answer on rank %d: %g instead of %d\n", n.rank, got, i + 1);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
            sleep_until(start + (uint64_t)(delay_ms * 1.2e6));
            int owed = n.rank == late || (is_reduce && n.rank == 0);
            const double *all = neutral_gather(&n, owed ? -1 : in_call);
            double longest = 0;
            for (int r = 0; r < n.ranks; r++)
                if (all[r] > longest)
                    longest = all[r];
            of_this[i] = longest;
            held[cases++] = longest;
        }
        qsort(of_this, (size_t)repeat, sizeof *of_this, compare);
        if (of_this[repeat / 2] > worst_median) {
            worst_median = of_this[repeat / 2];
            worst_late = late;
        }
    }
    char per[96];
    snprintf(per, sizeof per, ", \"worst_case_ms\": %.4f, \"worst_late\": %d", worst_median, worst_late);
    if (n.rank == 0)
        print(is_reduce ? "reduce" : "bcast", bytes, held, cases, per);
}

int main(int argc, char **argv)
{
    char standard[] = "ibarrier,reduce:8,bcast:8", *ops = standard;
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
            neutral_die("memory");
        if (strncmp(word, "ibarrier", 8) == 0)
            ibarrier(repeat);
        else
            one_late(strncmp(word, "reduce", 6) == 0, bytes, repeat);
        neutral_cross(&n);
        free(buffer);
        free(sum);
    }
    MPI_Finalize();
    return 0;
}
