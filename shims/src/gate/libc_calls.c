/* Functions of the C library that the shim interposes: those by which a program makes a channel (channels.h),
 * and those that set signal masks. What the host library makes for itself does not count. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/deferral.h"
#include "gate/facts.h"
#include "gate/kernel.h"
#include "gate/memory.h"
#include "gate/origin.h"
#include "process/state.h"
#include <aio.h>
#include <dlfcn.h>
#include <malloc.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* ---- memory ---- */

/* Mappings are made by the system call itself: the allocator may call this before dlsym can be used. */

EK_ENTRY void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (EK_UNLIKELY(ek_mapping_is_shared(flags)) && ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)ek_kernel_or_errno(SYS_mmap, (long)address, (long)bytes, protection, flags, fd, offset);
}

EK_ENTRY void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    if (EK_UNLIKELY(ek_mapping_is_shared(flags)) && ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "mmap");
    return (void *)ek_kernel_or_errno(SYS_mmap, (long)address, (long)bytes, protection, flags, fd, offset);
}

EK_ENTRY void *shmat(int id, const void *address, int flags)
{
    if (ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "shmat");
    return (void *)ek_kernel_or_errno(SYS_shmat, id, (long)address, flags, 0, 0, 0);
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

/* With an m in the mode the C library maps the file, by a call of its own. */
#define OPENS_STREAM(name, parameters, arguments)                       \
    EK_ENTRY FILE *name parameters                                      \
    {                                                                   \
        if (EK_UNLIKELY(strchr(mode, 'm')) && ek_is_program(EK_CALLER)) \
            ek_channel_open(EK_CHANNEL_SHARED_MEMORY, #name);           \
        EK_NEXT(name);                                                  \
        return next arguments;                                          \
    }
OPENS_STREAM(fopen, (const char *restrict path, const char *restrict mode), (path, mode))
OPENS_STREAM(fopen64, (const char *restrict path, const char *restrict mode), (path, mode))
OPENS_STREAM(fdopen, (int file, const char *mode), (file, mode))
OPENS_STREAM(freopen, (const char *restrict path, const char *restrict mode, FILE *restrict stream),
             (path, mode, stream))
OPENS_STREAM(freopen64, (const char *restrict path, const char *restrict mode, FILE *restrict stream),
             (path, mode, stream))

/* A second C library, whose functions are not interposed. */
EK_ENTRY void *dlmopen(Lmid_t space, const char *path, int mode)
{
    if (ek_is_program(EK_CALLER))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "dlmopen");
    EK_NEXT(dlmopen);
    return next(space, path, mode);
}

EK_ENTRY int madvise(void *address, size_t bytes, int advice)
{
    if (EK_UNLIKELY(ek_gives_back(advice)) && ek_is_program(EK_CALLER))
        ek_memory_given_back(bytes);
    return (int)ek_kernel_or_errno(SYS_madvise, (long)address, (long)bytes, advice, 0, 0, 0);
}

EK_ENTRY int malloc_trim(size_t rest)
{
    if (ek_is_program(EK_CALLER))
        ek_memory_given_back(SIZE_MAX);
    EK_NEXT(malloc_trim);
    return next(rest);
}

/* ---- threads ---- */

static void note_thread(const void *caller, const char *how)
{
    if (ek_is_program(caller))
        ek_channel_open(EK_CHANNEL_THREADS, how);
    else
        ek_facts_note_host_thread();
}

EK_ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                            void *argument)
{
    note_thread(EK_CALLER, "pthread_create");
    EK_NEXT(pthread_create);
    return next(thread, attributes, start, argument);
}

EK_ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    note_thread(EK_CALLER, "thrd_create");
    EK_NEXT(thrd_create);
    return next(thread, start, argument);
}

/* A process that shares this one's memory is as good as a thread, but not among its threads. */
EK_ENTRY int clone(int (*start)(void *), void *stack, int flags, void *argument, ...)
{
    va_list rest;
    va_start(rest, argument);
    pid_t *parent = va_arg(rest, pid_t *);
    void *storage = va_arg(rest, void *);
    pid_t *child = va_arg(rest, pid_t *);
    va_end(rest);
    if ((flags & CLONE_VM) && !(flags & CLONE_VFORK))
        note_thread(EK_CALLER, "clone");
    EK_NEXT(clone);
    return next(start, stack, flags, argument, parent, storage, child);
}

