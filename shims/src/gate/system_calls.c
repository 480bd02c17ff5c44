#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "process/state.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define N(call) [SYS_##call] = #call,
/* clang-format off */
static const char *const names[] = {
    N(read) N(write) N(open) N(close) N(stat) N(fstat) N(lstat) N(poll) N(lseek) N(mmap) N(ioctl)
    N(pread64) N(pwrite64) N(readv) N(writev) N(access) N(pipe) N(select) N(msync)
    N(shmget) N(shmat) N(shmctl) N(shmdt) N(dup) N(dup2) N(pause) N(getitimer) N(alarm) N(setitimer)
    N(sendfile) N(socket) N(connect) N(accept) N(sendto) N(recvfrom) N(sendmsg) N(recvmsg)
    N(shutdown) N(bind) N(listen) N(socketpair) N(clone) N(fork) N(vfork) N(execve) N(exit) N(wait4)
    N(kill) N(semget) N(semop) N(semctl) N(msgget) N(msgsnd) N(msgrcv) N(msgctl)
    N(fcntl) N(flock) N(fsync) N(fdatasync) N(truncate) N(ftruncate) N(getdents) N(getcwd) N(chdir)
    N(rename) N(mkdir) N(rmdir) N(creat) N(link) N(unlink) N(symlink) N(readlink) N(chmod)
    N(futex) N(tgkill) N(tkill) N(exit_group) N(epoll_wait) N(waitid)
    N(openat) N(mkdirat) N(newfstatat) N(unlinkat) N(renameat) N(linkat) N(symlinkat) N(readlinkat)
    N(faccessat) N(pselect6) N(ppoll) N(utimensat) N(timerfd_settime) N(fallocate) N(accept4)
    N(eventfd2) N(pipe2) N(inotify_init1) N(preadv) N(pwritev) N(process_vm_readv) N(process_vm_writev)
    N(renameat2) N(memfd_create) N(copy_file_range) N(statx) N(clone3) N(getdents64)
    N(rt_sigtimedwait) N(rt_sigsuspend) N(rt_sigaction) N(io_uring_enter) N(execveat) N(sync)
    N(mq_open) N(mq_timedsend) N(mq_timedreceive)
    N(getrlimit) N(setrlimit) N(prlimit64) N(getrusage) N(times) N(uname) N(sysinfo) N(madvise) N(mremap)
    N(mlock) N(mprotect) N(brk) N(prctl) N(arch_prctl) N(getrandom) N(rt_sigprocmask) N(rt_sigpending)
    N(clock_gettime) N(gettimeofday) N(time) N(clock_nanosleep) N(clock_getres) N(nanosleep)
    N(sched_getaffinity) N(sched_setaffinity) N(getppid) N(getpgid) N(getsid) N(getpriority) N(setpriority)
    N(umask) N(timer_create) N(timer_settime) N(io_setup) N(io_submit) N(mq_notify) N(eventfd) N(membarrier)
    N(setuid) N(setpgid) N(setsid) N(sched_yield) N(munmap) N(set_robust_list)
};
/* clang-format on */
#undef N

const char *ek_system_call_name(long number)
{
    return number >= 0 && number < (long)(sizeof names / sizeof *names) && names[number]
               ? names[number]
               : "another system call";
}

/* ---- what may be made while barriers are pending ----
 *
 * This is a list of what is allowed. Whatever is not on it completes pending barriers first. A call is on it
 * only if no other process can notice it and its answer depends on nothing that another process may change.
 * So it has no call that names another process or that reads what another process may set: limits, the
 * affinity, the host's name, the process group. Nor has it calls that take from what processes share: locked
 * memory, huge pages, hard random numbers.
 *
 * Allocators make some of these calls while they hold their locks (brk, mmap, munmap, mremap, mprotect,
 * madvise, prctl, futex, sched_yield, getcpu, getrandom). They must stay here: completing barriers allocates.
 * By some of them the process grows: see memory.h.
 */

enum {
    FUTEX_OPTIONS = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME,
    FUTEX_LAST = FUTEX_CMP_REQUEUE_PI,
    RANDOM_FROM_POOL = 2,     /* GRND_RANDOM */
    NAME_MEMORY = 0x53564d41, /* PR_SET_VMA */
    FIRST_BASE_CALL = 0x1001, /* ARCH_SET_GS */
    LAST_BASE_CALL = 0x1004,  /* ARCH_GET_GS */
    FIXED_AND_NEW = 0x100000, /* MAP_FIXED_NOREPLACE */
    IO_URING_SETUP = 425,     /* older headers lack it, and the next one */
    CLONE3 = 435,
};

