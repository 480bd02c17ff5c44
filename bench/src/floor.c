/* What this machine allows without any MPI: the floor under every number of the other programs.
 *
 *   floor [--ranks N] [--cap S] [--variant spin|yield|futex]
 *
 * Forks N processes and binds process r to the r-th usable core, modulo the number of cores. Measures a
 * barrier: two processes exchange two flags; more processes use one counter, and waiting processes spin if
 * there is a core for each, or else yield. Then come broadcast, reduction and allreduce (bare_collectives.h),
 * each call after a separating barrier as in the other programs. With two processes it also measures what
 * the operations consist of: a copy, a system call, a yield. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bare_collectives.h"
#include "clock.h"
#include "numbers.h"
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 256, SAMPLES = 200000 };

typedef struct shared {
    shared_barrier barrier;
    flag_pair pair;
    _Alignas(64) _Atomic int64_t next_iterations; /* how many iterations all processes do next */
    double mean[RANKS];                           /* microseconds of a barrier on each process */
    bare_shared bare;
    float samples[SAMPLES];
} shared;

static shared *sh;
static int cores[CPU_SETSIZE], core_count;

static size_t samples_per_rank(int ranks) { return SAMPLES / (size_t)ranks; }

static void bind_to_core_of(int rank)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[rank % core_count], &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        perror("sched_setaffinity");
}

/* One rank of a measurement. */
typedef struct process {
    int rank, ranks;
    enum wait_policy policy;
    double cap_s;
    const struct operation *operation; /* NULL for the barrier */
    float *samples;                    /* with memory for `capacity` of them */
    long capacity;
    uint64_t clock_cost_ns, epoch;
} process;

static void keep_sample(process *p, long i, uint64_t took)
{
    p->samples[i] = took > p->clock_cost_ns ? (float)(took - p->clock_cost_ns) / 1e3f : 0;
}

/* How many iterations a rank did. */
typedef struct iterations {
    long timed, untimed;
} iterations;

/* Runs the body as rank 0 in this process, and as every other rank in a child. Returns what rank 0 did. */
static iterations run_on_all_ranks(iterations body(process *), process all)
{
    memset(sh, 0, sizeof *sh);
    all.capacity = (long)samples_per_rank(all.ranks);
    pid_t child[RANKS];
    iterations done = {0, 0};
    for (int r = all.ranks - 1; r >= 0; r--) {
        child[r] = r ? fork() : 0;
        if (child[r] != 0)
            continue;
        if (r)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        bind_to_core_of(r);
        process mine = all;
        mine.rank = r;
        mine.samples = sh->samples + r * all.capacity;
        mine.clock_cost_ns = wall_cost_ns();
        done = body(&mine);
        if (r)
            _exit(0);
    }
    for (int r = 1; r < all.ranks; r++)
        waitpid(child[r], NULL, 0);
    return done;
}

/* ---- the barrier ---- */

static void wait_for_all(process *p)
{
    if (p->ranks == 2 && p->policy != SLEEP)
        flag_pair_wait(&sh->pair, &p->epoch, p->rank, p->policy);
    else
        shared_barrier_wait(&sh->barrier, &p->epoch, (uint64_t)p->ranks, p->policy);
}

/* How many barriers to do next; 0 when the time is up or the memory for samples is full. */
static int64_t next_barriers(const process *p, long done, double elapsed_s, double cap_s, int timed)
{
    if (done && elapsed_s >= cap_s)
        return 0;
    int64_t next = done ? (int64_t)((cap_s - elapsed_s) / (elapsed_s / (double)done)) + 1 : 20;
    if (done && next > 4 * done)
        next = 4 * done;
    return timed && next > p->capacity - done ? p->capacity - done : next;
}

/* Does barriers back to back for `cap_s` seconds, in blocks whose size rank 0 decides; each of them is timed
 * if `timed` is set. Returns how many. */
