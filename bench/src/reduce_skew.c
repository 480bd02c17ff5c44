/* What a reduction costs in processor time when the ranks come at different times: the benchmark of Wagner,
 * Buntinas, Panda and Brightwell, "Application-bypass reduction for large-scale clusters" (IEEE Cluster
 * 2003). An ordinary MPI program.
 *
 *   reduce_skew [--skew US[,US…]] [--latency US] [--iterations N] [--cap S[,S…]] [--separator neutral|mpi]
 * [--seed N] [--limit S]
 *
 * Iterations are separated by barriers. In each: start the processor clock; a random delay in [0, skew];
 * MPI_Reduce of four doubles to rank 0; a catch-up delay of skew + a conservative latency of the reduction;
 * stop. Delays are loops by count, converted from microseconds on every rank for itself, so that time stolen
 * from the rank shows. What the delays cost is taken from control windows of the same rank between the
 * others: the same two delays without the reduction. The catch-up delay is there so that work which is done
 * for others after the call has returned is charged to the call. */
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

typedef struct window {
    double thread_us, process_us;
} window;

static window timed(uint64_t delay, uint64_t catch_up, const double *mine, double *sum)
{
    uint64_t process = process_cpu_ns(), thread = thread_cpu_ns();
    busy(delay);
    if (sum)
        MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    busy(catch_up);
    window w;
    w.thread_us = (double)(thread_cpu_ns() - thread) / 1e3;
    w.process_us = (double)(process_cpu_ns() - process) / 1e3;
    return w;
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

static void measure(neutral *n, double skew_us, double latency_us, long iterations, double cap_s,
                    uint64_t seed)
{
    double per_us = busy_per_us();
    uint64_t state = seed * 1000003 + (uint64_t)n->rank * 7919 + (uint64_t)skew_us;
    uint64_t span = (uint64_t)(skew_us * per_us), catch_up = (uint64_t)((skew_us + latency_us) * per_us);
    double mine[COUNT], sum[COUNT], thread = 0, process = 0, squares = 0;
    long done = 0;
    neutral_begin(n, cap_s);
    uint64_t start = wall_ns();
    for (long more; (more = neutral_next(n, done)) > 0;) {
        for (long end = done + more; done < end && done < iterations; done++) {
            uint64_t delay = span ? next_random(&state) % (span + 1) : 0;
            for (int i = 0; i < COUNT; i++)
                mine[i] = (double)(done + n->rank + i);
            window with = {0, 0}, without = {0, 0};
            for (int half = 0; half < 2; half++) { /* the control comes first every other time */
                neutral_separate(n);
                if (half == (int)(done & 1))
                    with = timed(delay, catch_up, mine, sum);
                else
                    without = timed(delay, catch_up, mine, NULL);
            }
            double cost = with.thread_us - without.thread_us;
            thread += cost;
            squares += cost * cost;
            process += with.process_us - without.process_us;
            double ranks = n->ranks;
            if (n->rank == 0 && sum[3] != ranks * (double)(done + 3) + ranks * (ranks - 1) / 2) {
                fprintf(stderr, "wrong answer: %g\n", sum[3]);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        }
        if (done >= iterations)
            n->cap_ns = 0;
    }
    double each_us = (double)(wall_ns() - start) / 1e3 / (double)done;
    double variance = squares / (double)done - thread / (double)done * (thread / (double)done);
    const double *all = neutral_gather(n, variance / (double)done);
    double error = sqrt(mean(all, n->ranks) / n->ranks);
    const double *threads = neutral_gather(n, thread / (double)done);
    const double *processes = neutral_gather_second(n, process / (double)done);
    if (n->rank == 0) {
        printf("result {\"op\": \"reduce_skew\", \"bytes\": %d, \"skew_us\": %g, \"latency_us\": %g, "
               "\"iterations\": %ld, "
               "\"mean_us\": %.4f, \"error_us\": %.4f, \"process_mean_us\": %.4f, \"root_us\": %.4f, "
               "\"wall_us\": %.2f",
               COUNT * 8, skew_us, latency_us, done, mean(threads, n->ranks), error,
               mean(processes, n->ranks), threads[0], each_us);
        print_array("thread_us", threads, n->ranks);
        print_array("process_us", processes, n->ranks);
        printf("}\n");
        fflush(stdout);
    }
    neutral_cross(n);
}

int main(int argc, char **argv)
{
    char standard[] = "0,1000", *skews = standard;
    double latency_us = 500;
    const char *caps = "3";
    long iterations = 10000;
    uint64_t seed = 1;
    int mpi_separator = 0, limit_s = 0, c;
    static const struct option options[] = {
        {"skew", 1, 0, 'k'},      {"latency", 1, 0, 'y'}, {"iterations", 1, 0, 'i'}, {"cap", 1, 0, 'c'},
        {"separator", 1, 0, 's'}, {"seed", 1, 0, 'e'},    {"limit", 1, 0, 'l'},      {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'k': skews = optarg; break;
        case 'y': latency_us = atof(optarg); break;
        case 'i': iterations = atol(optarg); break;
        case 'c': caps = optarg; break;
        case 's': mpi_separator = strcmp(optarg, "mpi") == 0; break;
        case 'e': seed = strtoull(optarg, NULL, 10); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    neutral n = neutral_open(0);
    n.stride = (size_t)iterations;
    n.mpi_separator = mpi_separator;
    neutral_introduce(&n, "reduce_skew");
    for (char *word = strtok(skews, ","); word; word = strtok(NULL, ",")) {
        measure(&n, atof(word), latency_us, iterations, atof(caps), seed);
        char *next = strchr(caps, ',');
        if (next)
            caps = next + 1;
    }
    MPI_Finalize();
    return 0;
}
