/* Channels that make barriers strict as soon as a program uses them: signals, shared memory and threads. */
#ifndef ATTACK_CHANNELS_ALONE_H
#define ATTACK_CHANNELS_ALONE_H
#include "channel.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { DELIVERY_NS = 100 * 1000 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void stall_for(double ns)
{
    for (double end = now_ns() + ns; now_ns() < end;)
        ;
}

/* ---- signals, between two ranks: signals of one number that are pending together are one ---- */

static volatile sig_atomic_t signals_seen;
static int signal_chosen;

static void count_signal(int number)
{
    (void)number;
    signals_seen++;
}

static bool signal_make(void)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    return !sigaction(signal_chosen, &action, NULL);
}

static void signal_act(unsigned count, unsigned variant)
{
    (void)count;
    for (int r = 0; r < ranks; r++)
        if (r != me)
            CALL2(variant, kill, pids[r], signal_chosen);
}

/* Waits for as long as the other processor may need to interrupt this one. On a busy machine that may be
 * longer; a signal that was sent is delivered at any system call, and this one leaves barriers pending. */
static long signal_seen(int rank, unsigned variant)
{
    (void)rank, (void)variant;
    stall_for(DELIVERY_NS);
    sched_yield();
    return signals_seen;
}

static void signal_settle(void) { signals_seen = 0; }

/* ---- shared memory, made by the way that is asked for ---- */

static volatile unsigned *cells[MAX_RANKS];
static int mapping_way; /* 0: mmap, 1: syscall(), 2: a private mapping of a file */

static int own_cell; /* its file, where others map it privately */

static bool map_cell(int rank)
{
    int fd = open(path_of("cell", rank), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        return false;
    if (mapping_way == 2 && rank == me) {
        own_cell = fd;
        return true;
    }
    int flags = mapping_way == 2 ? MAP_PRIVATE : MAP_SHARED;
    void *at = mapping_way == 1 ? (void *)syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, flags, fd, 0)
                                : mmap(0, 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
    cells[rank] = at;
    return at != MAP_FAILED;
}

static bool cell_make(void) { return map_cell(me); }

static bool cell_open(void)
{
    for (int r = 0; r < ranks; r++)
        if (r != me && !map_cell(r))
            return false;
    return true;
}

static void cell_act(unsigned count, unsigned variant)
{
    if (mapping_way == 2)
        CALL4(variant, pwrite64, own_cell, &count, sizeof count, 0);
    else
        *cells[me] = count;
}

static long cell_seen(int rank, unsigned variant)
{
    (void)variant;
    return *cells[rank];
}

/* ---- a thread of the program's own makes the system calls ---- */

static int thread_file[MAX_RANKS];
static volatile unsigned ordered, written;

static void *write_for_others(void *unused)
{
    for (;;)
        if (ordered != written) {
            must(!ftruncate(thread_file[me], ordered), "ftruncate");
            written = ordered;
        }
    return unused;
}

static bool thread_make(void)
{
    pthread_t thread;
    thread_file[me] = open(path_of("thread", me), O_RDWR | O_CREAT | O_TRUNC, 0600);
    return thread_file[me] >= 0 && !pthread_create(&thread, NULL, write_for_others, NULL);
}

static bool thread_open(void)
{
    for (int r = 0; r < ranks; r++)
        if (r != me)
            thread_file[r] = open(path_of("thread", r), O_RDONLY);
    return true;
}

static void thread_act(unsigned count, unsigned variant)
{
    (void)variant;
    ordered = count;
    while (written != count)
        ;
}

static long thread_seen(int rank, unsigned variant)
{
    (void)variant;
    return lseek(thread_file[rank], 0, SEEK_END);
}

#endif
