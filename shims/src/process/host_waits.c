#define _GNU_SOURCE
#include "process/host_waits.h"
#include "host/library.h"
#include "host/reference.h"
#include "process/call_line.h"
#include "process/host_looks.h"
#include "process/state.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The thread that has called MPI_Init. Another one may be the host's own, which holds locks here. */
static pthread_t first_thread;

/* Intel MPI yields where ranks share cores. Open MPI does so, too, if its launcher knows that they do. */
static bool host_keeps_core(void) { return !ek_host_is("Intel(R) MPI"); }

/* In MPI_Init and MPI_Finalize it is not known whether ranks share cores. To yield then costs little. */
static enum { KEEPS_CORE, YIELDS_ALWAYS, YIELDS_AS_OTHER_WAITS } when_nothing_is_found;

/* UCX's function that looks for something to do, and returns how much it has found. A library that uses UCX
 * calls it whenever it looks, also while it waits for ranks of this node. */
static unsigned (*look)(void *worker);

/* Whether a call stands in the line. The line tells of a call in which a rank may wait; of one that only
 * asks, or starts something, it does not tell. */
static bool waits(uint64_t version)
{
    enum { PLACE = 3, INSIDE = 2 };
    return (version & PLACE) == INSIDE;
}

static unsigned look_and_yield(void *worker)
{
    const uint64_t version = EK_LINE_LOAD(ek_line, version);
    const bool asks = ek_host_asks > 0;
    if (ek_host_tests || when_nothing_is_found == KEEPS_CORE)
        return look(worker);
    if (when_nothing_is_found == YIELDS_ALWAYS) {
        const unsigned found = look(worker);
        if (!found)
            sched_yield();
        return found;
    }
    /* With several threads in calls, one may want the lock. */
    if ((!asks && !waits(version)) || ek_threads_in_calls > 1)
        return look(worker);
    const bool is_locked = ek_process.is_threaded || !pthread_equal(pthread_self(), first_thread);
    ek_host_look_begins(version);
    const unsigned found = look(worker);
    ek_host_look_ends(found > 0, asks, is_locked);
    return found;
}

/* Whether MPICH's launcher has started more ranks here than there are cores. A rank that is bound to one core
 * may have it for itself. */
static bool launcher_shares_cores(void)
{
    const char *ranks = getenv("MPI_LOCALNRANKS");
    cpu_set_t cores;
    if (!ranks || sched_getaffinity(0, sizeof cores, &cores))
        return false;
    const int allowed = CPU_COUNT(&cores);
    return atol(ranks) > (allowed > 1 ? allowed : sysconf(_SC_NPROCESSORS_ONLN));
}

/* Without UCX, MPICH 5 can be told to yield when it finds nothing. What the user has set holds. */
static void let_host_yield(void)
{
    setenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1", 0);
    setenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1", 0);
}

void ek_host_waits_begin(void)
{
    if (look || !ek_host_waits_may_yield())
        return;
    ek_host_resolve();
    first_thread = pthread_self();
    if (!host_keeps_core() || ek_host_is("Open MPI"))
        return;
    const char *network = getenv("MPIR_CVAR_CH4_NETMOD");
    if (!ek_host_redirect("ucp_worker_progress", (void *)look_and_yield, (void **)&look))
        look = NULL;
    when_nothing_is_found = YIELDS_ALWAYS;
    if ((!look || (network && strcmp(network, "ucx") != 0)) && launcher_shares_cores())
        let_host_yield();
}

void ek_host_waits_start(void)
{
    const bool yields =
        ek_process.active && ek_host_waits_may_yield() && ek_host_waits_yield(host_keeps_core());
    when_nothing_is_found = yields ? YIELDS_AS_OTHER_WAITS : KEEPS_CORE;
    if (yields && ek_host_set_yield)
        ek_host_set_yield(true);
}

void ek_host_waits_end(void)
{
    if (when_nothing_is_found == YIELDS_AS_OTHER_WAITS)
        when_nothing_is_found = YIELDS_ALWAYS;
}

void ek_host_waits_over(void) { when_nothing_is_found = KEEPS_CORE; }
