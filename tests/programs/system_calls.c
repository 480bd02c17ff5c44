/* Makes system calls while a barrier is pending, each the same number of times.
 *
 *   system_calls which=private|noticed [rounds=20]
 *
 * private: calls that no other process can notice; reads the clock, too, which --clock free permits. noticed:
 * calls that name another process, that others can notice, or whose answer another process can change; among
 * them private ones with other arguments. The calls themselves may fail. Whether they completed the barrier
 * is in evenkeel's report. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* glibc answers some calls without the kernel, and the vdso answers clocks. */
static long kernel(long number, long a, long b, long c, long d)
{
    long answer;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = -1;
    register long r9 __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

enum { PAGE = 4096, ARCH_GET_FS_BASE = 0x1003, ARCH_GET_CPUID_FAULTS = 0x1011, POPULATE_READ = 22 };
static int word;
static char *page;
static int peer; /* another rank's process id */
static char answer[4096];
static struct timespec moment = {0, 1};

static long map(long bytes, int flags)
{
    return kernel(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags);
}

static void make_private_calls(void)
{
    long a = (long)answer, there = map(PAGE, 0);
    kernel(SYS_mprotect, there, PAGE, PROT_READ, 0);
    there = kernel(SYS_mremap, there, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    kernel(SYS_madvise, there, PAGE, MADV_DONTNEED, 0);
    kernel(SYS_munmap, there, 2 * PAGE, 0, 0);
    kernel(SYS_brk, 0, 0, 0, 0);
    kernel(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
    kernel(SYS_sched_yield, 0, 0, 0, 0);
    kernel(SYS_nanosleep, (long)&moment, 0, 0, 0);
    kernel(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&moment, 0);
    kernel(SYS_getpid, 0, 0, 0, 0);
    kernel(SYS_gettid, 0, 0, 0, 0);
    kernel(SYS_geteuid, 0, 0, 0, 0);
    kernel(SYS_rt_sigaction, SIGUSR1, 0, a, 8);
    kernel(SYS_arch_prctl, ARCH_GET_FS_BASE, a, 0, 0);
    kernel(SYS_getrandom, a, 8, 0, 0);
    kernel(SYS_getrusage, RUSAGE_SELF, a, 0, 0);
    kernel(SYS_getcpu, a, 0, 0, 0);
    kernel(SYS_gettimeofday, a, 0, 0, 0);
    kernel(SYS_clock_gettime, CLOCK_MONOTONIC, a, 0, 0);
    kernel(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, a, 0, 0);
    kernel(SYS_clock_getres, CLOCK_REALTIME, a, 0, 0);
}

/* The kernel of 32-bit programs, which has other numbers, makes a folder; 39 is getpid elsewhere. The name is
 * at no address, so it fails. A kernel without it ends the process, which is tried in a child. */
static void call_32_bit_kernel(void)
{
    long answer;
    __asm__ volatile("int $0x80"
                     : "=a"(answer)
                     : "a"(39), "b"(0), "c"(0)
                     : "memory", "cc", "r8", "r9", "r10", "r11");
    if (answer != -EFAULT && answer != -ENOENT)
        fprintf(stderr, "system_calls: a 32-bit mkdir returned %ld\n", answer);
}

static int has_32_bit_kernel;

static void try_32_bit_kernel(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        call_32_bit_kernel();
        _exit(0);
    }
    has_32_bit_kernel = waitpid(child, &status, 0) == child && status == 0;
    if (!has_32_bit_kernel)
        fprintf(stderr, "system_calls: this kernel makes no 32-bit calls\n");
}

static void make_32_bit_call(void)
{
    if (has_32_bit_kernel)
        call_32_bit_kernel();
    else
        kernel(-1, 0, 0, 0, 0);
}

/* Each in a barrier's shadow of its own: the first call completes the barrier for those that follow. */
#define CALL(number, a, b, c, d)     \
    do {                             \
        MPI_Barrier(MPI_COMM_WORLD); \
        kernel(number, a, b, c, d);  \
    } while (0)

static void make_calls_that_others_notice(void)
{
    const long a = (long)answer, clock_of_peer = ((~(long)peer) << 3) | 2;
    CALL(SYS_prlimit64, peer, RLIMIT_NOFILE, 0, a);
    CALL(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, a); /* others may set it */
    CALL(SYS_getrlimit, RLIMIT_NOFILE, a, 0, 0);
    CALL(SYS_sched_getaffinity, peer, sizeof answer, a, 0);
    CALL(SYS_sched_getaffinity, 0, sizeof answer, a, 0);
    CALL(SYS_uname, a, 0, 0, 0);
    CALL(SYS_getppid, 0, 0, 0, 0);
    CALL(SYS_getpgid, 0, 0, 0, 0);
    CALL(SYS_sysinfo, a, 0, 0, 0);
    CALL(SYS_futex, (long)&word, FUTEX_WAKE, 1, 0);
    CALL(SYS_madvise, (long)page, PAGE, POPULATE_READ, 0);
    CALL(SYS_madvise, (long)page, PAGE, MADV_MERGEABLE, 0);
    CALL(SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED);
    CALL(SYS_mmap, 0, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
    CALL(SYS_mremap, (long)page, 0, PAGE, MREMAP_MAYMOVE);
    CALL(SYS_clock_gettime, clock_of_peer, a, 0, 0);
    CALL(SYS_clock_gettime, CLOCK_MONOTONIC, a, 0, 0);
    CALL(SYS_gettimeofday, a, 0, 0, 0);
    CALL(SYS_time, 0, 0, 0, 0);
    CALL(SYS_clock_nanosleep, clock_of_peer, 0, 0, 0); /* fails */
    CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&moment, 0);
    CALL(SYS_nanosleep, (long)&moment, 0, 0, 0);
    CALL(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, word, (long)&moment);
    CALL(SYS_getrandom, a, 1, 2, 0);
    CALL(SYS_getrusage, RUSAGE_CHILDREN, a, 0, 0);
    CALL(SYS_arch_prctl, ARCH_GET_CPUID_FAULTS, 0, 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    make_32_bit_call();
}

int main(int argc, char **argv)
{
    int rounds = 20, noticed = 0, size, rank, pids[64], mine = getpid();
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atoi(argv[i] + 7);
        noticed |= !strcmp(argv[i], "which=noticed");
    }
    try_32_bit_kernel();
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    peer = pids[(rank + 1) % size];
    page = (char *)map(PAGE, 0);
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (noticed)
            make_calls_that_others_notice();
        else
            make_private_calls();
    }
    MPI_Finalize();
    return 0;
}
