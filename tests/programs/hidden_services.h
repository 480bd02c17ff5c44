/* Channels through what the C library, the kernel or another process does for a rank: threads that the
 * program has not made, requests that the kernel takes from memory, and memory that others write. */
#ifndef EVENKEEL_TESTS_HIDDEN_SERVICES_H
#define EVENKEEL_TESTS_HIDDEN_SERVICES_H
#include "hidden_memory.h"
#include "hidden_processes.h"
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <time.h>

/* ---- a timer whose threads read and write ---- */

static timer_t timer;

static void serve_if_asked(union sigval unused)
{
    (void)unused;
    long what = atomic_exchange(&order, 0);
    if (what)
        serve(what);
}

static void timer_open(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = serve_if_asked};
    const struct itimerspec often = {.it_interval = {0, 500000}, .it_value = {0, 500000}};
    file_open();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
        die("timer_create");
}

static void timer_close(void)
{
    timer_delete(timer);
    file_close();
}

/* ---- a name is looked up, and a thread says so ---- */

static long ask_for_name(long what)
{
    struct gaicb request = {.ar_name = "127.0.0.1"}, *list[] = {&request};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = serve_if_asked};
    atomic_store(&done, 0);
    atomic_store(&order, what);
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, &event))
        die("getaddrinfo_a");
    while (!atomic_load(&done))
        sched_yield();
    freeaddrinfo(request.ar_result);
    return done;
}

static void name_put(long value) { ask_for_name(value + 1); }
static int name_there(long value) { return ask_for_name(-value - 1) == 1; }

/* ---- lists of requests ---- */

static int start_list(struct aiocb *block)
{
    struct aiocb *list[] = {block};
    return lio_listio(LIO_NOWAIT, list, 1, NULL);
}

static void list_put(long value)
{
    aio_value = value;
    list_opcode = LIO_WRITE;
    if (await_aio(start_list) != sizeof aio_value)
        die("lio_listio");
}

static int list_there(long value)
{
    aio_value = -1;
    list_opcode = LIO_READ;
    return await_aio(start_list) == sizeof aio_value && aio_value == value;
}

/* ---- a message arrives in a queue, and a thread takes it ---- */

static mqd_t queues[64];
static _Atomic long landed = -1;

static const char *queue_name(int r)
{
    static char name[64];
    snprintf(name, sizeof name, "/evenkeel-hidden-%d-%d", (int)getppid(), r);
    return name;
}

/* It is to be told of the next message before it takes this one. The writer waits for its answer. */
static void take_message(union sigval again)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = take_message};
    long value = -1;
    if (mq_notify(queues[rank], &event))
        die("mq_notify");
    if (again.sival_int || mq_receive(queues[rank], (char *)&value, sizeof value, NULL) != sizeof value)
        return;
    landed = value++; /* what has not been written is 0 */
    if (pwrite(fd, &value, sizeof value, (off_t)(rank * (int)sizeof value)) != sizeof value)
        die("pwrite");
}

static void queue_open(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof(long)};
    file_open();
    queues[rank] = mq_open(queue_name(rank), O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
    meet();
    for (int r = 0; r < size; r++)
        if ((queues[r] = r == rank ? queues[r] : mq_open(queue_name(r), O_WRONLY)) < 0)
            die("mq_open");
    meet();
    mq_unlink(queue_name(rank));
    take_message((union sigval){.sival_int = 1});
}

static void queue_put(long value)
{
    for (int r = 0; r < size; r++)
        if (r != rank && mq_send(queues[r], (char *)&value, sizeof value, 0))
            die("mq_send");
    for (int r = 0; r < size; r++)
        for (long seen = -1; r != rank && seen != value + 1; sched_yield())
            if (pread(fd, &seen, sizeof seen, (off_t)(r * (int)sizeof seen)) < 0)
                die("pread");
}

static int queue_there(long value) { return landed == value; }

