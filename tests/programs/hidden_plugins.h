/* Channels through what becomes part of a program, or of its limits, after MPI_Init. */
#ifndef EVENKEEL_TESTS_HIDDEN_PLUGINS_H
#define EVENKEEL_TESTS_HIDDEN_PLUGINS_H
#include "hidden_processes.h"
#include <dlfcn.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* ---- a plugin makes a thread, through a library that the MPI library may have loaded before ---- */

static void (*join_plugin)(void);

static void plugin_open(void)
{
    void *plugin = dlopen(getenv("HIDDEN_PLUGIN"), RTLD_NOW);
    void (*start)(void *(*)(void *)) =
        plugin ? (void (*)(void *(*)(void *)))dlsym(plugin, "start_thread") : NULL;
    file_open();
    if (!start)
        die("HIDDEN_PLUGIN");
    join_plugin = (void (*)(void))dlsym(plugin, "join_thread");
    start(serve_orders);
}

static void plugin_close(void)
{
    atomic_store(&order, STOP);
    join_plugin();
    file_close();
}

/* ---- the same as `twin`, made while a barrier is pending, by the call of today and without the C library
 * ---- */

static void late_twin_open(void)
{
#ifdef __x86_64__
    struct {
        unsigned long flags, pidfd, child, parent, signal, stack, bytes, storage;
    } how = {.flags = CLONE_VM | CLONE_FS | CLONE_FILES, .signal = SIGCHLD};
    enum { CLONE3 = 435, BARRIERS = 20 };
    how.stack = (unsigned long)raw_stack;
    how.bytes = sizeof raw_stack;
    file_open();
    for (int i = 0; i < BARRIERS; i++) {
        for (volatile int spin = 0; spin < 2000000; spin++)
            ;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long child;
    __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n xor %%edi, %%edi\n call *%%rbx\n 1:"
                     : "=a"(child)
                     : "a"(CLONE3), "D"(&how), "S"(sizeof how), "b"(raw_serve)
                     : "rcx", "r11", "memory");
    if ((twin = (pid_t)child) < 0)
        die("clone3");
#endif
}

/* ---- the kernel says in memory that a pipe has been written to: libaio, without the C library ---- */

static struct {
    unsigned id, room;
    _Atomic unsigned head, tail;
} *older_ring;
static int ends[64]; /* of this rank's pipe to read, of others to write */

static void await_byte(void)
{
    struct iocb block = {
        .aio_fildes = (unsigned)ends[rank], .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN};
    struct iocb *blocks[] = {&block};
    if (call_kernel(SYS_io_submit, (long)older_ring, 1, (long)blocks, 0) != 1)
        die("io_submit");
}

static void older_ring_open(void)
{
    if (mkfifo(path("ring", rank), 0600) ||
        (ends[rank] = open(path("ring", rank), O_RDONLY | O_NONBLOCK)) < 0)
        die("mkfifo");
    meet();
    for (int r = 0; r < size; r++)
        if (r != rank && (ends[r] = open(path("ring", r), O_WRONLY)) < 0)
            die("open");
    if (call_kernel(SYS_io_setup, 4, (long)&older_ring, 0, 0))
        die("io_setup");
    await_byte();
    meet();
}

static void older_ring_put(long value)
{
    const char byte = (char)value;
    for (int r = 0; r < size; r++)
        if (r != rank && write(ends[r], &byte, 1) != 1)
            die("write");
}

static int older_ring_there(long value)
{
    const int is_there = older_ring->head != older_ring->tail;
    struct io_event event;
    char byte;
    if (syscall(SYS_io_getevents, older_ring, 1, 1, &event, NULL) != 1 || read(ends[rank], &byte, 1) != 1)
        die("io_getevents");
    await_byte();
    return is_there && byte == (char)value;
}

/* ---- one rank lets another one have more memory ---- */

static void set_room(int pid, rlim_t bytes)
{
    struct rlimit room;
    if (prlimit(pid, RLIMIT_AS, NULL, &room))
        die("prlimit");
    room.rlim_cur = bytes;
    if (prlimit(pid, RLIMIT_AS, &room, NULL))
        die("prlimit");
}

static void room_open(void)
{
    exchange_pids();
    set_room(0, 1 << 20);
    meet();
}

static void room_put(long value)
{
    (void)value;
    for (int r = 0; r < size; r++)
        if (r != rank)
            set_room(pids[r], RLIM_INFINITY);
}

static int room_there(long value)
{
    enum { BYTES = 1 << 16 };
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)value;
    if (memory != MAP_FAILED)
        munmap(memory, BYTES);
    set_room(0, 1 << 20);
    return memory != MAP_FAILED;
}

static void room_close(void) { set_room(0, RLIM_INFINITY); }
#endif
