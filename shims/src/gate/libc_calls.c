/* Functions of the C library that the shim interposes: those by which a program makes a channel (channels.h),
 * and those by which it could disturb the gate. What the host library makes for itself does not count. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/gate.h"
#include "process/state.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* The next definition of a function, found at the first call. */
#define NEXT(name)                 \
    static __typeof__(name) *next; \
    if (!next)                     \
    next = (__typeof__(next))dlsym(RTLD_NEXT, #name)

/* Beginnings of the names of objects that belong to MPI: what they make is theirs. */
static const char *const mpi_objects[] = {
    "libevenkeel-", "libmpi", "libopen-", "libpmix",   "libprrte",   "libevent",  "libhwloc", "libucp",
    "libuct",       "libucs", "libucm",   "libfabric", "libpsm",     "libxpmem",  "libmunge", "mca_",
    "pmix_",        "prte_",  "ld-linux", "libcuda",   "libibverbs", "librdmacm", "libpmi",   NULL};

/* Whether the code at this address is the program's. */
static bool is_program(const void *address)
{
    Dl_info object;
    if (ek_depth)
        return false;
    if (!dladdr(address, &object) || !object.dli_fname)
        return true;
    const char *slash = strrchr(object.dli_fname, '/'), *name = slash ? slash + 1 : object.dli_fname;
    for (const char *const *prefix = mpi_objects; *prefix; prefix++)
        if (!strncmp(name, *prefix, strlen(*prefix)))
            return false;
    return true;
}

/* ---- memory ---- */

/* Anonymous private memory is this process's alone. A file shows what others write to it, even where it is
 * mapped privately. */
static bool is_shared(int flags) { return (flags & MAP_TYPE) != MAP_PRIVATE || !(flags & MAP_ANONYMOUS); }

/* Mappings are made by the system call itself: the allocator may call this before dlsym can be used. */

EK_ENTRY void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (EK_UNLIKELY(is_shared(flags)) && is_program(CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    if (EK_UNLIKELY(is_shared(flags)) && is_program(CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *shmat(int id, const void *address, int flags)
{
    if (is_program(CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "shmat");
    return (void *)syscall(SYS_shmat, id, address, flags);
}

EK_ENTRY sem_t *sem_open(const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    unsigned value = va_arg(rest, unsigned);
    va_end(rest);
    if (is_program(CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "sem_open");
    NEXT(sem_open);
    return next(name, flags, mode, value);
}

/* ---- threads ---- */

EK_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                            void *argument)
{
    if (is_program(CALLER))
        ek_channel_open(EK_CHANNEL_THREADS, "pthread_create");
    NEXT(pthread_create);
    return next(thread, attributes, start, argument);
}

EK_ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (is_program(CALLER))
        ek_channel_open(EK_CHANNEL_THREADS, "thrd_create");
    NEXT(thrd_create);
    return next(thread, start, argument);
}

/* ---- signal handlers ---- */

/* A handler runs whenever another process sends the signal, also while the program is inside MPI, where its
 * system calls are let through. That does not matter for signals that end the program or come from itself. */
static bool is_sent_by_others(int signal)
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
    NEXT(sigaction);
    if (ek_gate_owns(signal)) {
        ek_gate_sigaction(action, old);
        return 0;
    }
    if (!action)
        return next(signal, NULL, old);
    if (is_function(action->sa_handler) && is_sent_by_others(signal) && is_program(CALLER))
        ek_channel_open(EK_CHANNEL_SIGNALS, "sigaction");
    /* The system calls of a handler that runs while the gate is closed must be caught too. */
    struct sigaction unmasked = *action;
    sigdelset(&unmasked.sa_mask, SIGSYS);
    return next(signal, &unmasked, old);
}

static void note_handler(int signum, void (*handler)(int), const void *caller)
{
    if (is_function(handler) && is_sent_by_others(signum) && is_program(caller))
        ek_channel_open(EK_CHANNEL_SIGNALS, "signal");
}

EK_ENTRY __sighandler_t signal(int signum, __sighandler_t handler)
{
    if (ek_gate_owns(signum)) {
        struct sigaction action = {.sa_handler = handler}, old;
        ek_gate_sigaction(&action, &old);
        return old.sa_handler;
    }
    note_handler(signum, handler, CALLER);
    NEXT(signal);
    return next(signum, handler);
}

EK_ENTRY __sighandler_t bsd_signal(int signum, __sighandler_t handler)
{
    note_handler(signum, handler, CALLER);
    NEXT(bsd_signal);
    return next(signum, handler);
}

EK_ENTRY __sighandler_t sysv_signal(int signum, __sighandler_t handler)
{
    note_handler(signum, handler, CALLER);
    NEXT(sysv_signal);
    return next(signum, handler);
}

EK_ENTRY __sighandler_t __sysv_signal(int signum, __sighandler_t handler)
{
    note_handler(signum, handler, CALLER);
    NEXT(__sysv_signal);
    return next(signum, handler);
}

/* ---- signal masks ---- */

/* A thread that blocks SIGSYS would be ended by the kernel when a system call of its is caught. */
static const sigset_t *without_sigsys(int how, const sigset_t *set, sigset_t *reduced)
{
    if (!set || how == SIG_UNBLOCK || !ek_process.may_defer)
        return set;
    *reduced = *set;
    sigdelset(reduced, SIGSYS);
    return reduced;
}

EK_ENTRY int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t reduced;
    NEXT(sigprocmask);
    return next(how, without_sigsys(how, set, &reduced), old);
}

EK_ENTRY int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t reduced;
    NEXT(pthread_sigmask);
    return next(how, without_sigsys(how, set, &reduced), old);
}

#endif
