/* The clocks of the C library, interposed. The ranks of a machine share them, so they tell as much as
 * MPI_Wtime about when another rank came to a barrier. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/deferral.h"
#include "gate/origin.h"
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>

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

static __attribute__((noinline, cold)) void complete(const char *name, const void *caller)
{
    if (ek_process.clock_is_free || !ek_gate_is_own())
        return;
    if (!may_hold_locks(caller))
        ek_complete_deferred(name, false);
    else if (!ek_complete_without_locks(name, false))
        ek_gate_close_if_deferred();
}

#define READS_CLOCK(returns, name, parameters, arguments, shows) \
    EK_ENTRY returns name parameters                             \
    {                                                            \
        EK_NEXT(name);                                           \
        if (EK_UNLIKELY(ek_gate) && (shows))                     \
            complete(#name, EK_CALLER);                          \
        return next arguments;                                   \
    }
READS_CLOCK(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now),
            ek_clock_is_shared(clock))
READS_CLOCK(int, gettimeofday, (struct timeval *restrict now, void *restrict zone), (now, zone), true)
READS_CLOCK(time_t, time, (time_t *now), (now), true)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
READS_CLOCK(int, ftime, (struct timeb * now), (now), true)
READS_CLOCK(int, timespec_get, (struct timespec * now, int base), (now, base), true)

#endif
