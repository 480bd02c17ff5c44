/* Preloaded into the launcher of MPICH and its relatives, not into the ranks. That launcher gives each rank a
 * session, and a kernel with sched_autogroup schedules each session as one: sched_yield then hands the core
 * over within a session only, that is to nobody. With this, a rank gets a process group of its own (by which
 * the launcher ends it), and stays in the launcher's session. Must never fail: whatever setsid is called for,
 * the caller goes on. */
#include <unistd.h>

pid_t setsid(void)
{
    setpgid(0, 0);
    return getpid();
}