static long barriers_in_blocks(process *p, double cap_s, int timed)
{
    uint64_t spent = 0, start = wall_ns();
    long done = 0;
    for (;;) {
        if (p->rank == 0) {
            double elapsed_s = (double)(wall_ns() - start) / 1e9;
            atomic_store(&sh->next_iterations, next_barriers(p, done, elapsed_s, cap_s, timed));
        }
        wait_for_all(p);
        long next = (long)atomic_load(&sh->next_iterations);
        wait_for_all(p);
        if (next <= 0)
            break;
        uint64_t before = wall_ns();
        for (long i = 0; i < next; i++) {
            uint64_t at = timed ? wall_ns() : 0;
            wait_for_all(p);
            if (timed)
                keep_sample(p, done + i, wall_ns() - at);
        }
        spent += wall_ns() - before;
        done += next;
    }
    sh->mean[p->rank] = (double)spent / 1e3 / (double)done;
    return done;
}

static iterations time_barriers(process *p)
{
    iterations done;
    barriers_in_blocks(p, p->cap_s / 10, 0); /* warms up */
    done.timed = barriers_in_blocks(p, p->cap_s / 2, 1);
    done.untimed = barriers_in_blocks(p, p->cap_s / 2, 0);
    wait_for_all(p);
    return done;
}

static void barrier(int ranks, enum wait_policy policy, double cap_s)
{
    iterations done =
        run_on_all_ranks(time_barriers, (process){.ranks = ranks, .policy = policy, .cap_s = cap_s});
    double mean = 0;
    for (int r = 0; r < ranks; r++)
        mean += sh->mean[r] / ranks;
    numbers t = numbers_of(sh->samples, samples_per_rank(ranks), (size_t)ranks, (size_t)done.timed);
    printf("result {\"op\": \"barrier\", \"bytes\": 0, \"variant\": \"%s\", \"iterations\": %ld, "
           "\"mean_us\": %.4f, \"median_us\": %.4f, \"p99_us\": %.4f, \"completion_us\": %.4f}\n",
           wait_policy_names[policy], done.untimed, mean, t.median, t.p99, t.completion);
    fflush(stdout);
}

/* ---- the other operations ---- */

static const struct operation {
    const char *name;
    size_t bytes;
} operations[] = {{"allreduce", 8}, {"allreduce", 32768}, {"reduce", 8},
                  {"reduce", 1024}, {"bcast", 8},         {"bcast", 65536}};

static void separate(process *p)
{
    shared_barrier_wait(&sh->barrier, &p->epoch, (uint64_t)p->ranks, p->policy);
}

/* How many calls to do next: rank 0 decides, all ranks get the same answer. */
static long next_calls(process *p, long done, uint64_t start)
{
    if (p->rank == 0) {
        uint64_t spent = wall_ns() - start;
        long more = done == 0 ? 20 : spent >= (uint64_t)(p->cap_s * 1e9) ? 0 : done;
        atomic_store(&sh->next_iterations, more > p->capacity - done ? p->capacity - done : more);
    }
    separate(p);
    long next = (long)atomic_load(&sh->next_iterations);
    separate(p);
    return next;
}

static void call(const struct operation *o, bare *b, double *data, double *out)
{
    size_t count = o->bytes / sizeof(double);
    if (o->name[0] == 'a')
        bare_allreduce(b, data, out, count);
    else if (o->name[0] == 'r')
        bare_reduce(b, data, out, count);
    else
        bare_bcast(b, data, count);
}

static void check(const process *p, const double *data, const double *out, double stamp)
{
    const struct operation *o = p->operation;
    int is_bcast = o->name[0] == 'b', has_result = o->name[0] != 'r' || p->rank == 0;
    double wanted = stamp * (is_bcast ? 1 : p->ranks);
    if (has_result && (is_bcast ? data : out)[o->bytes / sizeof(double) - 1] != wanted) {
        fprintf(stderr, "wrong answer: bare %s of %zu B\n", o->name, o->bytes);
        abort();
    }
}

static double *allocate_buffer(void)
{
    double *buffer = aligned_alloc(4096, BARE_BYTES);
    if (!buffer)
        abort();
    memset(buffer, 0, BARE_BYTES);
    return buffer;
}

