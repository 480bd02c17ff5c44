/* The gate: while barriers of this process are pending, its next system call is caught before the kernel sees
 * it, the barriers are completed, and the call is made after all. Nobody outside can then tell that they were
 * not complete.
 *
 * Syscall User Dispatch (Linux 5.11, x86-64): the kernel looks at the byte `ek_gate` on each system call of
 * this thread and, if it is set, sends SIGSYS instead. Calls from within [ek_gate_text, ek_gate_text_end)
 * pass. Wrappers of MPI functions open the gate for the host library and close it again. */
#define _GNU_SOURCE
#include "shim.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

int ek_defers;
uint8_t ek_gate_closed = 1;

#if defined(__x86_64__) && defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define DISPATCH 59 /* PR_SET_SYSCALL_USER_DISPATCH; older headers lack it */
#define DISPATCH_OFF 0
#define DISPATCH_ON 1
#define BY_DISPATCH 2 /* SYS_USER_DISPATCH in si_code */
#define FUTEX_PRIVATE 128
#define KERNEL_RESTORER 0x04000000

/* The system calls that are never caught. */
extern const char ek_gate_text[], ek_gate_text_end[], ek_gate_sigreturn[];
long ek_gate_syscall(long number, long a, long b, long c, long d, long e, long f);
void ek_gate_restorer(void);
__asm__(".pushsection .text\n"
        ".hidden ek_gate_text, ek_gate_text_end, ek_gate_sigreturn, ek_gate_syscall, ek_gate_restorer\n"
        ".globl ek_gate_text, ek_gate_text_end, ek_gate_sigreturn, ek_gate_syscall, ek_gate_restorer\n"
        ".balign 16\n"
        "ek_gate_text:\n"
        ".type ek_gate_syscall, @function\n"
        "ek_gate_syscall:\n"
        "    mov %rdi, %rax\n    mov %rsi, %rdi\n    mov %rdx, %rsi\n    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n    mov %r9, %r8\n    mov 8(%rsp), %r9\n    syscall\n    ret\n"
        ".type ek_gate_restorer, @function\n"
        "ek_gate_restorer:\n"
        "    mov $15, %eax\n"
        "ek_gate_sigreturn:\n"
        "    syscall\n    ud2\n"
        "ek_gate_text_end:\n"
        ".popsection\n");

/* The kernel's own layout of struct sigaction. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static const char *const names[] = {
#define N(call) [SYS_##call] = #call,
    N(read) N(write) N(open) N(close) N(stat) N(fstat) N(lstat) N(poll) N(lseek) N(mmap) N(ioctl) N(pread64)
        N(pwrite64) N(readv) N(writev) N(access) N(pipe) N(select) N(msync) N(shmget) N(shmat) N(shmctl) N(
            shmdt) N(dup) N(dup2) N(pause) N(getitimer) N(alarm) N(setitimer) N(sendfile) N(socket) N(connect)
            N(accept) N(sendto) N(recvfrom) N(sendmsg) N(recvmsg) N(shutdown) N(bind) N(listen) N(socketpair)
                N(clone) N(fork) N(vfork) N(execve) N(exit) N(wait4) N(kill) N(semget) N(semop) N(semctl)
                    N(msgget) N(msgsnd) N(msgrcv) N(msgctl) N(fcntl) N(flock) N(fsync) N(fdatasync)
                        N(truncate) N(ftruncate) N(getdents) N(getcwd) N(chdir) N(rename) N(mkdir) N(rmdir)
                            N(creat) N(link) N(unlink) N(symlink) N(readlink) N(chmod) N(futex) N(tgkill)
                                N(tkill) N(exit_group) N(epoll_wait) N(waitid) N(openat) N(mkdirat)
                                    N(newfstatat) N(unlinkat) N(renameat) N(linkat) N(symlinkat) N(readlinkat)
                                        N(faccessat) N(pselect6) N(ppoll) N(utimensat) N(timerfd_settime)
                                            N(fallocate) N(accept4) N(eventfd2) N(pipe2) N(inotify_init1)
                                                N(preadv) N(pwritev) N(process_vm_readv) N(process_vm_writev)
                                                    N(renameat2) N(memfd_create) N(copy_file_range) N(statx)
                                                        N(clone3) N(getdents64) N(rt_sigtimedwait)
                                                            N(rt_sigsuspend) N(rt_sigaction) N(io_uring_enter)
                                                                N(execveat) N(sync) N(mq_open) N(mq_timedsend)
                                                                    N(mq_timedreceive)
#undef N
};

static const char *name_of(long number)
{
    return number >= 0 && number < (long)(sizeof names / sizeof *names) && names[number]
               ? names[number]
               : "another system call";
}

/* Whether a system call concerns this process alone: nobody else can see it, and it shows nothing of what
 * others did. The allocator's calls are among them, which matters: the caller holds its locks. (Calls that
 * change the signal mask or stack are not: made from within the handler they would last until its end.) */
static bool is_private(long number, const greg_t *r)
{
    switch (number) {
    case SYS_mmap: return (r[REG_R10] & MAP_ANONYMOUS) && (r[REG_R10] & MAP_TYPE) == MAP_PRIVATE;
    case SYS_madvise: return r[REG_RDX] != MADV_REMOVE;
    case SYS_futex: return r[REG_RSI] & FUTEX_PRIVATE;
    case SYS_rt_sigaction: return !r[REG_RSI]; /* asks only */
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
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time: /* as from the vdso, which cannot be caught */ return true;
    default: return false;
    }
}