/* ---- the kernel takes requests from memory; made without the C library ---- */

static struct {
    long descriptor;
    _Atomic unsigned *flags, *tail, *done_head, *done_tail;
    unsigned mask, *array;
    struct io_uring_sqe *requests;
} ring;
static long ring_value;

static char *map_ring(int descriptor, size_t bytes, long offset)
{
    register long flags __asm__("r10") = MAP_SHARED | MAP_POPULATE;
    register long from __asm__("r8") = descriptor;
    register long at __asm__("r9") = offset;
    char *memory;
    __asm__ volatile("syscall"
                     : "=a"(memory)
                     : "a"(SYS_mmap), "D"(0), "S"(bytes), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(from),
                       "r"(at)
                     : "rcx", "r11", "memory");
    if ((unsigned long)memory > -4096UL)
        die("mmap of a ring");
    return memory;
}

static void ring_open(void)
{
    enum { IO_URING_SETUP = 425 };
    struct io_uring_params p = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1000};
    file_open();
    const int descriptor = (int)call_kernel(IO_URING_SETUP, 4, (long)&p, 0, 0);
    if (descriptor < 0) {
        fprintf(stderr, "hidden_channels: this kernel grants no io_uring\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    char *sq = map_ring(descriptor, p.sq_off.array + p.sq_entries * 4, IORING_OFF_SQ_RING);
    char *cq =
        map_ring(descriptor, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    ring.requests = (void *)map_ring(descriptor, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring.descriptor = descriptor;
    ring.flags = (void *)(sq + p.sq_off.flags);
    ring.tail = (void *)(sq + p.sq_off.tail);
    ring.mask = *(unsigned *)(sq + p.sq_off.ring_mask);
    ring.array = (void *)(sq + p.sq_off.array);
    ring.done_head = (void *)(cq + p.cq_off.head);
    ring.done_tail = (void *)(cq + p.cq_off.tail);
}

/* The kernel's thread needs a call only after a second in which it found nothing. */
static void ring_put(long value)
{
    enum { IO_URING_ENTER = 426 };
    const unsigned tail = *ring.tail, slot = tail & ring.mask, before = *ring.done_tail;
    ring_value = value;
    ring.array[slot] = slot;
    ring.requests[slot] = (struct io_uring_sqe){
        .opcode = IORING_OP_WRITE, .fd = fd, .addr = (unsigned long)&ring_value, .len = sizeof ring_value};
    atomic_store(ring.tail, tail + 1);
    while (*ring.done_tail == before) {
        if (*ring.flags & IORING_SQ_NEED_WAKEUP)
            call_kernel(IO_URING_ENTER, ring.descriptor, 0, 0, IORING_ENTER_SQ_WAKEUP);
        sched_yield();
    }
    *ring.done_head = before + 1;
}

/* ---- a handler that is set without the C library ---- */

__asm__("hidden_return: mov $15, %eax\n syscall\n");
void hidden_return(void);

static void raw_handler_open(void)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {count, SA_RESTART | 0x04000000, hidden_return, 0};
    int mine = getpid();
    sent = SIGHUP;
    if (call_kernel(SYS_rt_sigaction, sent, (long)&action, 0, 8))
        die("rt_sigaction");
    MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
}

/* ---- a library writes into other ranks' memory, as a network card does ---- */

static int (*write_remotely)(int pid, void *address, long value);
static void *landings[64];

static void remote_open(void)
{
    void *library = dlopen(getenv("HIDDEN_WRITER"), RTLD_NOW), *mine = (void *)&landed;
    int pid = getpid();
    write_remotely = library ? (int (*)(int, void *, long))dlsym(library, "write_remotely") : NULL;
    if (!write_remotely)
        die("HIDDEN_WRITER");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, landings, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
}

static void remote_put(long value)
{
    for (int r = 0; r < size; r++)
        if (r != rank && write_remotely(pids[r], landings[r], value))
            die("write_remotely");
}
#endif
