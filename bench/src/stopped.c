/* How much time the other ranks lose when the ranks of one host are stopped for 100 ms of every second. An
 * ordinary MPI program that alternates computation and barrier.
 *
 *   stopped [--loops N] [--compute US] [--victim HOST] [--limit S]
 *
 * Every rank on the victim forks a child before MPI starts. The child stops the rank (SIGSTOP) after 300 ms,
 * continues it 100 ms later, and repeats that every second. Without a victim no rank is stopped; the two runs
 * are compared. A rank's time (others_s, victims_s) ends when it leaves its last barrier. all_s is the time
 * until every rank has left its last barrier, which a reduction after the loop establishes. The ranks
 * communicate through MPI only: if they shared memory, they could see how far others have got, and barriers
 * could not be deferred. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "clock.h"
#include "library.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>

typedef struct settings {
    long loops;
    double compute_us;
    const char *victim;
    int limit_s;
} settings;

static settings read_settings(int argc, char **argv)
{
    settings s = {.loops = 500, .compute_us = 1000, .victim = ""};
    int c;
    static const struct option options[] = {{"loops", 1, 0, 'n'},
                                            {"compute", 1, 0, 'c'},
                                            {"victim", 1, 0, 'v'},
                                            {"limit", 1, 0, 'l'},
                                            {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'n': s.loops = atol(optarg); break;
        case 'c': s.compute_us = atof(optarg); break;
        case 'v': s.victim = optarg; break;
        case 'l': s.limit_s = atoi(optarg); break;
        default: exit(2);
        }
    }
    return s;
}

/* The child: waits for the first byte, then stops the rank now and then, until the rank closes the pipe. */
static void stop_now_and_then(int pipe_end, pid_t rank)
{
    char go;
    if (read(pipe_end, &go, 1) != 1)
        _exit(0);
    struct pollfd end = {pipe_end, POLLIN, 0};
    for (int wait_ms = 300; poll(&end, 1, wait_ms) == 0; wait_ms = 900) {
        kill(rank, SIGSTOP);
        usleep(100000);
        kill(rank, SIGCONT);
    }
    _exit(0);
}

/* Forks the child if this rank is on the victim. Returns the end of the pipe to it, or -1. */
static int fork_stopper(const char *victim)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (!*victim || strcmp(host, victim) != 0)
        return -1;
    int ends[2];
    if (pipe(ends) != 0)
        exit(2);
    pid_t rank = getpid();
    if (fork() == 0) {
        close(ends[1]);
        stop_now_and_then(ends[0], rank);
    }
    close(ends[0]);
    return ends[1];
}

static void synchronize(void)
{
    double none = 0, sum = 0;
    MPI_Allreduce(&none, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

typedef struct measurement {
    double own_s; /* until this rank left its last barrier */
    double all_s; /* until all ranks had */
    double cpu_s;
} measurement;

static measurement measure(const settings *s, int stopper)
{
    uint64_t iterations = (uint64_t)(s->compute_us * busy_per_us());
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    synchronize();
    if (stopper >= 0 && write(stopper, "g", 1) != 1)
        exit(2);
    uint64_t start = wall_ns(), cpu = process_cpu_ns();
    for (long i = 0; i < s->loops; i++) {
        busy(iterations);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    measurement m;
    m.own_s = (double)(wall_ns() - start) / 1e9;
    m.cpu_s = (double)(process_cpu_ns() - cpu) / 1e9;
    synchronize();
    m.all_s = (double)(wall_ns() - start) / 1e9;
    return m;
}

static void report(const settings *s, const measurement *m, int is_victim)
{
    enum { OTHERS_S, OTHERS, CPU_S, SUMS };
    enum { WORST_OTHER_S, WORST_VICTIM_S, ALL_S, LONGEST };
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double mine[SUMS] = {is_victim ? 0 : m->own_s, !is_victim, m->cpu_s}, sums[SUMS];
    double my_longest[LONGEST] = {is_victim ? 0 : m->own_s, is_victim ? m->own_s : 0, m->all_s},
           longest[LONGEST];
    MPI_Reduce(mine, sums, SUMS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(my_longest, longest, LONGEST, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    int others = (int)sums[OTHERS];
    printf("result {\"op\": \"stopped\", \"bytes\": 0, \"loops\": %ld, \"compute_us\": %g, "
           "\"victims\": %d, \"others_s\": %.5f, \"worst_other_s\": %.5f, \"victims_s\": %.5f, "
           "\"all_s\": %.5f, \"cpu_s\": %.4f}\n",
           s->loops, s->compute_us, ranks - others, sums[OTHERS_S] / (others ? others : 1),
           longest[WORST_OTHER_S], longest[WORST_VICTIM_S], longest[ALL_S], sums[CPU_S]);
    fflush(stdout);
}

/* Prints a line about the library. */
static void introduce(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    library_name(library);
    if (rank == 0)
        printf("result {\"program\": \"stopped\", \"library\": \"%.100s\", \"ranks\": %d}\n", library, ranks);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    int stopper = fork_stopper(s.victim);
    alarm((unsigned)s.limit_s);
    MPI_Init(&argc, &argv);
    introduce();
    measurement m = measure(&s, stopper);
    if (stopper >= 0)
        close(stopper);
    report(&s, &m, stopper >= 0);
    MPI_Finalize();
    return 0;
}
