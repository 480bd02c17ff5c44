#define _GNU_SOURCE
#include "process/host_waits.h"
#include "host/library.h"
#include "host/reference.h"
#include "process/state.h"
#include <sched.h>
#include <string.h>

_Thread_local int ek_host_tests __attribute__((tls_model("initial-exec")));

/* Open MPI yields where ranks share cores, and so does Intel MPI. */
static bool host_keeps_core(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    ek_host.Get_library_version(version, &length);
    return !strstr(version, "Open MPI") && !strstr(version, "Intel(R) MPI");
}

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

void ek_host_waits_begin(void)
{
    ek_host_resolve();
    if (look || !host_keeps_core() || !ek_host_waits_may_yield())
        return;
    look = (__typeof__(look))ek_host_redirect("ucp_worker_progress", (void *)look_and_yield);
    when_nothing_is_found = YIELDS_ALWAYS;
}

void ek_host_waits_start(void)
{
    ek_process.yields_in_host = ek_process.active && ek_host_waits_yield(host_keeps_core());
    when_nothing_is_found = ek_process.yields_in_host ? YIELDS_AS_OTHER_WAITS : KEEPS_CORE;
}

void ek_host_waits_end(void)
{
    ek_process.yields_in_host = false;
    if (when_nothing_is_found == YIELDS_AS_OTHER_WAITS)
        when_nothing_is_found = YIELDS_ALWAYS;
}
