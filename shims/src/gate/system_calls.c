#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "evenkeel.h"
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { FUTEX_PRIVATE = 128 };

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
};
/* clang-format on */
#undef N

const char *ek_system_call_name(long number)
{
    return number >= 0 && number < (long)(sizeof names / sizeof *names) && names[number]
               ? names[number]
               : "another system call";
}

bool ek_system_call_is_private(long number, const greg_t *r)
{
    switch (number) {
    case SYS_mmap: return (r[REG_R10] & MAP_ANONYMOUS) && (r[REG_R10] & MAP_TYPE) == MAP_PRIVATE;
    case SYS_madvise: return r[REG_RDX] != MADV_REMOVE;
    case SYS_futex: return r[REG_RSI] & FUTEX_PRIVATE;
    case SYS_rt_sigaction: return !r[REG_RSI]; /* only asks */
    case SYS_prlimit64: return !r[REG_RDX];
    case SYS_brk:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_rt_sigreturn:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_sched_yield:
    case SYS_sched_getaffinity:
    case SYS_getcpu:
    case SYS_arch_prctl:
    case SYS_set_tid_address:
    case SYS_set_robust_list:
    case SYS_getrandom:
    case SYS_uname:
    case SYS_getrusage:
    case SYS_getrlimit:
#ifdef SYS_rseq
    case SYS_rseq:
#endif
    case SYS_clock_getres:
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return true;
    /* As from the vdso, where they cannot be caught. */
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time: return true;
    default: return false;
    }
}

bool ek_system_call_opens_channel(long number, const greg_t *r, unsigned *channel)
{
    bool shares_pages = number == SYS_mmap && (r[REG_R10] & MAP_TYPE) != MAP_PRIVATE;
    if (shares_pages || number == SYS_shmat) {
        *channel = EK_CHANNEL_SHARED_MEMORY;
        return true;
    }
    *channel = EK_CHANNEL_THREADS;
    return number == SYS_clone && (r[REG_RDI] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
}

#endif
