#define _GNU_SOURCE
#include "gate/clocks.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/deferral.h"
#include "gate/origin.h"

/* Whether the caller is in the same object as an allocator, which may read a clock while it holds its locks.
 */
static bool may_hold_locks(const void *caller)
{
    const void *const allocators[] = {dlsym(RTLD_DEFAULT, "malloc"), dlsym(RTLD_NEXT, "malloc")};
    Dl_info here, there;
    if (!dladdr(caller, &here))
        return true;
    for (int i = 0; i < 2; i++)
        if (allocators[i] && dladdr(allocators[i], &there) && there.dli_fbase == here.dli_fbase)
            return true;
    return false;
}

void ek_complete_before_clock(const char *name, const void *caller)
{
    if (ek_process.clock_is_free || !ek_gate_is_own())
        return;
    if (!may_hold_locks(caller))
        ek_complete_deferred(name, false);
    else if (!ek_complete_without_locks(name, false))
        ek_gate_close_if_deferred();
}

#endif
