/* Channels through other processes and threads of a rank, which read and write a file for it. */
#ifndef EVENKEEL_TESTS_HIDDEN_PROCESSES_H
#define EVENKEEL_TESTS_HIDDEN_PROCESSES_H
#include "hidden_channels.h"
#include "hidden_files.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* ---- a child writes, a child reads ---- */

static void fork_put(long value)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(pwrite(fd, &value, sizeof value, 0) != sizeof value);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        die("fork");
}

static int fork_there(long value)
{
    pid_t child = vfork();
    if (child == 0) {
        long seen = -1;
        _exit(!(pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen == value));
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("vfork");
    return status == 0;
}

/* ---- a second thread reads and writes; the first one makes no system call ---- */

static pthread_t helper;
enum { STOP = -1000000 };
/* order: value + 1 to put a value, -value - 1 to look for it, STOP; done: 1 yes, 2 no. 0: nothing. */
static _Atomic long order, done;

static void *serve_orders(void *unused)
{
    (void)unused;
    for (;;) {
        long what = atomic_exchange(&order, 0);
        if (what == 0) {
            sched_yield();
            continue;
        }
        if (what == STOP)
            return NULL;
        if (what > 0)
            file_put(what - 1);
        atomic_store(&done, what > 0 || file_there(-what - 1) ? 1 : 2);
    }
}

static long ask(long what)
{
    atomic_store(&done, 0);
    atomic_store(&order, what);
    while (!atomic_load(&done))
        sched_yield();
    return done;
}

static void thread_open(void)
{
    file_open();
    if (pthread_create(&helper, NULL, serve_orders, NULL))
        die("pthread_create");
}

static void thread_put(long value) { ask(value + 1); }
static int thread_there(long value) { return ask(-value - 1) == 1; }
static void thread_close(void)
{
    atomic_store(&order, STOP);
    pthread_join(helper, NULL);
    file_close();
}
#endif