/* ---- functions of the C library that make threads of its own, or let the kernel work by itself ---- */

/* `makes` says whether this call does. */
#define MAKES_THREAD(returns, name, parameters, arguments, makes) \
    EK_ENTRY returns name parameters                              \
    {                                                             \
        if ((makes) && ek_is_program(EK_CALLER))                  \
            ek_channel_open(EK_CHANNEL_THREADS, #name);           \
        EK_NEXT(name);                                            \
        return next arguments;                                    \
    }
MAKES_THREAD(int, aio_read, (struct aiocb * block), (block), true)
MAKES_THREAD(int, aio_write, (struct aiocb * block), (block), true)
MAKES_THREAD(int, aio_fsync, (int how, struct aiocb *block), (how, block), true)
MAKES_THREAD(int, aio_read64, (struct aiocb64 * block), (block), true)
MAKES_THREAD(int, aio_write64, (struct aiocb64 * block), (block), true)
MAKES_THREAD(int, aio_fsync64, (int how, struct aiocb64 *block), (how, block), true)
MAKES_THREAD(int, lio_listio, (int mode, struct aiocb *const list[], int count, struct sigevent *event),
             (mode, list, count, event), true)
MAKES_THREAD(int, lio_listio64, (int mode, struct aiocb64 *const list[], int count, struct sigevent *event),
             (mode, list, count, event), true)
MAKES_THREAD(int, getaddrinfo_a, (int mode, struct gaicb *list[], int count, struct sigevent *event),
             (mode, list, count, event), true)
MAKES_THREAD(int, timer_create, (clockid_t clock, struct sigevent *event, timer_t *timer),
             (clock, event, timer), event && event->sigev_notify == SIGEV_THREAD)
MAKES_THREAD(int, mq_notify, (mqd_t queue, const struct sigevent *event), (queue, event),
             event && event->sigev_notify == SIGEV_THREAD)

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

/* To be called when this thread's mask may have changed. */
static int note_mask(int answer)
{
    if (ek_process.may_defer && ek_gate_is_own())
        ek_facts_look_at_mask();
    return answer;
}

EK_ENTRY int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t reduced;
    EK_NEXT(sigprocmask);
    return note_mask(next(how, without_sigsys(how, set, &reduced), old));
}

EK_ENTRY int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t reduced;
    EK_NEXT(pthread_sigmask);
    return note_mask(next(how, without_sigsys(how, set, &reduced), old));
}

/* The same in forms of old, which programs still call. A mask has a bit for each of the first 32 signals. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static int mask_without_sigsys(int mask) { return ek_process.may_defer ? mask & ~(1 << (SIGSYS - 1)) : mask; }

EK_ENTRY int sighold(int signal)
{
    EK_NEXT(sighold);
    return ek_process.may_defer && signal == SIGSYS ? 0 : note_mask(next(signal));
}

EK_ENTRY int sigrelse(int signal)
{
    EK_NEXT(sigrelse);
    return note_mask(next(signal));
}

EK_ENTRY int sigblock(int mask)
{
    EK_NEXT(sigblock);
    return note_mask(next(mask_without_sigsys(mask)));
}

EK_ENTRY int sigsetmask(int mask)
{
    EK_NEXT(sigsetmask);
    return note_mask(next(mask_without_sigsys(mask)));
}

/* ---- affinities ----
 *
 * A waiting rank may change its own for some microseconds, to get to another core. It does not if the program
 * sets affinities. */

EK_ENTRY int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set)
{
    if (ek_is_program(EK_CALLER))
        ek_affinity_is_set();
    EK_NEXT(sched_setaffinity);
    return next(process, bytes, set);
}

EK_ENTRY int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    if (ek_is_program(EK_CALLER))
        ek_affinity_is_set();
    EK_NEXT(pthread_setaffinity_np);
    return next(thread, bytes, set);
}

#endif
