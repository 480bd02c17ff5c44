/* Channels through other processes and threads of a rank, which read and write a file for it. */
#ifndef EVENKEEL_TESTS_HIDDEN_PROCESSES_H
#define EVENKEEL_TESTS_HIDDEN_PROCESSES_H
#include "hidden_channels.h"
#include "hidden_files.h"
#include <aio.h>
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

static void serve(long what)
{
    if (what > 0)
        file_put(what - 1);
    atomic_store(&done, what > 0 || file_there(-what - 1) ? 1 : 2);
}

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
        serve(what);
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

/* The same with a thread that the program has made by the system call, and that runs as one of glibc's. */
static char raw_stack[1 << 16] __attribute__((aligned(16)));

/* It makes system calls only, as it has no storage of its own: glibc knows nothing of it. */
static int raw_serve(void *unused)
{
    (void)unused;
    for (;;) {
        long what = atomic_exchange(&order, 0), seen = -1;
        if (what == STOP)
            call_kernel(SYS_exit, 0, 0, 0, 0);
        if (what == 0) {
            call_kernel(SYS_sched_yield, 0, 0, 0, 0);
            continue;
        }
        long value = what - 1;
        if (what > 0)
            call_kernel(SYS_pwrite64, fd, (long)&value, sizeof value, 0);
        else
            call_kernel(SYS_pread64, fd, (long)&seen, sizeof seen, 0);
        atomic_store(&done, what > 0 || seen == -what - 1 ? 1 : 2);
    }
}

static void raw_thread_open(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    file_open();
    if (clone(raw_serve, raw_stack + sizeof raw_stack, flags, NULL) < 0)
        die("clone");
}

static void raw_thread_close(void)
{
    atomic_store(&order, STOP);
    file_close();
}

/* The same by a process that shares this one's memory and is none of its threads. */
static pid_t twin;

static void twin_open(void)
{
    file_open();
    twin = clone(raw_serve, raw_stack + sizeof raw_stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    if (twin < 0)
        die("clone");
}

static void twin_close(void)
{
    atomic_store(&order, STOP);
    if (waitpid(twin, NULL, 0) != twin)
        die("waitpid");
    file_close();
}

/* ---- a thread that the C library makes for itself reads and writes ---- */

static long aio_value;
static int list_opcode; /* of lio_listio */

static long await_aio(int (*start)(struct aiocb *))
{
    struct aiocb block = {.aio_fildes = fd, .aio_buf = &aio_value, .aio_nbytes = sizeof aio_value};
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    block.aio_lio_opcode = list_opcode;
    if (start(&block))
        die("aio");
    while (aio_error(&block) == EINPROGRESS)
        ;
    return aio_return(&block);
}

static void aio_put(long value)
{
    aio_value = value;
    if (await_aio(aio_write) != sizeof aio_value)
        die("aio_write");
}

static int aio_there(long value)
{
    aio_value = -1;
    return await_aio(aio_read) == sizeof aio_value && aio_value == value;
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