/* Channels that stay open without further system calls. */
static void note_channel(long number, const greg_t *r)
{
    bool from_file = number == SYS_mmap && !is_private(number, r);
    /* A program's own mapping comes through `mmap`, see channels.c; what is seen here are the loader's, of
     * libraries. */
    if ((from_file && (r[REG_R10] & MAP_TYPE) != MAP_PRIVATE) || number == SYS_shmat)
        ek_deferral_forbid(EK_SHARED_MEMORY);
    else if ((number == SYS_clone && (r[REG_RDI] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM))
        ek_deferral_forbid(EK_THREADS);
}

static volatile int trying;           /* how often the first test was caught */
static struct kernel_action programs; /* what the program wanted done on SIGSYS */

static void caught(int signal, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int saved = errno;
    if (info->si_code != BY_DISPATCH) {
        if (programs.handler && (void *)programs.handler != (void *)SIG_IGN) {
            programs.handler(signal, info, context);
        } else if (!programs.handler) { /* the default action, when this handler returns */
            struct kernel_action as_before = {0};
            ek_gate_syscall(SYS_rt_sigaction, SIGSYS, (long)&as_before, 0, 8, 0, 0);
            ek_gate_syscall(SYS_tgkill, getpid(), ek_gate_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGSYS, 0, 0,
                            0);
        }
        return;
    }
    long number = r[REG_RAX];
    if (trying) {
        trying++;
        ek_gate = 0;
        r[REG_RIP] -= 2;
        return;
    }
    if (is_private(number, r)) {
        if (number == SYS_rt_sigreturn) /* a handler of the program's ends: its frame is where the stack
                                           pointer stands */
            r[REG_RIP] = (greg_t)ek_gate_sigreturn;
        else
            r[REG_RAX] =
                ek_gate_syscall(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
        errno = saved;
        return;
    }
    note_channel(number, r);
    ek_observed(name_of(number), 1); /* opens the gate */
    r[REG_RIP] -=
        2; /* once more, the same instruction: `syscall`, `sysenter` and `int 0x80` have two bytes */
    errno = saved;
}

/* An armed gate makes each system call a little slower: not before there is a barrier to be deferred. */
static int arm(int wanted)
{
    long error = wanted ? ek_gate_syscall(SYS_prctl, DISPATCH, DISPATCH_ON, (long)ek_gate_text,
                                          ek_gate_text_end - ek_gate_text, (long)&ek_gate, 0)
                        : ek_gate_syscall(SYS_prctl, DISPATCH, DISPATCH_OFF, 0, 0, 0, 0);
    return error == 0;
}

static bool install(void)
{
    struct kernel_action mine = {
        .handler = caught, .flags = SA_SIGINFO | SA_NODEFER | KERNEL_RESTORER, .restorer = ek_gate_restorer};
    sigset_t just_it;
    sigemptyset(&just_it);
    sigaddset(&just_it, SIGSYS);
    return !syscall(SYS_rt_sigaction, SIGSYS, &mine, &programs, 8) &&
           !sigprocmask(SIG_UNBLOCK, &just_it, NULL) && arm(1);
}

/* Whether the gate holds. */
static bool try_gate(void)
{
    trying = 1;
    ek_gate = 1;
    long answer = syscall(SYS_getppid);
    bool holds = !ek_gate && trying == 2 && answer == getppid();
    ek_gate = 0;
    trying = 0;
    return holds;
}

static void remove_gate(void)
{
    arm(0);
    syscall(SYS_rt_sigaction, SIGSYS, &programs, NULL, 8);
}

bool ek_gate_owns(int signal) { return ek_defers && signal == SIGSYS; }

/* The program sets or asks for its action on SIGSYS while that is ours. */
int ek_gate_sigaction(const struct sigaction *action, struct sigaction *old)
{
    if (old) {
        memset(old, 0, sizeof *old);
        old->sa_sigaction = programs.handler; /* the same place as sa_handler */
        old->sa_flags = (int)(programs.flags & ~(unsigned long)KERNEL_RESTORER);
    }
    if (action) {
        programs.handler = action->sa_sigaction;
        programs.flags = (unsigned long)action->sa_flags;
    }
    return 0;
}

void ek_gate_open_world(void)
{
    int wanted = ek_deferral_wanted();
    if (!wanted)
        return;
    if (!ek_gate_wanted()) {
        ek_gate_closed = 0;
        ek_deferral_open(NULL);
        return;
    }
    ek_channels_forbid();
    if (ek_handles_faults())
        ek_deferral_forbid(EK_FAULTS);
    bool holds = install() && try_gate();
    if (!holds) {
        remove_gate();
        if (wanted == 1) {
            int rank = 0;
            ek_host.Comm_rank(ek_handles.world, &rank);
            if (rank == 0)
                ek_note("this kernel does not let a process catch its own system calls "
                        "(prctl(PR_SET_SYSCALL_USER_DISPATCH), Linux "
                        "5.11), so barriers are strict; --barrier deferred defers them all the same, for "
                        "programs that pass "
                        "nothing by files or other means outside MPI");
            return;
        }
    }
    if (holds)
        arm(0);
    ek_defers = 1;
    ek_deferral_open(holds ? arm : NULL);
}

void ek_gate_close_world(void)
{
    if (!ek_defers)
        return;
    ek_defers = 0;
    ek_deferral_close();
    remove_gate();
}

#else /* no gate on this architecture */

void ek_gate_open_world(void)
{
    if (ek_deferral_wanted() == 2)
        ek_note("deferred barriers need x86-64; barriers are strict");
}
void ek_gate_close_world(void) {}

#endif

/* ---- requests of the host's that are not complete ---- */

/* A strict barrier would move them on while it waits; a deferred one does not, and somebody may be waiting
 * for that. */
int ek_host_requests;
struct ek_last ek_last_barrier;

void ek_observe_wtime(void)
{
    static int is_free = -1;
    if (is_free < 0)
        is_free = ek_free_clock();
    if (!is_free)
        ek_observed("MPI_Wtime", 0);
}
