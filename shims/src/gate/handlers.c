/* Functions of the C library that set signal handlers, interposed. A handler of the program's makes barriers
 * strict, as its signal tells the program about other processes without a call; and the handlers of the gate
 * stay in place. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/gate.h"
#include "gate/origin.h"
#include "gate/traps.h"
#include "host/hints.h"
#include <signal.h>

/* ---- which handlers count ---- */

static bool is_function(void (*handler)(int))
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR;
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
static void note_handler(int signal, void (*handler)(int), const void *caller, const char *how)
{
    if (is_function(handler) && !ek_is_trap(signal) && signal != SIGSYS &&
        !is_of_a_runtime(signal, (const void *)handler) && ek_is_program(caller))
        ek_channel_open(EK_CHANNEL_SIGNALS, how);
}

/* ---- the functions ---- */

EK_ENTRY int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    EK_NEXT(sigaction);
    if (ek_gate_owns(signal)) {
        ek_gate_sigaction(action, old);
        return 0;
    }
    if (ek_traps_own(signal))
        return ek_trap_sigaction(signal, action, old);
    if (!action)
        return next(signal, NULL, old);
    note_handler(signal, action->sa_handler, EK_CALLER, "sigaction");
    /* The system calls of a handler that runs while the gate is closed must be caught too. */
    struct sigaction unmasked = *action;
    sigdelset(&unmasked.sa_mask, SIGSYS);
    return next(signal, &unmasked, old);
}

typedef __sighandler_t signal_function(int, __sighandler_t);

/* `flags` are those with which this form of signal() sets a handler. */
static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags, signal_function *next,
                                  const void *caller)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (ek_gate_owns(signal)) {
        ek_gate_sigaction(&action, &old);
        return old.sa_handler;
    }
    if (ek_traps_own(signal))
        return ek_trap_sigaction(signal, &action, &old) ? SIG_ERR : old.sa_handler;
    note_handler(signal, handler, caller, "signal");
    return next(signal, handler);
}

#define SIGNAL(name, flags)                                          \
    EK_ENTRY __sighandler_t name(int signum, __sighandler_t handler) \
    {                                                                \
        EK_NEXT(name);                                               \
        return set_handler(signum, handler, flags, next, EK_CALLER); \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(bsd_signal, SA_RESTART)
SIGNAL(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
SIGNAL(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

#endif
