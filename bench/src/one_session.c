/* Preloaded into MPICH's launcher, not into the ranks: what it starts gets a process group of its own, but
 * stays in the launcher's session. A kernel with sched_autogroup schedules each session as one, so that
 * sched_yield hands the core over within a session only, and MPICH's launcher gives each rank a session. This
 * is MPICH's best known setting there. */
#include <unistd.h>

pid_t setsid(void)
{
    setpgid(0, 0);
    return getpid();
}
