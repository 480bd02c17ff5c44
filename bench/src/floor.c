/* What this machine allows without any MPI: the floor under every number of the other programs.
 *
 *   floor [--ranks N] [--cap S] [--variant spin|yield|futex]
 *
 * N forked processes, process r bound to the r-th usable core modulo their number. Two processes: a bare
 * exchange of two flags; more: a barrier of one counter, whose waiters yield (spin where there is a core for
 * each). Then the barest broadcast, reduction and allreduce (bare.h), each call after a separating barrier,
 * as the other programs do it. Beside them what operations cannot do without: a copy, a system call, a
 * hand-over of the core, a futex wake-up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bare.h"
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
    crossing gate;
    exchange pair;
    _Alignas(64) _Atomic int64_t plan;
    double mean[RANKS];
    bare_shared bare;
    float samples[SAMPLES];
} shared;

static shared *sh;
static int cores[CPU_SETSIZE], core_count;

static void bind_to(int rank)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[rank % core_count], &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        perror("sched_setaffinity");
}

static void pass(int ranks, int rank, enum patience p, uint64_t *epoch)
{
    if (ranks == 2 && p != SLEEP)
        exchange_pass(&sh->pair, epoch, rank, p);
    else
        crossing_pass(&sh->gate, epoch, (uint64_t)ranks, p);
}

/* Blocks of passes back to back until the time is up; rank 0 says how many through `plan`. Returns all that
 * were done. */
static long blocks(int ranks, int rank, enum patience v, double cap_s, uint64_t *epoch, float *samples,
                   long room, uint64_t cost)
{
    uint64_t spent = 0, start = wall_ns();
    long done = 0;
    for (;;) {
        if (rank == 0) {
            double elapsed = (double)(wall_ns() - start) / 1e9;
            int64_t plan = done == 0          ? 20
                           : elapsed >= cap_s ? 0
                                              : (int64_t)((cap_s - elapsed) / (elapsed / (double)done)) + 1;
            if (done && plan > 4 * done)
                plan = 4 * done;
            if (samples && plan > room - done)
                plan = room - done;
            atomic_store(&sh->plan, plan);
        }
        pass(ranks, rank, v, epoch);
        long plan = (long)atomic_load(&sh->plan);
        pass(ranks, rank, v, epoch);
        if (plan <= 0)
            break;
        uint64_t before = wall_ns();
        for (long i = 0; i < plan; i++) {
            uint64_t at = samples ? wall_ns() : 0;
            pass(ranks, rank, v, epoch);
            if (samples) {
                uint64_t took = wall_ns() - at;
                samples[done + i] = took > cost ? (float)(took - cost) / 1e3f : 0;
            }
        }
        spent += wall_ns() - before;
        done += plan;
    }
    sh->mean[rank] = (double)spent / 1e3 / (double)done;
    return done;
}

static void barrier(int ranks, enum patience v, double cap_s)
{
    memset(sh, 0, sizeof *sh);
    size_t stride = SAMPLES / (size_t)ranks;
    pid_t child[RANKS];
    long done = 0, timed = 0;
    for (int r = ranks - 1; r >= 0; r--) {
        child[r] = r ? fork() : 0;
        if (child[r] != 0)
            continue;
        if (r)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        bind_to(r);
        uint64_t epoch = 0;
        uint64_t cost = wall_cost_ns();
        blocks(ranks, r, v, cap_s / 10, &epoch, NULL, 0, cost);
        timed = blocks(ranks, r, v, cap_s / 2, &epoch, sh->samples + (size_t)r * stride, (long)stride, cost);
        done = blocks(ranks, r, v, cap_s / 2, &epoch, NULL, 0, cost);
        pass(ranks, r, v, &epoch);
        if (r)
            _exit(0);
    }
    for (int r = 1; r < ranks; r++)
        waitpid(child[r], NULL, 0);
    double mean = 0;
    for (int r = 0; r < ranks; r++)
        mean += sh->mean[r] / ranks;
    numbers t = numbers_of(sh->samples, stride, (size_t)ranks, (size_t)timed);
    printf("result {\"op\": \"barrier\", \"bytes\": 0, \"variant\": \"%s\", \"iterations\": %ld, "
           "\"mean_us\": %.4f, "
           "\"median_us\": %.4f, \"p99_us\": %.4f, \"completion_us\": %.4f}\n",
           patience_names[v], done, mean, t.median, t.p99, t.completion);
    fflush(stdout);
}

static const struct operation {
    const char *name;
    size_t bytes;
} operations[] = {{"allreduce", 8}, {"allreduce", 32768}, {"reduce", 8},
                  {"reduce", 1024}, {"bcast", 8},         {"bcast", 65536}};

