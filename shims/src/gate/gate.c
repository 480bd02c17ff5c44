/* Syscall User Dispatch (Linux 5.11, x86-64): the kernel looks at the byte `ek_gate` on each system call of
 * this thread and, if it is set, sends SIGSYS instead. Calls from within [ek_gate_text, ek_gate_text_end) are
 * let through. Wrappers of MPI functions open the gate for the host library and close it again. */
#define _GNU_SOURCE
#include "gate/gate.h"
#include "evenkeel.h"
#include "gate/system_calls.h"
#include "gate/traps.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/deferral.h"
#include "gate/facts.h"
#include "gate/kernel.h"
#include "gate/memory.h"
#include "gate/uncaught.h"
#include "host/library.h"
#include "process/faults.h"
#include "process/state.h"
#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DISPATCH = 59, /* PR_SET_SYSCALL_USER_DISPATCH; older headers lack it */
    DISPATCH_OFF = 0,
    DISPATCH_ON = 1,
    BY_DISPATCH = 2,       /* SYS_USER_DISPATCH in si_code */
    INSTRUCTION_BYTES = 2, /* of `syscall`, `sysenter` and `int 0x80` */
};
static const unsigned long RESTORER_FLAG = 0x04000000; /* SA_RESTORER */

/* ---- the handler ---- */

static volatile int tries;        /* > 0: the gate is being tried; how often its call was caught, plus one */
static ek_kernel_action programs; /* what the program wants done on SIGSYS */

/* A SIGSYS that is not the gate's: the program's action. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (programs.handler && (void *)programs.handler != (void *)SIG_IGN) {
        programs.handler(signal, info, context);
    } else if (!programs.handler) { /* the default action, when this handler returns */
        ek_kernel_action none = {0};
        long thread = ek_gate_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
        ek_gate_syscall(SYS_rt_sigaction, SIGSYS, (long)&none, 0, EK_SIGNAL_SET_BYTES, 0, 0);
        ek_gate_syscall(SYS_tgkill, getpid(), thread, SIGSYS, 0, 0, 0);
    }
}

/* Returns to the same instruction. */
static void make_again(greg_t *r) { r[REG_RIP] -= INSTRUCTION_BYTES; }

static void make_private_call(long number, greg_t *r)
{
    long answer;
    switch (ek_memory_admit(number, r, &r[REG_RAX])) {
    case EK_ADMITTED:
        answer =
            ek_gate_syscall(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
        if (ek_memory_has_failed(number, r, answer))
            make_again(r);
        else
            r[REG_RAX] = answer;
        break;
    case EK_REFUSED: break;
    case EK_COMPLETED: make_again(r);
    }
}

static void handle(int signal, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int saved = errno;
    if (info->si_code != BY_DISPATCH) {
        pass_on(signal, info, context);
        return;
    }
    /* Through `int $0x80` a program calls the kernel of 32-bit programs, whose numbers are others. */
    const bool is_ours = info->si_arch == AUDIT_ARCH_X86_64;
    const long number = is_ours ? r[REG_RAX] : -1;
    if (tries) {
        tries++;
        ek_gate = 0;
        make_again(r);
        return;
    }
    if (number == SYS_rt_sigreturn) {
        /* A handler of the program's ends: its frame is where the stack pointer stands. */
        r[REG_RIP] = (greg_t)ek_gate_sigreturn;
    } else if (ek_system_call_is_private(number, r)) {
        make_private_call(number, r);
        if (!ek_memory_has_refused())
            ek_complete_if_entered(); /* to be caught takes microseconds; a program may make many calls */
    } else {
        unsigned channel;
        if (ek_system_call_opens_channel(number, r, &channel))
            ek_deferral_forbid(channel);
        ek_complete_deferred(ek_system_call_name(number), true); /* opens the gate */
        make_again(r);
    }
    errno = saved;
}

/* ---- installing it ---- */

/* An armed gate makes each system call a little slower: not before there is a barrier to be deferred. */
static bool set_dispatch(bool on)
{
    if (on)
        ek_gate_own();
    long error = on ? ek_gate_syscall(SYS_prctl, DISPATCH, DISPATCH_ON, (long)ek_gate_text,
                                      ek_gate_text_end - ek_gate_text, (long)&ek_gate, 0)
                    : ek_gate_syscall(SYS_prctl, DISPATCH, DISPATCH_OFF, 0, 0, 0, 0);
    return error == 0;
}

static bool install(void)
{
    ek_kernel_action ours = {
        .handler = handle, .flags = SA_SIGINFO | SA_NODEFER | RESTORER_FLAG, .restorer = ek_gate_restorer};
    const unsigned long only_sigsys = 1UL << (SIGSYS - 1);
    return !ek_kernel(SYS_rt_sigaction, SIGSYS, (long)&ours, (long)&programs, EK_SIGNAL_SET_BYTES, 0, 0) &&
           !ek_kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&only_sigsys, 0, EK_SIGNAL_SET_BYTES, 0, 0) &&
           set_dispatch(true);
}

