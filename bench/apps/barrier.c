/* The barrier microbenchmark (Pakin 2001, sections 3.1 and 5.2): count times {barrier, compute}. Prints how
 * the times of the barriers are distributed, the fraction of slow ones, and the efficiency: what the same
 * barriers and the same computation would take on ranks that always respond, over what they took.
 *
 * The computation is a linear congruential generator; where it must arrive is known without going there. Then
 * the barriers themselves are checked: what is sent after a barrier must not reach whoever has not entered
 * it. */
#include "app.h"
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

static parameter parameters[] = {
    {"mode", "barrier", "barrier|compute|loop",
     "barrier: each one is timed; loop: only all of it is; compute: the same without barriers", 0},
    {"count", "10000", "N", "barriers", 0},
    {"spin", "1000", "N", "turns of computation after each barrier, about 1.5 ns each", 0},
    {"random", "no", "no|yes", "yes: a random number of turns, from 0 to twice as many", 0},
    {"seed", "1", "N", "of the random numbers of turns", 0},
    {"slow_us", "15", "N", "a barrier is slow if it takes longer than this times lg(ranks)", 0},
    {"ideal_us", "9", "N",
     "what a barrier would take on responsive ranks, for the efficiency, over lg(ranks)", 0},
    {"check", "20", "N", "rounds that check barriers afterwards", 0},
    {"through", "messages", "messages|file", "what the check looks at; with file, `file` must be set", 0},
    {"file", "", "FILE", "a file that all ranks can write, for through=file", 0},
    {"log", "", "FILE", "write each barrier's nanoseconds to FILE.RANK", 0},
    {0}};

static app self = {"barrier", "Times barriers between computations.", parameters, 0, 0};

static const uint64_t MULTIPLIER = 6364136223846793005u, INCREMENT = 1442695040888963407u;

static inline uint64_t compute(uint64_t x, uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        x = x * MULTIPLIER + INCREMENT;
        __asm__ volatile("" : "+r"(x)); /* several turns must not become one */
    }
    return x;
}

/* Where `turns` turns lead, by repeated squaring. */
static uint64_t jump(uint64_t x, uint64_t turns)
{
    uint64_t a = MULTIPLIER, c = INCREMENT;
    for (; turns; turns >>= 1) {
        if (turns & 1)
            x = a * x + c;
        c = (a + 1) * c;
        a = a * a;
    }
    return x;
}

/* Nanoseconds a turn takes when nothing disturbs: the fastest of many short tries. */
static double ns_per_turn(void)
{
    const uint64_t turns = 20000;
    uint64_t best = UINT64_MAX;
    volatile uint64_t sink = 1;
    for (int i = 0; i < 50; i++) {
        uint64_t from = now_ns();
        sink = compute(sink, turns);
        uint64_t took = now_ns() - from;
        best = took < best ? took : best;
    }
    return (double)best / (double)turns;
}

/* Nobody may hear from the others' side of a barrier that rank 0 has not entered. */
static long check_by_messages(long rounds)
{
    long wrong = 0;
    for (long k = 0; k < rounds; k++) {
        if (self.rank == 0) {
            for (int look = 0; look < 20; look++) {
                int there;
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
                wrong += there;
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

/* The same through a channel that MPI does not see: one rank in turn writes, all read after a barrier. */
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

static void write_log(const char *path, const uint64_t *took, long count)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, self.rank);
    FILE *f = fopen(name, "w");
    for (long i = 0; f && i < count; i++)
        fprintf(f, "%llu\n", (unsigned long long)took[i]);
    if (!f || fclose(f) != 0)
        fprintf(stderr, "barrier: cannot write %s\n", name);
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long count = app_size(&self, "count", 1), spin = app_size(&self, "spin", 0);
    int with_barriers = !app_says(&self, "mode", "compute"), timed = app_says(&self, "mode", "barrier");
    int random = app_says(&self, "random", "yes");
    uint64_t seed = (uint64_t)app_long(&self, "seed") * 1000003u + (uint64_t)self.rank;
    double lg = self.ranks > 1 ? log2(self.ranks) : 1;
    double slow_ns = app_double(&self, "slow_us") * lg * 1e3;
    uint64_t *took = room(timed ? (size_t)count : 0, sizeof *took);
    for (long i = 0; timed && i < count; i++)
        took[i] = 1; /* touched now, so that no page fault falls into a barrier */

    double turn_ns = ns_per_turn();
    uint64_t x = (uint64_t)self.rank, turns = 0;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uint64_t start = all_begin_ns();
    for (long i = 0; i < count; i++) {
        if (timed) {
            uint64_t from = now_ns();
            MPI_Barrier(MPI_COMM_WORLD);
            took[i] = now_ns() - from;
        } else if (with_barriers)
            MPI_Barrier(MPI_COMM_WORLD);
        uint64_t d = random ? random_at(seed, (uint64_t)i) % (2 * (uint64_t)spin + 1) : (uint64_t)spin;
        turns += d;
        x = compute(x, d);
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    getrusage(RUSAGE_SELF, &after);

    int right = x == jump((uint64_t)self.rank, turns);
    if (!right)
        fprintf(stderr, "barrier: rank %d: the computation arrived at the wrong number\n", self.rank);
    long rounds = app_long(&self, "check");
    long wrong = app_says(&self, "through", "file") ? check_by_file(rounds, app_text(&self, "file"))
                                                    : check_by_messages(rounds);
    if (wrong)
        fprintf(stderr, "barrier: rank %d: %ld times something from behind a barrier was seen before it\n",
                self.rank, wrong);
    if (timed && *app_text(&self, "log"))
        write_log(app_text(&self, "log"), took, count);

    histogram mine = {{0}}, all = {{0}};
    double sums[4] = {0, 0, (double)turns * turn_ns / 1e9,
                      (double)(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw)};
    for (long i = 0; timed && i < count; i++) {
        histogram_add(&mine, took[i]);
        sums[0] += (double)took[i];
        sums[1] += (double)took[i] > slow_ns;
    }
    double total[4] = {0};
    MPI_Reduce(mine.count, all.count, BINS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(sums, total, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double barriers = with_barriers ? (double)count : 0;
    double ideal =
        total[2] / self.ranks + barriers * app_double(&self, "ideal_us") * 1e-6 * (self.ranks > 1 ? lg : 0);
    if (self.rank == 0 && timed)
        histogram_print(&all, "barrier");
    char times[128] = "";
    if (timed)
        snprintf(times, sizeof times, " barrier_us=%.3f slow=%.6f",
                 total[0] / self.ranks / (double)count / 1e3, total[1] / self.ranks / (double)count);
    free(took);
    return app_end(&self, right && !wrong, seconds,
                   "mode=%s count=%ld spin=%ld random=%s%s compute_s=%.6f efficiency=%.4f switches=%.0f",
                   app_text(&self, "mode"), count, spin, app_text(&self, "random"), times,
                   total[2] / self.ranks, ideal / seconds, total[3]);
}
