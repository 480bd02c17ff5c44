/* The barrier microbenchmark (Pakin 2001, sections 3.1 and 5.2): `count` times {barrier, compute}. It prints
 * the distribution of the times of the barriers, the fraction of slow ones, and the efficiency: the time that
 * the same barriers and the same computation would take on ranks that always respond, divided by the time
 * that they took.
 *
 * The computation steps a linear congruential generator, whose final number can be computed directly. The
 * barriers themselves are checked afterwards: what one rank sends after a barrier must not reach a rank that
 * has not entered that barrier yet. */
#include "app.h"
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

static parameter parameters[] = {
    {"mode", "barrier", "barrier|compute|loop",
     "barrier: each barrier is timed; loop: only the whole loop is; compute: the loop without barriers", 0},
    {"count", "10000", "N", "barriers", 0},
    {"spin", "1000", "N", "iterations of computation after each barrier, about 1.5 ns each", 0},
    {"random", "no", "no|yes", "yes: a random number of iterations, from 0 to twice as many", 0},
    {"seed", "1", "N", "of the random numbers of iterations", 0},
    {"slow_us", "15", "N", "a barrier is slow if it takes longer than this times lg(ranks)", 0},
    {"ideal_us", "9", "N", "for the efficiency: time of a barrier of responsive ranks, divided by lg(ranks)",
     0},
    {"check", "20", "N", "rounds of the check of the barriers afterwards", 0},
    {"through", "messages", "messages|file", "how the check communicates; file: `file` must be set", 0},
    {"file", "", "FILE", "a file that all ranks can write, for through=file", 0},
    {"log", "", "FILE", "write each barrier's nanoseconds to FILE.RANK", 0},
    {0}};

static app self = {"barrier", "Times barriers between computations.", parameters, 0, 0};

static const uint64_t MULTIPLIER = 6364136223846793005u, INCREMENT = 1442695040888963407u;

static inline uint64_t compute(uint64_t x, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        x = x * MULTIPLIER + INCREMENT;
        __asm__ volatile("" : "+r"(x)); /* the compiler must not merge iterations */
    }
    return x;
}

/* The number after so many iterations, by repeated squaring. */
static uint64_t jump(uint64_t x, uint64_t iterations)
{
    uint64_t a = MULTIPLIER, c = INCREMENT;
    for (; iterations; iterations >>= 1) {
        if (iterations & 1)
            x = a * x + c;
        c = (a + 1) * c;
        a = a * a;
    }
    return x;
}

/* Nanoseconds of an iteration when nothing disturbs it: the fastest of many short tries. */
static double ns_per_iteration(void)
{
    const uint64_t iterations = 20000;
    uint64_t best = UINT64_MAX;
    volatile uint64_t sink = 1;
    for (int i = 0; i < 50; i++) {
        uint64_t from = now_ns();
        sink = compute(sink, iterations);
        uint64_t took = now_ns() - from;
        best = took < best ? took : best;
    }
    return (double)best / (double)iterations;
}

