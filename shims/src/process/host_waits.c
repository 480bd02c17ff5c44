#define _GNU_SOURCE
#include "process/host_waits.h"
#include "host/library.h"
#include "host/reference.h"
#include "process/state.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Thread_local int ek_host_tests __attribute__((tls_model("initial-exec")));

/* Open MPI yields where ranks share cores, and so does Intel MPI. */
static bool host_keeps_core(void) { return !ek_host_is("Open MPI") && !ek_host_is("Intel(R) MPI"); }

/* In MPI_Init and MPI_Finalize it is not known whether ranks share cores. To yield then costs little. */
static enum { KEEPS_CORE, YIELDS_ALWAYS, YIELDS_AS_OTHER_WAITS } when_nothing_is_found;

/* UCX's function that looks for something to do, and returns how much it has found. A library that uses UCX
 * calls it whenever it looks, also while it waits for ranks of this node. */
static unsigned (*look)(void *worker);

static unsigned look_and_yield(void *worker)
{
    const unsigned found = look(worker);
    if (found || ek_host_tests || when_nothing_is_found == KEEPS_CORE)
        return found;
    if (when_nothing_is_found == YIELDS_AS_OTHER_WAITS)
        ek_host_found_nothing();
    else
        sched_yield();
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

/* Without UCX, MPICH 5 can be told to sleep for a moment when it finds nothing. What the user has set holds.
 */
static void let_host_sleep(void)
{
    setenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1", 0);
    setenv("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1", 0);
}

void ek_host_waits_begin(void)
{
    if (look || !ek_host_waits_may_yield())
        return;
    ek_host_resolve();
    if (!host_keeps_core())
        return;
    const char *network = getenv("MPIR_CVAR_CH4_NETMOD");
    look = (__typeof__(look))ek_host_redirect("ucp_worker_progress", (void *)look_and_yield);
    when_nothing_is_found = YIELDS_ALWAYS;
    if ((!look || (network && strcmp(network, "ucx") != 0)) && launcher_shares_cores())
        let_host_sleep();
}

/* Where an address is defined; NULL: nowhere. */
static void *object_of(void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* A tool between the shim and the host would not see calls that are taken apart. */
static bool is_watched(void)
{
    return object_of(ek_host_function("MPI_Recv")) != object_of(ek_host_function("PMPI_Recv"));
}

void ek_host_waits_start(void)
{
    const bool yields =
        ek_process.active && ek_host_waits_may_yield() && ek_host_waits_yield(host_keeps_core());
    when_nothing_is_found = yields ? YIELDS_AS_OTHER_WAITS : KEEPS_CORE;
    ek_process.yields_in_host = yields && !is_watched();
}

void ek_host_waits_end(void)
{
    ek_process.yields_in_host = false;
    if (when_nothing_is_found == YIELDS_AS_OTHER_WAITS)
        when_nothing_is_found = YIELDS_ALWAYS;
}
