/* Channels of the file system and the kernel: files, directories, pipes, sockets, signals. */
#ifndef EVENKEEL_TESTS_HIDDEN_FILES_H
#define EVENKEEL_TESTS_HIDDEN_FILES_H
#include "hidden_channels.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

/* ---- a file ---- */

static void file_open(void)
{
    fd = open(path("file", 0), O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        die("open");
}

static void file_put(long value)
{
    if (pwrite(fd, &value, sizeof value, 0) != sizeof value)
        die("pwrite");
}

static int file_there(long value)
{
    long seen = -1;
    return pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen == value;
}

static void file_close(void) { close(fd); }

/* ---- the same, after the program has switched Syscall User Dispatch off, as a restored process finds it
 * ---- */

static void lost_gate_open(void)
{
    enum { DISPATCH = 59, OFF = 0 };
    const struct timespec longer_than_a_look = {.tv_nsec = 5000000};
    file_open();
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    prctl(DISPATCH, OFF, 0, 0, 0);
    nanosleep(&longer_than_a_look, NULL);
}

/* ---- the same file by system calls that do not go through the C library ---- */

static long call_kernel(long number, long a, long b, long c, long d)
{
    long answer;
#ifdef __x86_64__
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
#else
    answer = syscall(number, a, b, c, d);
#endif
    return answer;
}

static void inline_put(long value)
{
    if (call_kernel(SYS_pwrite64, fd, (long)&value, sizeof value, 0) != sizeof value)
        die("pwrite");
}

static int inline_there(long value)
{
    long seen = -1;
    return call_kernel(SYS_pread64, fd, (long)&seen, sizeof seen, 0) == sizeof seen && seen == value;
}

/* ---- directories ---- */

static void mkdir_put(long value)
{
    if (mkdir(path("d", (int)value), 0700))
        die("mkdir");
}

static int mkdir_there(long value)
{
    int opened = open(path("d", (int)value), O_RDONLY | O_DIRECTORY);
    if (opened >= 0)
        close(opened);
    return opened >= 0;
}

/* ---- pipes: a named one for each reader ---- */

static int pipes[64];

static void pipe_open(void)
{
    if (mkfifo(path("pipe", rank), 0600) && errno != EEXIST)
        die("mkfifo");
    meet();
    for (int r = 0; r < size; r++)
        if ((pipes[r] = open(path("pipe", r), O_RDWR | O_NONBLOCK)) < 0)
            die("open");
}

static void pipe_put(long value)
{
    for (int r = 0; r < size; r++)
        if (r != rank && write(pipes[r], &value, sizeof value) != sizeof value && errno != EAGAIN)
            die("write");
}

static int pipe_there(long value)
{
    long seen = -1;
    return read(pipes[rank], &seen, sizeof seen) == sizeof seen && seen == value;
}

/* ---- sockets ---- */

static struct sockaddr_un address(int r)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%.80s/s%d", dir, r);
    return a;
}

static void socket_open(void)
{
    struct sockaddr_un mine = address(rank);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&mine, sizeof mine))
        die("bind");
    meet();
}

static void socket_put(long value)
{
    for (int r = 0; r < size; r++) {
        struct sockaddr_un to = address(r);
        if (r != rank &&
            sendto(fd, &value, sizeof value, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to) < 0 &&
            errno != EAGAIN)
            die("sendto");
    }
}

static int socket_there(long value)
{
    long seen = -1;
    return recv(fd, &seen, sizeof seen, MSG_DONTWAIT) == sizeof seen && seen == value;
}

/* ---- signals ---- */

static int pids[64];
static volatile long signalled;
static int sent = SIGUSR1;

static void count(int signal) { (void)signal, signalled++; }

static void exchange_pids(void)
{
    int mine = getpid();
    MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
}

static void signal_open(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    if (sigaction(sent, &action, NULL))
        die("sigaction");
    exchange_pids();
}

static void hangup_open(void)
{
    sent = SIGHUP; /* not a signal that programs usually send each other */
    signal_open();
}

static void terminate_open(void)
{
    sent = SIGTERM; /* nor this one, which batch systems send */
    signal_open();
}

static void signal_put(long value)
{
    (void)value;
    for (int r = 0; r < size; r++)
        if (r != rank && kill(pids[r], sent))
            die("kill");
    signalled++;
}

/* A signal that was sent is delivered at any system call, and this one leaves barriers pending. */
static int signal_there(long value)
{
    sched_yield();
    return signalled == value + 1;
}

/* ---- limits of another process ---- */

static struct rlimit limit;

static void limit_open(void)
{
    exchange_pids();
    if (getrlimit(RLIMIT_NOFILE, &limit))
        die("getrlimit");
}

/* Differs from round to round, and is no less than a program needs. */
static rlim_t limit_of(long value) { return limit.rlim_max - (rlim_t)(value % 100); }

static void limit_put(long value)
{
    limit.rlim_cur = limit_of(value);
    if (setrlimit(RLIMIT_NOFILE, &limit))
        die("setrlimit");
}

static int limit_there(long value)
{
    struct rlimit seen = {0, 0};
    return !prlimit(pids[value % size], RLIMIT_NOFILE, NULL, &seen) && seen.rlim_cur == limit_of(value);
}
#endif