/* The other ranks send to rank 0 after a barrier. While rank 0 has not entered it, no message may arrive. */
static long check_by_messages(long rounds)
{
    long wrong = 0;
    for (long k = 0; k < rounds; k++) {
        if (self.rank == 0) {
            for (int probe = 0; probe < 20; probe++) {
                int arrived;
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
                wrong += arrived;
                usleep(10);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            for (int from = 1; from < self.ranks; from++) {
                long got;
                MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                wrong += got != k;
            }
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Send(&k, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        }
    }
    return wrong;
}

/* The same through a channel that MPI does not see: the ranks take turns to write, all read after a barrier.
 */
static long check_by_file(long rounds, const char *path)
{
    long wrong = 0;
    for (long k = 0; k < rounds; k++) {
        if (self.rank == k % self.ranks) {
            usleep(200);
            FILE *f = fopen(path, "w");
            if (!f || fprintf(f, "%ld\n", k) < 0 || fclose(f) != 0)
                wrong++;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        long got = -1;
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%ld", &got) != 1 || got != k)
            wrong++;
        if (f)
            fclose(f);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return wrong;
}

static void write_log(const char *path, const uint64_t *ns, long count)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, self.rank);
    FILE *f = fopen(name, "w");
    for (long i = 0; f && i < count; i++)
        fprintf(f, "%llu\n", (unsigned long long)ns[i]);
    if (!f || fclose(f) != 0)
        fprintf(stderr, "barrier: cannot write %s\n", name);
}

typedef struct settings {
    long count, spin;
    int with_barriers, timed, random;
    uint64_t seed;
    double lg; /* logarithm of the number of ranks, 1 for one rank */
} settings;

static settings read_settings(void)
{
    return (settings){
        .count = app_size(&self, "count", 1),
        .spin = app_size(&self, "spin", 0),
        .with_barriers = !app_is(&self, "mode", "compute"),
        .timed = app_is(&self, "mode", "barrier"),
        .random = app_is(&self, "random", "yes"),
        .seed = (uint64_t)app_long(&self, "seed") * 1000003u + (uint64_t)self.rank,
        .lg = self.ranks > 1 ? log2(self.ranks) : 1,
    };
}

/* What one rank measured. */
typedef struct measurement {
    uint64_t *barrier_ns;   /* of each barrier, if each is timed */
    uint64_t x, iterations; /* where the computation arrived, and after how many iterations */
    double seconds, context_switches;
} measurement;

static double context_switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static measurement measure(const settings *s)
{
    measurement m = {.x = (uint64_t)self.rank};
    m.barrier_ns = allocate(s->timed ? (size_t)s->count : 0, sizeof *m.barrier_ns);
    for (long i = 0; s->timed && i < s->count; i++)
        m.barrier_ns[i] = 1; /* touches the pages now, so that no page fault falls into a barrier */
    double switches_before = context_switches();
    uint64_t start = start_together_ns();
    for (long i = 0; i < s->count; i++) {
        if (s->timed) {
            uint64_t from = now_ns();
            MPI_Barrier(MPI_COMM_WORLD);
            m.barrier_ns[i] = now_ns() - from;
        } else if (s->with_barriers)
            MPI_Barrier(MPI_COMM_WORLD);
        uint64_t d =
            s->random ? random_at(s->seed, (uint64_t)i) % (2 * (uint64_t)s->spin + 1) : (uint64_t)s->spin;
        m.iterations += d;
        m.x = compute(m.x, d);
    }
    m.seconds = (double)(now_ns() - start) / 1e9;
    m.context_switches = context_switches() - switches_before;
    return m;
}

/* Whether the computation and the barriers of this rank were right. */
static int check(const measurement *m)
{
    int right = m->x == jump((uint64_t)self.rank, m->iterations);
    if (!right)
        fprintf(stderr, "barrier: rank %d: the computation arrived at the wrong number\n", self.rank);
    long rounds = app_long(&self, "check");
    long wrong = app_is(&self, "through", "file") ? check_by_file(rounds, app_text(&self, "file"))
                                                  : check_by_messages(rounds);
    if (wrong)
        fprintf(stderr, "barrier: rank %d: saw %ld times too early what was sent after a barrier\n",
                self.rank, wrong);
    return right && !wrong;
}

/* Prints the RESULT line and returns the exit code. */
static int finish(const settings *s, const measurement *m, double compute_s, int right)
{
    double slow_ns = app_double(&self, "slow_us") * s->lg * 1e3;
    histogram mine = {{0}}, all = {{0}};
    double sums[4] = {0, 0, compute_s, m->context_switches}, total[4] = {0};
    for (long i = 0; s->timed && i < s->count; i++) {
        histogram_add(&mine, m->barrier_ns[i]);
        sums[0] += (double)m->barrier_ns[i];
        sums[1] += (double)m->barrier_ns[i] > slow_ns;
    }
    MPI_Reduce(mine.count, all.count, BINS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(sums, total, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double barriers = s->with_barriers ? (double)s->count : 0;
    double ideal = total[2] / self.ranks +
                   barriers * app_double(&self, "ideal_us") * 1e-6 * (self.ranks > 1 ? s->lg : 0);
    if (self.rank == 0 && s->timed)
        histogram_print(&all, "barrier");
    char times[128] = "";
    if (s->timed)
        snprintf(times, sizeof times, " barrier_us=%.3f slow=%.6f",
                 total[0] / self.ranks / (double)s->count / 1e3, total[1] / self.ranks / (double)s->count);
    return app_finish(&self, right, m->seconds,
                      "mode=%s count=%ld spin=%ld random=%s%s compute_s=%.6f efficiency=%.4f switches=%.0f",
                      app_text(&self, "mode"), s->count, s->spin, app_text(&self, "random"), times,
                      total[2] / self.ranks, ideal / m->seconds, total[3]);
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    settings s = read_settings();
    double iteration_ns = ns_per_iteration();
    measurement m = measure(&s);
    int right = check(&m);
    if (s.timed && *app_text(&self, "log"))
        write_log(app_text(&self, "log"), m.barrier_ns, s.count);
    int code = finish(&s, &m, (double)m.iterations * iteration_ns / 1e9, right);
    free(m.barrier_ns);
    return code;
}
