/* What the others lose when one host's ranks are stopped for 100 ms of every second. An ordinary MPI program: computation and barrier, by turns.
 *
 *   stopped [--loops N] [--compute US] [--victim HOST] [--limit S]
 *
 * Every rank on the victim is stopped (SIGSTOP) by a child of its own that it has before MPI starts, first after 300 ms, and let go on 100 ms later. No victim:
 * nobody is stopped; the two runs are compared. A rank's time ends when it leaves its last barrier: a barrier through shared memory begins and ends the loop. */
#include "neutral.h"
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

int main(int argc, char **argv)
{
    long loops = 500;
    double compute_us = 1000;
    const char *victim = "";
    int limit_s = 0, c;
    static const struct option options[] = {
        {"loops", 1, 0, 'n'}, {"compute", 1, 0, 'c'}, {"victim", 1, 0, 'v'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
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
    neutral n = neutral_open(0);
    neutral_introduce(&n, "stopped");
    double per_us = busy_per_us();
    uint64_t turns = (uint64_t)(compute_us * per_us);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    neutral_cross(&n);
    if (is_victim && write(ends[1], "g", 1) != 1)
        return 2;
    uint64_t start = wall_ns(), cpu = process_cpu_ns();
    for (long i = 0; i < loops; i++) {
        busy(turns);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double took = (double)(wall_ns() - start) / 1e9, used = (double)(process_cpu_ns() - cpu) / 1e9;
    if (is_victim)
        close(ends[1]);
    const double *victims = neutral_gather(&n, is_victim);
    int others = 0;
    int is[NEUTRAL_RANKS];
    for (int r = 0; r < n.ranks; r++)
        others += !(is[r] = victims[r] != 0);
    const double *times = neutral_gather(&n, took);
    double sum = 0, worst = 0, of_victims = 0;
    for (int r = 0; r < n.ranks; r++) {
        if (is[r]) {
            of_victims = times[r] > of_victims ? times[r] : of_victims;
            continue;
        }
        sum += times[r];
        worst = times[r] > worst ? times[r] : worst;
    }
    const double *cpus = neutral_gather(&n, used);
    double cpu_s = 0;
    for (int r = 0; r < n.ranks; r++)
        cpu_s += cpus[r];
    if (n.rank == 0) {
        printf("result {\"op\": \"stopped\", \"bytes\": 0, \"loops\": %ld, \"compute_us\": %g, \"victims\": %d, \"others_s\": %.5f, \"worst_other_s\": %.5f, "
               "\"victims_s\": %.5f, \"cpu_s\": %.4f}\n", loops, compute_us, n.ranks - others, sum / (others ? others : 1), worst, of_victims, cpu_s);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
