#define _GNU_SOURCE
#include "gate/handler_rules.h"
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/origin.h"
#include "gate/traps.h"
#include <signal.h>

static bool is_function(const void *handler)
{
    return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN && handler != (void *)SIG_ERR;
}

/* Whether the handler is in the object that defines this symbol. */
static bool is_beside(const void *handler, const char *symbol)
{
    Dl_info here, there;
    const void *found = dlsym(RTLD_DEFAULT, symbol);
    return found && dladdr(handler, &here) && dladdr(found, &there) && here.dli_fbase == there.dli_fbase;
}

/* Handlers that the run-time systems of languages install in each program, for signals by which people end
 * it. Fortran's prints where the program was, and ends it. Python's raises KeyboardInterrupt. */
static bool is_of_a_runtime(int signal, const void *handler)
{
    switch (signal) {
    case SIGQUIT:
    case SIGXCPU:
    case SIGXFSZ: return is_beside(handler, "_gfortran_set_options");
    case SIGINT: return is_beside(handler, "Py_Initialize");
    default: return false;
    }
}

/* A handler runs whenever another process sends the signal, also while the program is inside MPI, where its
 * system calls are let through; and as long as it has not run the program knows that nothing was sent. Only
 * faults are the process's own. */
bool ek_handler_counts(int signal, const void *handler)
{
    enum { LAST_STANDARD_SIGNAL = 31 };
    if (signal > LAST_STANDARD_SIGNAL && signal < SIGRTMIN)
        return false; /* the C library's own: it keeps programs from using these */
    return is_function(handler) && !ek_is_trap(signal) && signal != SIGSYS &&
           !is_of_a_runtime(signal, handler);
}

void ek_note_handler(int signal, const void *handler, const void *caller, const char *how)
{
    if (ek_handler_counts(signal, handler) && ek_is_program(caller))
        ek_channel_open(EK_CHANNEL_SIGNALS, how);
}

#endif