static void uninstall(void)
{
    set_dispatch(false);
    ek_kernel(SYS_rt_sigaction, SIGSYS, (long)&programs, 0, EK_SIGNAL_SET_BYTES, 0, 0);
}

/* Whether the gate holds: a system call is caught, once, and has the right answer in the end. */
static bool try_gate(void)
{
    tries = 1;
    ek_gate = 1;
    long answer = ek_kernel(SYS_getppid, 0, 0, 0, 0, 0, 0);
    bool holds = !ek_gate && tries == 2 && answer == getppid();
    ek_gate = 0;
    tries = 0;
    return holds;
}

/* The same in a child process, which alone ends if something else of this process makes system calls while
 * the gate is closed: Valgrind and other programs that run this one instruction by instruction do. The child
 * is made without the C library's fork, whose hooks belong to the host, and ends without SIGCHLD. */
static bool try_gate_in_child(void)
{
    int status = 0;
    long child = ek_kernel(SYS_clone, 0, 0, 0, 0, 0, 0), ended;
    if (child == 0) {
        ek_kernel(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0); /* no core file */
        bool holds = install() && try_gate();
        ek_gate_syscall(SYS_exit_group, !holds, 0, 0, 0, 0, 0);
    }
    if (child < 0)
        return false;
    do
        ended = ek_kernel(SYS_wait4, child, (long)&status, __WALL, 0, 0, 0);
    while (ended == -EINTR);
    return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A process that was restored from a checkpoint has lost the gate, and so has a program that uses the
 * kernel's mechanism itself. It is set again. */
static void keep_gate(void)
{
    if (!try_gate() && !(set_dispatch(true) && try_gate()))
        ek_deferral_forbid(EK_CHANNEL_LOST_GATE);
}

/* What the engine calls; see ek_arming. */
static int arm(int how)
{
    static unsigned looks;
    enum { LOOKS_BETWEEN_THOROUGH_ONES = 64 };
    if (how == EK_ARMING_LOOK || how == EK_ARMING_ON)
        ek_facts_look(how == EK_ARMING_ON || ++looks % LOOKS_BETWEEN_THOROUGH_ONES == 0);
    if (how == EK_ARMING_LOOK)
        keep_gate();
    return how == EK_ARMING_LOOK || set_dispatch(how != EK_ARMING_OFF);
}

bool ek_gate_owns(int signal) { return ek_process.may_defer && signal == SIGSYS; }

void ek_gate_sigaction(const struct sigaction *action, struct sigaction *old)
{
    if (old) {
        memset(old, 0, sizeof *old);
        old->sa_sigaction = programs.handler; /* the same place as sa_handler */
        old->sa_flags = (int)(programs.flags & ~RESTORER_FLAG);
    }
    if (action) {
        programs.handler = action->sa_sigaction;
        programs.flags = (unsigned long)action->sa_flags;
    }
}

static void explain_strict_barriers(void)
{
    int rank = 0;
    ek_host.Comm_rank(ek_handles.world, &rank);
    if (rank == 0)
        ek_note("this kernel does not let a process catch its own system calls "
                "(prctl(PR_SET_SYSCALL_USER_DISPATCH), Linux 5.11), or a tool such as Valgrind runs the "
                "program, so barriers are strict; "
                "--barrier deferred defers them all the same, for programs that pass nothing by files or "
                "other means outside MPI");
}

void ek_deferral_start(void)
{
    uint32_t allowed = ek_allowed_deferral();
    if (allowed == EK_DEFERRAL_MODE_STRICT)
        return;
    ek_gate_own();
    ek_process.clock_is_free = ek_clock_is_free();
    if (!ek_gate_is_wanted()) {
        ek_process.closed_gate = 0;
        ek_deferral_open(NULL);
        return;
    }
    if (ek_process.has_devices) /* they write to memory that they share with it */
        ek_channel_will_open(EK_CHANNEL_SHARED_MEMORY);
    ek_channels_report();
    if (ek_host_reports_faults())
        ek_deferral_forbid(EK_CHANNEL_FAULTS);
    bool may_try = try_gate_in_child(), holds = may_try && install() && try_gate();
    if (!holds) {
        if (may_try)
            uninstall();
        if (allowed == EK_DEFERRAL_MODE_GATED) {
            explain_strict_barriers();
            return;
        }
    }
    if (holds)
        set_dispatch(false);
    ek_traps_start();
    ek_facts_look(true); /* the first look reads the symbols of all objects: here rather than at a barrier */
    ek_process.may_defer = true;
    ek_deferral_open(holds ? arm : NULL);
}

void ek_deferral_stop(void)
{
    if (!ek_process.may_defer)
        return;
    ek_process.may_defer = false;
    ek_deferral_close();
    ek_traps_stop();
    uninstall();
}

#else /* no gate on this architecture */

void ek_deferral_start(void)
{
    if (ek_allowed_deferral() == EK_DEFERRAL_MODE_ALWAYS)
        ek_note("deferred barriers need x86-64; barriers are strict");
}

void ek_deferral_stop(void) {}

#endif
