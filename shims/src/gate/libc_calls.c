/* Functions of the C library that the shim interposes: those by which a program makes a channel (channels.h),
 * and those that set signal masks. What the host library makes for itself does not count. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/origin.h"
#include "process/state.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

/* ---- memory ---- */

/* Anonymous private memory is this process's alone. A file shows what others write to it, even where it is
 * mapped privately. */
static bool is_shared(int flags) { return (flags & MAP_TYPE) != MAP_PRIVATE || !(flags & MAP_ANONYMOUS); }

/* Mappings are made by the system call itself: the allocator may call this before dlsym can be used. */

EK_ENTRY void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (EK_UNLIKELY(is_shared(flags)) && ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    if (EK_UNLIKELY(is_shared(flags)) && ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EK_ENTRY void *shmat(int id, const void *address, int flags)
{
    if (ek_is_program(EK_CALLER))
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
    if (ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "sem_open");
    EK_NEXT(sem_open);
    return next(name, flags, mode, value);
}

/* ---- threads ---- */

EK_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                            void *argument)
{
    if (ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_THREADS, "pthread_create");
    EK_NEXT(pthread_create);
    return next(thread, attributes, start, argument);
}

EK_ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_THREADS, "thrd_create");
    EK_NEXT(thrd_create);
    return next(thread, start, argument);
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
    EK_NEXT(sigprocmask);
    return next(how, without_sigsys(how, set, &reduced), old);
}

EK_ENTRY int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t reduced;
    EK_NEXT(pthread_sigmask);
    return next(how, without_sigsys(how, set, &reduced), old);
}

#endif