/* Calls the operation after separating barriers until the time is up. */
static iterations time_operation(process *p)
{
    bare b = {
        .shared = &sh->bare, .rank = (uint64_t)p->rank, .ranks = (uint64_t)p->ranks, .policy = p->policy};
    size_t count = p->operation->bytes / sizeof(double);
    double *data = allocate_buffer(), *out = allocate_buffer();
    uint64_t start = wall_ns();
    long done = 0;
    for (long next; (next = next_calls(p, done, start)) > 0;) {
        for (long end = done + next; done < end; done++) {
            double stamp = (double)(done % 1000 + 1);
            data[0] = data[count - 1] = stamp;
            separate(p);
            uint64_t before = wall_ns();
            call(p->operation, &b, data, out);
            keep_sample(p, done, wall_ns() - before);
            check(p, data, out, stamp);
        }
    }
    free(data);
    free(out);
    return (iterations){.timed = done};
}

static void operation(const struct operation *o, int ranks, enum wait_policy policy, double cap_s)
{
    if (ranks > BARE_RANKS)
        return;
    iterations done = run_on_all_ranks(
        time_operation, (process){.ranks = ranks, .policy = policy, .cap_s = cap_s, .operation = o});
    numbers t = numbers_of(sh->samples, samples_per_rank(ranks), (size_t)ranks, (size_t)done.timed);
    printf("result {\"op\": \"%s\", \"bytes\": %zu, \"variant\": \"%s\", \"iterations\": %ld, "
           "\"mean_us\": %.4f, \"median_us\": %.4f, \"p99_us\": %.4f, \"completion_us\": %.4f}\n",
           o->name, o->bytes, wait_policy_names[policy], done.timed, t.mean, t.median, t.p99, t.completion);
    fflush(stdout);
}

/* ---- what operations consist of ---- */

static void print_single(const char *what, size_t bytes, double us)
{
    printf("result {\"op\": \"%s\", \"bytes\": %zu, \"variant\": \"single\", \"mean_us\": %.4f}\n", what,
           bytes, us);
    fflush(stdout);
}

static void copies(void)
{
    static const size_t sizes[] = {8, 1024, 32768, 65536};
    char *from = sh ? (char *)sh->samples : NULL, *to = aligned_alloc(4096, 65536);
    if (!from || !to)
        abort();
    memset(to, 1, 65536);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        long times = 20000000 / (long)(sizes[s] + 1000);
        uint64_t before = wall_ns();
        for (long i = 0; i < times; i++) {
            memcpy(to, from, sizes[s]);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        print_single("memcpy", sizes[s], (double)(wall_ns() - before) / 1e3 / (double)times);
    }
    free(to);
}

static void calls(void)
{
    const long times = 5000;
    uint64_t before = wall_ns();
    for (long i = 0; i < times; i++)
        syscall(SYS_getppid);
    print_single("system_call", 0, (double)(wall_ns() - before) / 1e3 / (double)times);
    before = wall_ns();
    for (long i = 0; i < times; i++)
        sched_yield();
    print_single("yield_alone", 0, (double)(wall_ns() - before) / 1e3 / (double)times);
}

static void find_cores(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cores[core_count++] = i;
}

int main(int argc, char **argv)
{
    int ranks = 2, chosen = -1, c;
    double cap_s = 0.2;
    static const struct option options[] = {
        {"ranks", 1, 0, 'n'}, {"cap", 1, 0, 'c'}, {"variant", 1, 0, 'v'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'n': ranks = atoi(optarg); break;
        case 'c': cap_s = atof(optarg); break;
        case 'v': chosen = optarg[0] == 's' ? SPIN : optarg[0] == 'y' ? YIELD : SLEEP; break;
        case 'l': alarm((unsigned)atoi(optarg)); break;
        default: return 2;
        }
    }
    if (ranks < 2 || ranks > RANKS)
        return 2;
    find_cores();
    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (sh == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    if (chosen >= 0) {
        barrier(ranks, (enum wait_policy)chosen, cap_s);
        return 0;
    }
    enum wait_policy policy = ranks > core_count ? YIELD : SPIN;
    barrier(ranks, policy, cap_s);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        operation(&operations[o], ranks, policy, cap_s / 4);
    barrier(ranks, SLEEP, cap_s / 4);
    if (ranks == 2) {
        barrier(ranks, YIELD, cap_s / 4);
        copies();
        calls();
    }
    return 0;
}
