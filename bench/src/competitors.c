/* Runs a command beside busy processes, N on each usable core, and ends with the command's exit code. Uses
 * libc only.
 *
 *   competitors N COMMAND [ARGUMENT]…
 *
 * The busy processes are in the command's session, so that a kernel with sched_autogroup gives them no share
 * of their own. They die with this process, however it ends. This process ignores SIGTERM and does not
 * forward it: the sender signals the whole process group. */
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

static void ignore(int number) { (void)number; }

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
        fprintf(stderr, "usage: competitors N COMMAND [ARGUMENT]...; N is at least 1\n");
        return 2;
    }
    struct sigaction ignored = {.sa_handler = ignore};
    sigaction(SIGTERM, &ignored, NULL);
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
