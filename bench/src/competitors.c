/* Runs a command beside busy processes, N on each core that may be used, and ends with its exit code. Uses
 * libc alone.
 *
 *   competitors N COMMAND [ARGUMENT]…
 *
 * They are in the session of the command, so that a kernel with sched_autogroup gives them no share of their
 * own. A TERM is handed on to nobody here: whoever sends one sends it to the process group. They die with
 * this process, whatever ends it. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void keep_waiting(int number) { (void)number; }

static void compete(int core, pid_t parent)
{
    signal(SIGTERM, SIG_DFL);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || sched_setaffinity(0, sizeof one, &one) != 0)
        _exit(1);
    for (volatile uint64_t i = 0;; i++)
        ;
}

int main(int argc, char **argv)
{
    long each = argc > 2 ? atol(argv[1]) : 0;
    cpu_set_t usable;
    if (each < 1 || sched_getaffinity(0, sizeof usable, &usable) != 0) {
        fprintf(stderr, "competitors: N COMMAND [ARGUMENT]..., N at least 1\n");
        return 2;
    }
    struct sigaction patient = {.sa_handler = keep_waiting};
    sigaction(SIGTERM, &patient, NULL);
    pid_t self = getpid(), *all = calloc((size_t)each * CPU_SETSIZE, sizeof *all);
    long started = 0;
    for (int core = 0; all && core < CPU_SETSIZE; core++)
        for (long i = 0; CPU_ISSET(core, &usable) && i < each; i++)
            if ((all[started] = fork()) == 0)
                compete(core, self);
            else if (all[started] > 0)
                started++;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status = 1 << 8;
    while (child > 0 && waitpid(child, &status, 0) != child && errno == EINTR)
        ;
    for (long i = 0; i < started; i++)
        kill(all[i], SIGKILL);
    for (long i = 0; i < started; i++)
        waitpid(all[i], NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
