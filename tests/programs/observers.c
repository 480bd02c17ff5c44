/* Ways in which a program can see that a barrier has returned early. Each case runs in every round; rank 1 is
 * late.
 *
 *   observers case=NAME [rounds=20] [dir=/tmp]
 *
 *   freed-send     rank 0 frees its send and overwrites the buffer behind the barrier that the receiver
 * enters early-mapping  memory that all ranks have shared since before MPI_Init early-file     a file that
 * they have mapped privately since before MPI_Init; rank 1 writes to the file sleep          rank 0 sleeps
 * behind the barrier: so much time lies between rank 1's clock in front of it and rank 0's afterwards
 *   held-signals   all signals are blocked by functions of old (sighold, sigblock, sigsetmask), then a call
 *   old-handler    handlers set by sigset and ssignal; rank 1 sends the signal in front of the barrier */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { LATE_US = 5000, SLEEP_MS = 30 };

static const char *dir;
static volatile int *shared;
static int file; /* that is mapped */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All ranks are here: what rank 0 learns by messages. */
static void meet(void)
{
    int here = 0, all;
    MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void freed_send(int round)
{
    static const int sizes[] = {1, 1000, 4000, 20000, 500000};
    const int n = sizes[round % 5];
    int *values = malloc((size_t)n * sizeof *values);
    MPI_Request request;
    for (int i = 0; i < n; i++)
        values[i] = world_rank == 0 ? round : -2;
    if (world_rank == 0) {
        if (round % 2)
            MPI_Isend(values, n, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        else
            MPI_Send_init(values, n, MPI_INT, 1, 0, MPI_COMM_WORLD, &request), MPI_Start(&request);
        MPI_Request_free(&request);
    } else if (world_rank == 1) {
        usleep(LATE_US);
        MPI_Recv(values, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK(world_rank != 1 || values[i] == round, "round %d: item %d of %d is %d", round, i, n, values[i]);
        values[i] = -1;
    }
    meet();
    free(values);
}

/* The C library's mmap, as code without the C library calls it. */
static void *raw_mmap(size_t bytes, int protection, int flags, int file)
{
#ifdef __x86_64__
    long result;
    register long r10 __asm__("r10") = flags;
    register long r8 __asm__("r8") = file;
    register long r9 __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_mmap), "D"(0), "S"(bytes), "d"(protection), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return (void *)result;
#else
    return mmap(NULL, bytes, protection, flags, file, 0);
#endif
}

static volatile int *map_file(int flags)
{
    char path[300];
    snprintf(path, sizeof path, "%s/shared", dir);
    file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096))
        return NULL;
    return raw_mmap(4096, PROT_READ | PROT_WRITE, flags, file);
}

static void early_mapping(int round)
{
    meet();
    if (world_rank == 1) {
        usleep(LATE_US);
        shared[0] = round + 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared[0] == round + 1, "round %d: memory says %d", round, shared[0]);
    meet();
}

/* Each round has a place of its own, as looking at a page may copy it. */
static void early_file(int round)
{
    const int value = round + 1;
    meet();
    if (world_rank == 1) {
        usleep(LATE_US);
        CHECK(pwrite(file, &value, sizeof value, (off_t)sizeof value * round) == sizeof value, "pwrite");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared[round] == value, "round %d: the file says %d", round, shared[round]);
    meet();
}

static void sleep_in(int way)
{
    const struct timespec time = {0, SLEEP_MS * 1000000L};
    int word = 0;
    switch (way) {
    case 0: usleep(SLEEP_MS * 1000); break;
    case 1: nanosleep(&time, NULL); break;
    case 2: clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); break;
    case 3: syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0); break;
    case 4: sigtimedwait(&(sigset_t){0}, NULL, &time); break;
    default: syscall(SYS_nanosleep, &time, NULL); break;
    }
}

static void sleep_behind(int round)
{
    double read = 0;
    meet();
    if (world_rank == 1) {
        usleep(4 * LATE_US);
        read = now();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        sleep_in(round % 6);
    double then = now();
    MPI_Bcast(&read, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    double passed_ms = 1e3 * (then - read);
    CHECK(world_rank || passed_ms > SLEEP_MS - 0.1, "way %d: %.1f ms", round % 6, passed_ms);
}

static void held_signals(int round)
{
    sigset_t before;
    meet();
    sigprocmask(SIG_BLOCK, NULL, &before);
    if (world_rank == 1)
        usleep(LATE_US);
    if (round % 3 == 0)
        sigblock(-1);
    else if (round % 3 == 1)
        sigsetmask(-1);
    for (int signal = 1; round % 3 == 2 && signal < 32; signal++)
        if (signal != SIGKILL && signal != SIGSTOP)
            sighold(signal);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access("/", F_OK) == 0, "round %d: access failed", round);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static volatile sig_atomic_t came;
static void note(int signal) { came = signal; }

static void old_handler(int round)
{
    int process = getpid();
    const int signal = round % 2 ? SIGUSR1 : SIGUSR2;
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (round < 2)
        (round % 2 ? sigset : ssignal)(signal, note);
    came = 0;
    meet();
    if (world_rank == 1) {
        usleep(LATE_US);
        kill(process, signal);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(world_rank || came == signal, "round %d: the signal has not come", round);
    meet();
}

static const struct {
    const char *name;
    void (*run)(int round);
} CASES[] = {
    {"freed-send", freed_send}, {"early-mapping", early_mapping}, {"early-file", early_file},
    {"sleep", sleep_behind},    {"held-signals", held_signals},   {"old-handler", old_handler},
};

int main(int argc, char **argv)
{
    const char *name = argument(argc, argv, "case", "");
    const int rounds = (int)number(argc, argv, "rounds", 20);
    dir = argument(argc, argv, "dir", "/tmp");
    if (!strcmp(name, "early-mapping"))
        shared = map_file(MAP_SHARED);
    if (!strcmp(name, "early-file"))
        shared = map_file(MAP_PRIVATE);
    begin(&argc, &argv);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD); /* deferring has begun */
    int checks = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (int round = 0; round < rounds && !strcmp(name, CASES[i].name); round++, checks++)
            CASES[i].run(round);
    int code = report_result((uint64_t)checks);
    MPI_Finalize();
    return code;
}