/* Anonymous memory of this process alone. Locked memory and huge pages come from what all processes share. */
static bool is_own_mapping(greg_t flags)
{
    const greg_t plain = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_STACK | MAP_32BIT |
                         MAP_GROWSDOWN | FIXED_AND_NEW;
    return (flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE && !(flags & ~plain);
}

/* With an old size of 0 it makes a second mapping of the same, possibly shared, pages. */
static bool is_own_move(const greg_t *r)
{
    return r[REG_RSI] != 0 && !(r[REG_R10] & ~(greg_t)(MREMAP_MAYMOVE | MREMAP_FIXED));
}

/* Not on the list: pages that are taken out of a file, marked as broken, looked for in other processes, or
 * read in. */
static bool is_own_advice(int advice)
{
    switch (advice) {
    case MADV_NORMAL:
    case MADV_DONTNEED:
    case MADV_FREE:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_DONTDUMP:
    case MADV_DODUMP: return true;
    default: return false;
    }
}

/* Whether this futex operation waits, and no longer than some time. */
static bool is_timed_futex(int command, greg_t timeout)
{
    return timeout && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
                       command == FUTEX_WAIT_REQUEUE_PI);
}

/* A futex that only threads of this process use. Programs with several threads have strict barriers. */
static bool is_own_futex(int operation, greg_t timeout)
{
    int command = operation & ~FUTEX_OPTIONS;
    return (operation & FUTEX_PRIVATE_FLAG) && command >= 0 && command <= FUTEX_LAST && command != FUTEX_FD &&
           (ek_process.clock_is_free || !is_timed_futex(command, timeout));
}

/* The clocks of the machine and of this process. Other numbers stand for clocks of other processes, of
 * devices, or clocks that wake the machine. */
static bool is_own_clock(int clock)
{
    return (clock >= CLOCK_REALTIME && clock <= CLOCK_BOOTTIME) || clock == CLOCK_TAI;
}

bool ek_system_call_is_private(long number, const greg_t *r)
{
    switch (number) {
    /* This process's own memory. What it shares with others makes barriers strict (channels.h). */
    case SYS_mmap: return is_own_mapping(r[REG_R10]);
    case SYS_mremap: return is_own_move(r);
    case SYS_madvise: return is_own_advice((int)r[REG_RDX]);
    case SYS_brk:
    case SYS_munmap:
    case SYS_mprotect: return true;
    case SYS_prctl:
        return (int)r[REG_RDI] == NAME_MEMORY && !r[REG_RSI]; /* a name for a mapping of its own */
    /* Waiting for threads of its own. To wait for time is to read the clock: what follows comes later than
     * the barrier by at least that time. */
    case SYS_futex: return is_own_futex((int)r[REG_RSI], r[REG_R10]);
    case SYS_sched_yield: return true;
    case SYS_nanosleep: return ek_process.clock_is_free;
    case SYS_clock_nanosleep: return ek_process.clock_is_free && is_own_clock((int)r[REG_RDI]);
    /* What no other process can change. */
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid: return true;
    case SYS_rt_sigaction: return !r[REG_RSI]; /* only asks for its own handler */
    case SYS_arch_prctl: return r[REG_RDI] >= FIRST_BASE_CALL && r[REG_RDI] <= LAST_BASE_CALL; /* registers */
    case SYS_getrandom: return !(r[REG_RDX] & RANDOM_FROM_POOL);
    /* What it has used itself. Of its children it is known only after a wait, which is not on this list. */
    case SYS_getrusage: return (int)r[REG_RDI] == RUSAGE_SELF || (int)r[REG_RDI] == RUSAGE_THREAD;
    case SYS_getcpu: return true; /* as from the vdso, where it cannot be caught */
    case SYS_clock_getres: return is_own_clock((int)r[REG_RDI]);
    /* Programs mostly read the clock without a system call: see clocks.c. */
    case SYS_gettimeofday:
    case SYS_time: return ek_process.clock_is_free;
    case SYS_clock_gettime:
        return is_own_clock((int)r[REG_RDI]) &&
               (ek_process.clock_is_free || !ek_clock_is_shared((int)r[REG_RDI]));
    default: return false;
    }
}

/* Whether it makes a process or a thread that shares this one's memory and runs beside it. */
static bool makes_thread(long number, const greg_t *r)
{
    greg_t flags = 0;
    if (number == SYS_clone)
        flags = r[REG_RDI];
    if (number == CLONE3 && r[REG_RDI])
        flags = *(const greg_t *)r[REG_RDI]; /* the first member of struct clone_args */
    return (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
}

bool ek_system_call_opens_channel(long number, const greg_t *r, unsigned *channel)
{
    bool shares_pages = number == SYS_mmap && (r[REG_R10] & MAP_TYPE) != MAP_PRIVATE;
    if (shares_pages || number == SYS_shmat) {
        *channel = EK_CHANNEL_SHARED_MEMORY;
        return true;
    }
    *channel = EK_CHANNEL_THREADS;
    /* In a ring the kernel tells the program of others without a call. */
    return number == SYS_io_setup || number == IO_URING_SETUP || makes_thread(number, r);
}

#endif
