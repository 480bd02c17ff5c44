/* How much processor time a reduction costs if the ranks arrive at different times: the benchmark of Wagner,
 * Buntinas, Panda and Brightwell, "Application-bypass reduction for large-scale clusters" (IEEE Cluster
 * 2003). An ordinary MPI program.
 *
 *   reduce_skew [--skew US[,US…]] [--latency US] [--iterations N] [--cap S[,S…]]
 *               [--separator neutral|mpi] [--seed N] [--limit S]
 *
 * Barriers separate the iterations. In each iteration a rank starts the processor clock, delays for a random
 * time in [0, skew], calls MPI_Reduce with four doubles and root 0, delays for skew + a conservative latency
 * of the reduction to let the others catch up, and stops the clock. The catch-up delay is there so that work
 * done for other ranks after the call has returned is charged to the call.
 *
 * Delays are loops of a given number of iterations, which every rank converts from microseconds itself: if
 * the rank loses its core meanwhile, it shows. The cost of the delays is measured in control windows of the
 * same rank, before or after each reduction: the same two delays without the reduction. */
#include "neutral.h"
#include <getopt.h>
#include <math.h>
#include <signal.h>

enum { COUNT = 4 };

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Processor time between two readings. */
typedef struct cpu_time {
    double thread_us, process_us;
} cpu_time;

/* Both delays with a reduction between them, or without it if `sum` is NULL. */
static cpu_time timed(uint64_t delay, uint64_t catch_up, const double *mine, double *sum)
{
    uint64_t process = process_cpu_ns(), thread = thread_cpu_ns();
    busy(delay);
    if (sum)
        MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    busy(catch_up);
    cpu_time t;
    t.thread_us = (double)(thread_cpu_ns() - thread) / 1e3;
    t.process_us = (double)(process_cpu_ns() - process) / 1e3;
    return t;
}

static void print_array(const char *name, const double *v, int n)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        printf("%s%.3f", i ? ", " : "", v[i]);
    printf("]");
}

static double mean(const double *v, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s / n;
}

typedef struct settings {
    double latency_us;
    long iterations;
    uint64_t seed;
} settings;

/* Sums over the iterations of one rank. */
typedef struct totals {
    double thread_us, thread_us_squared, process_us;
    long iterations;
} totals;

/* One iteration: a reduction and its control, in an order that changes every time. */
static void iterate(neutral *n, totals *t, uint64_t delay, uint64_t catch_up)
{
    double mine[COUNT], sum[COUNT];
    long i = t->iterations;
    for (int k = 0; k < COUNT; k++)
        mine[k] = (double)(i + n->rank + k);
    cpu_time with = {0, 0}, without = {0, 0};
    for (int window = 0; window < 2; window++) {
        neutral_separate(n);
        if (window == (int)(i & 1))
            with = timed(delay, catch_up, mine, sum);
        else
            without = timed(delay, catch_up, mine, NULL);
    }
    double cost = with.thread_us - without.thread_us, ranks = n->ranks;
    t->thread_us += cost;
    t->thread_us_squared += cost * cost;
    t->process_us += with.process_us - without.process_us;
    t->iterations++;
    if (n->rank == 0 && sum[3] != ranks * (double)(i + 3) + ranks * (ranks - 1) / 2) {
        fprintf(stderr, "wrong answer: %g\n", sum[3]);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void report(neutral *n, const settings *s, double skew_us, const totals *t, double wall_us)
{
    double done = (double)t->iterations, average = t->thread_us / done,
           variance = t->thread_us_squared / done - average * average;
    const double *all = neutral_gather(n, variance / done);
    double error = sqrt(mean(all, n->ranks) / n->ranks);
    const double *threads = neutral_gather(n, average);
    const double *processes = neutral_gather_second(n, t->process_us / done);
    if (n->rank == 0) {
        printf("result {\"op\": \"reduce_skew\", \"bytes\": %d, \"skew_us\": %g, \"latency_us\": %g, "
               "\"iterations\": %ld, \"mean_us\": %.4f, \"error_us\": %.4f, \"process_mean_us\": %.4f, "
               "\"root_us\": %.4f, \"wall_us\": %.2f",
               COUNT * 8, skew_us, s->latency_us, t->iterations, mean(threads, n->ranks), error,
               mean(processes, n->ranks), threads[0], wall_us);
        print_array("thread_us", threads, n->ranks);
        print_array("process_us", processes, n->ranks);
        printf("}\n");
        fflush(stdout);
    }
    neutral_barrier(n);
}

static void measure(neutral *n, const settings *s, double skew_us, double cap_s)
{
    double per_us = busy_per_us();
    uint64_t state = s->seed * 1000003 + (uint64_t)n->rank * 7919 + (uint64_t)skew_us;
    uint64_t span = (uint64_t)(skew_us * per_us), catch_up = (uint64_t)((skew_us + s->latency_us) * per_us);
    totals t = {0};
    neutral_begin(n, cap_s);
    uint64_t start = wall_ns();
    for (long more; (more = neutral_next(n, t.iterations)) > 0;) {
        for (long end = t.iterations + more; t.iterations < end && t.iterations < s->iterations;)
            iterate(n, &t, span ? next_random(&state) % (span + 1) : 0, catch_up);
        if (t.iterations >= s->iterations)
            n->cap_ns = 0;
    }
    report(n, s, skew_us, &t, (double)(wall_ns() - start) / 1e3 / (double)t.iterations);
}

int main(int argc, char **argv)
{
    char default_skews[] = "0,1000", *skews = default_skews;
    const char *caps = "3";
    settings s = {.latency_us = 500, .iterations = 10000, .seed = 1};
    int mpi_separator = 0, limit_s = 0, c;
    static const struct option options[] = {
        {"skew", 1, 0, 'k'},      {"latency", 1, 0, 'y'}, {"iterations", 1, 0, 'i'}, {"cap", 1, 0, 'c'},
        {"separator", 1, 0, 's'}, {"seed", 1, 0, 'e'},    {"limit", 1, 0, 'l'},      {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'k': skews = optarg; break;
        case 'y': s.latency_us = atof(optarg); break;
        case 'i': s.iterations = atol(optarg); break;
        case 'c': caps = optarg; break;
        case 's': mpi_separator = strcmp(optarg, "mpi") == 0; break;
        case 'e': s.seed = strtoull(optarg, NULL, 10); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    neutral n = neutral_open(0);
    n.stride = (size_t)s.iterations;
    n.mpi_separator = mpi_separator;
    neutral_introduce(&n, "reduce_skew");
    for (char *word = strtok(skews, ","); word; word = strtok(NULL, ",")) {
        measure(&n, &s, atof(word), atof(caps));
        char *next = strchr(caps, ',');
        if (next)
            caps = next + 1;
    }
    MPI_Finalize();
    return 0;
}
