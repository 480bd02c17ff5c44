/* Keeps all ranks of MPICH's launcher in one session. The library is preloaded into that launcher, not into
 * the ranks.
 *
 * The launcher calls setsid for each rank. A kernel with sched_autogroup schedules each session as one group,
 * and sched_yield yields the core to processes of the same session only. A rank alone in its session
 * therefore yields to no other rank. With this library, a rank gets its own process group, which the launcher
 * needs to end it, and stays in the launcher's session.
 *
 * Must never fail: the caller has to go on in every case. */
#include <unistd.h>

pid_t setsid(void)
{
    setpgid(0, 0);
    return getpid();
}
