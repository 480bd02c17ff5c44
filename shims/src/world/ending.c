#define _DEFAULT_SOURCE /* on_exit */
#include "world/ending.h"
#include "host/library.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit code of a job that would have been a success, and how long the sentence may take. */
enum { EXIT_PEER_DIED = 71, MOMENT_US = 200000 };

/* The process that is inside MPI_Init; a child that it makes there may exit. */
static _Atomic pid_t inside;

/* How launchers tell a process its rank, and how many ranks there are. */
static const struct {
    const char *rank, *size;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"SLURM_PROCID", "SLURM_NTASKS"},
                 {"PMIX_RANK", NULL}};

/* This process's rank, or NULL if no launcher has started it together with others. */
static const char *launched_rank(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i].rank), *size = launchers[i].size;
        size = size ? getenv(size) : NULL;
        if (rank)
            return size && atoi(size) == 1 ? NULL : rank;
    }
    return NULL;
}

/* Whether the launcher ends the job when a process exits with this code. */
static bool launcher_sees(int status)
{
#ifdef OMPI_MAJOR_VERSION
    return status != 0;
#else
    (void)status;
    return false;
#endif
}

/* Asks the launcher to end the job, by the protocol PMI 1 of MPICH and its relatives. Intel MPI's launcher
 * does not notice that a process is killed before it has joined. */
static void abort_job(int status)
{
    const char *fd = getenv("PMI_FD");
    char text[64];
    int length = snprintf(text, sizeof text, "cmd=abort exitcode=%d\n", status ? status : EXIT_PEER_DIED);
    if (fd && write(atoi(fd), text, (size_t)length) < 0)
        return; /* the signal that follows may do */
}

static void at_exit(int status, void *nothing)
{
    (void)nothing;
    const char *rank = launched_rank();
    if (atomic_load(&inside) != getpid() || !rank)
        return;
    char text[256];
    int length =
        snprintf(text, sizeof text,
                 "evenkeel: rank %s (process %d) exits with code %d inside MPI_Init, where the others "
                 "would wait for it; ending this job. Check the last output of rank %s\n",
                 rank, (int)getpid(), status, rank);
    if (write(STDERR_FILENO, text, (size_t)length) < 0 || launcher_sees(status))
        return;
    fflush(NULL);
    usleep(MOMENT_US); /* launchers pass no more output on once they end a job */
    abort_job(status);
    kill(getpid(), SIGKILL);
}

void ek_ending_watch(void)
{
    static _Atomic bool once;
    const char *off = getenv("EVENKEEL_OFF");
    if (off && !strcmp(off, "1"))
        return;
    atomic_store(&inside, getpid());
    if (!atomic_exchange(&once, true))
        on_exit(at_exit, NULL);
}

void ek_ending_forget(void) { atomic_store(&inside, 0); }

/* evenkeel's own launcher says how many it has started. Other launchers' numbers say less: a rank may start
 * programs by itself, which inherit them. */
void ek_ending_check_size(int size)
{
    const char *launched = getenv("EVENKEEL_LAUNCHED_RANKS"), *rank = launched_rank();
    if (!launched || atoi(launched) == size || atomic_load(&inside) != getpid())
        return;
    fprintf(
        stderr,
        "evenkeel: --launcher evenkeel started %s ranks, but rank %s is in a job of %d: its MPI library did "
        "not find the launcher. Start it without --launcher evenkeel. If a rank has started it for itself, "
        "remove EVENKEEL_LAUNCHED_RANKS from its environment\n",
        launched, rank ? rank : "0", size);
    fflush(NULL);
    _exit(EXIT_PEER_DIED);
}
