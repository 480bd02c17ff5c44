/* What the others lose when one host's ranks are stopped for 100 ms of every second. An ordinary MPI program:
 * computation and barrier, by turns.
 *
 *   stopped [--loops N] [--compute US] [--victim HOST] [--limit S]
 *
 * Every rank on the victim is stopped (SIGSTOP) by a child of its own that it has before MPI starts, first
 * after 300 ms, and let go on 100 ms later. No victim: nobody is stopped; the two runs are compared. A rank's
 * time (others_s, victims_s) ends when it leaves its last barrier; all_s is the time until everybody has, as
 * a reduction after the loop finds. Nothing here but MPI goes between the ranks: memory that they share would
 * let them see how far others are, and barriers may then not be left pending. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "clock.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>

/* The child: until the pipe's other end is closed. */
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

/* One line about the library. */
static void introduce(int rank, int ranks)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '"' || *c == '\\')
            *c = ' ';
    if (rank == 0)
        printf("result {\"program\": \"stopped\", \"library\": \"%.100s\", \"ranks\": %d}\n", text, ranks);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long loops = 500;
    double compute_us = 1000;
    const char *victim = "";
    int limit_s = 0, c;
    static const struct option options[] = {{"loops", 1, 0, 'n'},
                                            {"compute", 1, 0, 'c'},
                                            {"victim", 1, 0, 'v'},
                                            {"limit", 1, 0, 'l'},
                                            {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'n': loops = atol(optarg); break;
        case 'c': compute_us = atof(optarg); break;
        case 'v': victim = optarg; break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    int ends[2], is_victim = *victim && strcmp(host, victim) == 0;
    if (is_victim) {
        if (pipe(ends) != 0)
            return 2;
        pid_t rank = getpid();
        if (fork() == 0) {
            close(ends[1]);
            stop_now_and_then(ends[0], rank);
        }
        close(ends[0]);
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    introduce(rank, ranks);
    double per_us = busy_per_us();
    uint64_t turns = (uint64_t)(compute_us * per_us);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    double none = 0, sum = 0;
    MPI_Allreduce(&none, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is_victim && write(ends[1], "g", 1) != 1)
        return 2;
    uint64_t start = wall_ns(), cpu = process_cpu_ns();
    for (long i = 0; i < loops; i++) {
        busy(turns);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double took = (double)(wall_ns() - start) / 1e9, used = (double)(process_cpu_ns() - cpu) / 1e9;
    MPI_Allreduce(&none, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double all_s = (double)(wall_ns() - start) / 1e9;
    if (is_victim)
        close(ends[1]);
    /* Others' time, how many they are, everybody's processor time; then the longest of the others, of the
     * victims, and until all were through. */
    double mine[3] = {is_victim ? 0 : took, !is_victim, used}, sums[3];
    double my_longest[3] = {is_victim ? 0 : took, is_victim ? took : 0, all_s}, longest[3];
    MPI_Reduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(my_longest, longest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int others = (int)sums[1];
        printf("result {\"op\": \"stopped\", \"bytes\": 0, \"loops\": %ld, \"compute_us\": %g, \"victims\": "
               "%d, \"others_s\": %.5f, \"worst_other_s\": %.5f, "
               "\"victims_s\": %.5f, \"all_s\": %.5f, \"cpu_s\": %.4f}\n",
               loops, compute_us, ranks - others, sums[0] / (others ? others : 1), longest[0], longest[1],
               longest[2], sums[2]);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
