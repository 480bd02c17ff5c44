/* Ways by which a program shares memory or control with others without asking the kernel each time: mappings,
 * semaphores, threads, signal handlers. They are noticed when they are made, and from then on barriers are
 * strict. What the host library makes for itself does not count. */
#define _GNU_SOURCE
#include "shim.h"

#if defined(__x86_64__) && defined(__linux__)
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define EK_ENTRY __attribute__((visibility("default")))
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

static _Atomic unsigned made; /* one bit a reason */

/* Objects that belong to MPI: what they make is theirs. */
static const char *const hosts[] = {
    "libevenkeel-", "libmpi", "libopen-", "libpmix",   "libprrte",   "libevent",  "libhwloc", "libucp",
    "libuct",       "libucs", "libucm",   "libfabric", "libpsm",     "libxpmem",  "libmunge", "mca_",
    "pmix_",        "prte_",  "ld-linux", "libcuda",   "libibverbs", "librdmacm", "libpmi",   NULL};

static bool from_program(const void *address)
{
    Dl_info it;
    if (ek_depth || !dladdr(address, &it) || !it.dli_fname)
        return !ek_depth;
    const char *slash = strrchr(it.dli_fname, '/'), *name = slash ? slash + 1 : it.dli_fname;
    for (const char *const *h = hosts; *h; h++)
        if (!strncmp(name, *h, strlen(*h)))
            return false;
    return true;
}

static void appeared(int reason, const char *how)
{
    atomic_fetch_or(&made, 1u << reason);
    if (ek_gate)
        ek_observed(how, 0);
    if (ek_defers)
        ek_deferral_forbid((uint32_t)reason);
}

void ek_channels_forbid(void)
{
    for (int reason = 0; reason < EK_CHANNELS; reason++)
        if (atomic_load(&made) & 1u << reason)
            ek_deferral_forbid((uint32_t)reason);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

/* ---- memory ---- */

/* Anonymous private memory is nobody else's. A file shows what others write to it, even where it is mapped
 * privately. */
static bool is_shared(int flags) { return (flags & MAP_TYPE) != MAP_PRIVATE || !(flags & MAP_ANONYMOUS); }

EK_ENTRY void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    /* By the system call itself: the allocator may call this before dlsym can be used. */
    if (EK_UNLIKELY(is_shared(flags)) && from_program(CALLER))
        appeared(EK_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    if (EK_UNLIKELY(is_shared(flags)) && from_program(CALLER))
        appeared(EK_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *shmat(int id, const void *address, int flags)
{
    if (from_program(CALLER))
        appeared(EK_SHARED_MEMORY, "shmat");
    return (void *)syscall(SYS_shmat, id, address, flags);
}

EK_ENTRY sem_t *sem_open(const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    unsigned value = va_arg(rest, unsigned);
    va_end(rest);
    if (from_program(CALLER))
        appeared(EK_SHARED_MEMORY, "sem_open");
    static __typeof__(sem_open) *real;
    if (!real)
        real = (__typeof__(real))next("sem_open");
    return real(name, flags, mode, value);
}

/* ---- threads ---- */

EK_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                            void *argument)
{
    if (from_program(CALLER))
        appeared(EK_THREADS, "pthread_create");
    static __typeof__(pthread_create) *real;
    if (!real)
        real = (__typeof__(real))next("pthread_create");
    return real(thread, attributes, start, argument);
}

EK_ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (from_program(CALLER))
        appeared(EK_THREADS, "thrd_create");
    static __typeof__(thrd_create) *real;
    if (!real)
        real = (__typeof__(real))next("thrd_create");
    return real(thread, start, argument);
}

/* ---- signals ---- */

/* A handler runs whenever another process says so, also while the program is inside MPI, where its system
 * calls pass. That does not matter for signals that end the program or come from itself. */
static bool brings_news(int signal)
{
    switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
    case SIGIO:
    case SIGCHLD:
    case SIGURG:
    case SIGCONT: return true;
    default: return signal >= SIGRTMIN;
    }
}

static bool is_function(void (*handler)(int))
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR;
}

EK_ENTRY int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    static __typeof__(sigaction) *real;
    if (!real)
        real = (__typeof__(real))next("sigaction");
    if (ek_gate_owns(signal))
        return ek_gate_sigaction(action, old);
    if (!action)
        return real(signal, NULL, old);
    if (is_function(action->sa_handler) && brings_news(signal) && from_program(CALLER))
        appeared(EK_SIGNALS, "sigaction");
    /* A handler that runs while the gate is closed must be able to be caught. */
    struct sigaction mine = *action;
    sigdelset(&mine.sa_mask, SIGSYS);
    return real(signal, &mine, old);
}

static __typeof__(signal) *handled(int signum, void (*handler)(int), const void *caller, const char *name)
{
    if (is_function(handler) && brings_news(signum) && from_program(caller))
        appeared(EK_SIGNALS, "signal");
    return (__typeof__(signal) *)next(name);
}

EK_ENTRY __sighandler_t signal(int signum, __sighandler_t handler)
{
    if (ek_gate_owns(signum)) {
        struct sigaction action = {.sa_handler = handler}, old;
        ek_gate_sigaction(&action, &old);
        return old.sa_handler;
    }
    return handled(signum, handler, CALLER, "signal")(signum, handler);
}

EK_ENTRY __sighandler_t bsd_signal(int signum, __sighandler_t handler)
{
    return handled(signum, handler, CALLER, "bsd_signal")(signum, handler);
}

EK_ENTRY __sighandler_t sysv_signal(int signum, __sighandler_t handler)
{
    return handled(signum, handler, CALLER, "sysv_signal")(signum, handler);
}

EK_ENTRY __sighandler_t __sysv_signal(int signum, __sighandler_t handler)
{
    return handled(signum, handler, CALLER, "__sysv_signal")(signum, handler);
}

/* A thread that blocks SIGSYS would be ended by the kernel when it is caught. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *mine)
{
    if (!set || how == SIG_UNBLOCK || !ek_defers)
        return set;
    *mine = *set;
    sigdelset(mine, SIGSYS);
    return mine;
}

EK_ENTRY int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t mine;
    static __typeof__(sigprocmask) *real;
    if (!real)
        real = (__typeof__(real))next("sigprocmask");
    return real(how, without_ours(how, set, &mine), old);
}

EK_ENTRY int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t mine;
    static __typeof__(pthread_sigmask) *real;
    if (!real)
        real = (__typeof__(real))next("pthread_sigmask");
    return real(how, without_ours(how, set, &mine), old);
}

/* ---- windows ---- */

static _Atomic int windows;

void ek_window_made(void)
{
    atomic_fetch_add(&windows, 1);
    if (ek_defers)
        ek_deferral_forbid(EK_WINDOWS);
}

void ek_window_freed(void)
{
    if (atomic_fetch_sub(&windows, 1) == 1 && ek_defers)
        ek_deferral_permit(EK_WINDOWS);
}

#else

void ek_channels_forbid(void) {}
void ek_window_made(void) {}
void ek_window_freed(void) {}

#endif
