#define _GNU_SOURCE
#include "gate/traps.h"
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/deferral.h"
#include "gate/kernel.h"
#include "gate/memory.h"
#include "gate/origin.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRAPS = 6, STACK_BYTES = 256 << 10 };
static const int traps[TRAPS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
static const char *const causes[TRAPS] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGABRT"};

static struct sigaction actions[TRAPS]; /* the program's or the host's */
static bool installed;
static volatile bool completing;
static char stack[STACK_BYTES]; /* for a fault that is an overflow of the stack */

static int index_of(int signal)
{
    for (int i = 0; i < TRAPS; i++)
        if (traps[i] == signal)
            return i;
    return -1;
}

bool ek_is_trap(int signal) { return index_of(signal) >= 0; }
bool ek_traps_own(int signal) { return installed && ek_is_trap(signal); }

static int set_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    EK_NEXT(sigaction);
    return next(signal, action, old);
}

/* The default action. A faulting instruction is executed again; other signals are sent again. */
static void take_default(int signal, const siginfo_t *info)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    set_action(signal, &none, NULL);
    if (info->si_code <= 0 || signal == SIGTRAP || signal == SIGABRT)
        ek_kernel(SYS_tgkill, getpid(), ek_kernel(SYS_gettid, 0, 0, 0, 0, 0, 0), signal, 0, 0, 0);
}

static void pass_on(int at, siginfo_t *info, void *context)
{
    const struct sigaction action = actions[at];
    bool was_sent = info->si_code <= 0;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && !was_sent)) {
        take_default(traps[at], info);
        return;
    }
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_flags & (int)SA_RESETHAND)
        actions[at].sa_handler = SIG_DFL;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(traps[at], info, context);
    else
        action.sa_handler(traps[at]);
}

static void handle_trap(int signal, siginfo_t *info, void *context)
{
    int at = index_of(signal), saved = errno;
    if (ek_deferred && !completing) {
        completing = true;
        ek_complete_without_locks(causes[at], false);
        completing = false;
        ek_gate_close_if_deferred();
    }
    ek_memory_leave_allocator();
    errno = saved;
    pass_on(at, info, context);
}

/* Handlers of the program's run on the stack that it has chosen. */
static int install(int at, struct sigaction *old)
{
    const struct sigaction *action = &actions[at];
    bool is_function = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    bool keeps_stack = is_function && ek_is_program((const void *)action->sa_sigaction);
    struct sigaction ours = {.sa_sigaction = handle_trap, .sa_mask = action->sa_mask};
    ours.sa_flags = SA_SIGINFO | (action->sa_flags & (SA_NODEFER | SA_RESTART | SA_ONSTACK));
    if (!keeps_stack)
        ours.sa_flags |= SA_ONSTACK;
    sigdelset(&ours.sa_mask, SIGSYS);
    return set_action(traps[at], &ours, old);
}

int ek_trap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    int at = index_of(signal);
    const struct sigaction before = actions[at];
    if (action)
        actions[at] = *action;
    if (old)
        *old = before;
    return action ? install(at, NULL) : 0;
}

void ek_traps_start(void)
{
    stack_t there, ours = {.ss_sp = stack, .ss_size = sizeof stack};
    if (!sigaltstack(NULL, &there) && (there.ss_flags & SS_DISABLE))
        sigaltstack(&ours, NULL);
    for (int at = 0; at < TRAPS; at++)
        if (!set_action(traps[at], NULL, &actions[at]))
            install(at, NULL);
    installed = true;
}

void ek_traps_stop(void)
{
    if (!installed)
        return;
    installed = false;
    for (int at = 0; at < TRAPS; at++)
        set_action(traps[at], &actions[at], NULL);
}

#endif