/* One rank's part: calls after separating barriers until the time is up. Returns how many were timed. */
static long operate(const struct operation *o, int ranks, int rank, enum patience p, double cap_s,
                    float *samples, long room)
{
    bare b = {.shared = &sh->bare, .rank = (uint64_t)rank, .ranks = (uint64_t)ranks, .patience = p};
    size_t count = o->bytes / sizeof(double);
    double *data = aligned_alloc(4096, BARE_BYTES), *out = aligned_alloc(4096, BARE_BYTES);
    if (!data || !out)
        abort();
    memset(data, 0, BARE_BYTES);
    memset(out, 0, BARE_BYTES);
    uint64_t epoch = 0, cost = wall_cost_ns(), start = wall_ns();
    long done = 0, goal = 0;
    for (;;) {
        if (done == goal) {
            if (rank == 0) {
                uint64_t spent = wall_ns() - start;
                long more = done == 0 ? 20 : spent >= (uint64_t)(cap_s * 1e9) ? 0 : done;
                atomic_store(&sh->plan, more > room - done ? room - done : more);
            }
            crossing_pass(&sh->gate, &epoch, b.ranks, p);
            goal += (long)atomic_load(&sh->plan);
            crossing_pass(&sh->gate, &epoch, b.ranks, p);
            if (done == goal)
                break;
        }
        data[0] = data[count - 1] = (double)(done % 1000 + 1);
        crossing_pass(&sh->gate, &epoch, b.ranks, p);
        uint64_t before = wall_ns();
        if (o->name[0] == 'a')
            bare_allreduce(&b, data, out, count);
        else if (o->name[0] == 'r')
            bare_reduce(&b, data, out, count);
        else
            bare_bcast(&b, data, count);
        uint64_t took = wall_ns() - before;
        samples[done] = took > cost ? (float)(took - cost) / 1e3f : 0;
        double wanted = (double)(done % 1000 + 1) * (o->name[0] == 'b' ? 1 : ranks);
        if ((o->name[0] == 'b' ? data : out)[count - 1] != wanted && (o->name[0] != 'r' || rank == 0)) {
            fprintf(stderr, "wrong answer: bare %s of %zu B\n", o->name, o->bytes);
            abort();
        }
        done++;
    }
    free(data);
    free(out);
    return done;
}

static void operation(const struct operation *o, int ranks, enum patience p, double cap_s)
{
    if (ranks > BARE_RANKS)
        return;
    memset(sh, 0, sizeof *sh);
    size_t stride = SAMPLES / (size_t)ranks;
    pid_t child[RANKS];
    long done = 0;
    for (int r = ranks - 1; r >= 0; r--) {
        child[r] = r ? fork() : 0;
        if (child[r] != 0)
            continue;
        if (r)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        bind_to(r);
        done = operate(o, ranks, r, p, cap_s, sh->samples + (size_t)r * stride, (long)stride);
        if (r)
            _exit(0);
    }
    for (int r = 1; r < ranks; r++)
        waitpid(child[r], NULL, 0);
    numbers t = numbers_of(sh->samples, stride, (size_t)ranks, (size_t)done);
    printf("result {\"op\": \"%s\", \"bytes\": %zu, \"variant\": \"%s\", \"iterations\": %ld, \"mean_us\": "
           "%.4f, "
           "\"median_us\": %.4f, \"p99_us\": %.4f, \"completion_us\": %.4f}\n",
           o->name, o->bytes, patience_names[p], done, t.mean, t.median, t.p99, t.completion);
    fflush(stdout);
}

static void single(const char *what, size_t bytes, double us)
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
        single("memcpy", sizes[s], (double)(wall_ns() - before) / 1e3 / (double)times);
    }
    free(to);
}

static void calls(void)
{
    const long times = 5000;
    uint64_t before = wall_ns();
    for (long i = 0; i < times; i++)
        syscall(SYS_getppid);
    single("system_call", 0, (double)(wall_ns() - before) / 1e3 / (double)times);
    before = wall_ns();
    for (long i = 0; i < times; i++)
        sched_yield();
    single("yield_alone", 0, (double)(wall_ns() - before) / 1e3 / (double)times);
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
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cores[core_count++] = i;
    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (sh == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    if (chosen >= 0) {
        barrier(ranks, (enum patience)chosen, cap_s);
        return 0;
    }
    barrier(ranks, ranks > core_count ? YIELD : SPIN, cap_s);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        operation(&operations[o], ranks, ranks > core_count ? YIELD : SPIN, cap_s / 4);
    barrier(ranks, SLEEP, cap_s / 4);
    if (ranks == 2) {
        barrier(ranks, YIELD, cap_s / 4);
        copies();
        calls();
    }
    return 0;
}
