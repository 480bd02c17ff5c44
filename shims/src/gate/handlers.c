/* Functions of the C library that set signal handlers, interposed. A handler of the program's makes barriers
 * strict, as its signal tells the program about other processes without a call; and the handlers of the gate
 * stay in place. */
#define _GNU_SOURCE
#include "gate/handler_rules.h"
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/gate.h"
#include "gate/origin.h"
#include "gate/traps.h"
#include "host/hints.h"
#include <signal.h>

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
    ek_note_handler(signal, (const void *)action->sa_handler, EK_CALLER, "sigaction");
    /* The system calls of a handler that runs while the gate is closed must be caught too. */
    struct sigaction unmasked = *action;
    sigdelset(&unmasked.sa_mask, SIGSYS);
    return next(signal, &unmasked, old);
}

EK_ENTRY int __sigaction(int signal, const struct sigaction *action, struct sigaction *old)
    __attribute__((alias("sigaction"), nothrow, leaf));

/* Programs of old still call sigset. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef __sighandler_t signal_function(int, __sighandler_t);

/* `flags` are those with which this form of signal() sets a handler. */
static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags, signal_function *next,
                                  const void *caller)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (ek_gate_owns(signal)) {
        ek_gate_sigaction(handler == SIG_HOLD ? NULL : &action, &old); /* it must not be blocked */
        return old.sa_handler;
    }
    if (ek_traps_own(signal))
        return ek_trap_sigaction(signal, &action, &old) ? SIG_ERR : old.sa_handler;
    ek_note_handler(signal, (const void *)handler, caller, "signal");
    return next(signal, handler);
}

#define SIGNAL(name, flags)                                          \
    EK_ENTRY __sighandler_t name(int signum, __sighandler_t handler) \
    {                                                                \
        EK_NEXT(name);                                               \
        return set_handler(signum, handler, flags, next, EK_CALLER); \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(ssignal, SA_RESTART)
SIGNAL(sigset, SA_RESTART)
SIGNAL(bsd_signal, SA_RESTART)
SIGNAL(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
SIGNAL(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

#endif
