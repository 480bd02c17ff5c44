/* Channels through objects of the kernel made for talking: pipes, sockets, queues, semaphores, events. */
#ifndef ATTACK_CHANNELS_IPC_H
#define ATTACK_CHANNELS_IPC_H
#include "channel.h"
#include <mqueue.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/pidfd.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

static char scrap[4096];

static long bytes_waiting(int fd)
{
    int bytes = 0;
    ioctl(fd, FIONREAD, &bytes);
    return bytes;
}

/* ---- named pipes ---- */

static int fifo[MAX_RANKS];

static bool fifo_make(void)
{
    unlink(path_of("fifo", me));
    must(!mkfifo(path_of("fifo", me), 0600), "mkfifo");
    return (fifo[me] = open(path_of("fifo", me), O_RDWR | O_NONBLOCK)) >= 0;
}

static bool fifo_open(void)
{
    for (int r = 0; r < ranks; r++)
        if (r != me)
            fifo[r] = open(path_of("fifo", r), O_RDWR | O_NONBLOCK);
    return true;
}

static void fifo_act(unsigned count, unsigned variant)
{
    (void)count;
    CALL3(variant, write, fifo[me], scrap, 1);
}

static long fifo_seen(int rank, unsigned variant)
{
    (void)variant;
    return bytes_waiting(fifo[rank]);
}

static void fifo_settle(void)
{
    while (read(fifo[me], scrap, sizeof scrap) > 0)
        ;
}

/* ---- sockets: one stream from each rank to each other ---- */

static int listener, stream_to[MAX_RANKS], stream_from[MAX_RANKS];

static void name_socket(struct sockaddr_un *name, int rank)
{
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    snprintf(name->sun_path, sizeof name->sun_path, "%s/s.%d", directory, rank);
}

static bool stream_make(void)
{
    struct sockaddr_un name;
    name_socket(&name, me);
    unlink(name.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    must(!bind(listener, (void *)&name, sizeof name) && !listen(listener, MAX_RANKS), "a socket");
    return true;
}

static bool stream_open(void)
{
    for (int r = 0; r < ranks; r++) {
        struct sockaddr_un name;
        if (r == me)
            continue;
        name_socket(&name, r);
        stream_to[r] = socket(AF_UNIX, SOCK_STREAM, 0);
        must(!connect(stream_to[r], (void *)&name, sizeof name), "connect");
        must(write(stream_to[r], &me, sizeof me) == sizeof me, "write to a socket");
    }
    for (int i = 0; i < ranks - 1; i++) {
        int sender, fd = accept(listener, NULL, NULL);
        must(fd >= 0 && read(fd, &sender, sizeof sender) == sizeof sender, "accept");
        stream_from[sender] = fd;
    }
    return true;
}

static void stream_act(unsigned count, unsigned variant)
{
    struct iovec one = {scrap, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    (void)count;
    for (int r = 0; r < ranks; r++) {
        if (r == me)
            continue;
        switch (variant % 3) {
        case 0: CALL6(variant, sendto, stream_to[r], scrap, 1, MSG_DONTWAIT, 0, 0); break;
        case 1: CALL3(variant, sendmsg, stream_to[r], &message, MSG_DONTWAIT); break;
        default: CALL3(variant, write, stream_to[r], scrap, 1); break;
        }
    }
}

static long stream_seen(int rank, unsigned variant)
{
    if (variant & 1)
        return bytes_waiting(stream_from[rank]);
    long bytes =
        CALL6(variant, recvfrom, stream_from[rank], scrap, sizeof scrap, MSG_PEEK | MSG_DONTWAIT, 0, 0);
    return bytes < 0 ? 0 : bytes;
}

static void stream_settle(void)
{
    for (int r = 0; r < ranks; r++)
        while (r != me && recv(stream_from[r], scrap, sizeof scrap, MSG_DONTWAIT) > 0)
            ;
}

/* ---- System V ---- */

static int semaphores, queues[MAX_RANKS];
static key_t key(int more) { return (key_t)(((unsigned)pids[0] << 8 | (unsigned)more) & 0x7fffffff); }

static bool semaphore_make(void)
{
    semaphores = semget(key(100), MAX_RANKS, IPC_CREAT | 0600);
    return semaphores >= 0;
}

static void semaphore_act(unsigned count, unsigned variant)
{
    struct sembuf up = {(unsigned short)me, 1, 0};
    if (variant & 1 && count % 30000)
        CALL3(variant, semop, semaphores, &up, 1);
    else
        CALL4(variant, semctl, semaphores, me, SETVAL, count % 30000);
}

static long semaphore_seen(int rank, unsigned variant)
{
    return CALL4(variant, semctl, semaphores, rank, GETVAL, 0);
}

static bool queue_make(void)
{
    queues[me] = msgget(key(me), IPC_CREAT | 0600);
    return queues[me] >= 0;
}

static bool queue_open(void)
{
    for (int r = 0; r < ranks; r++)
        queues[r] = msgget(key(r), 0600);
    return true;
}

static void queue_act(unsigned count, unsigned variant)
{
    struct {
        long type;
        char text[1];
    } message = {1, {(char)count}};
    CALL4(variant, msgsnd, queues[me], &message, 1, IPC_NOWAIT);
}

static long queue_seen(int rank, unsigned variant)
{
    struct msqid_ds state;
    CALL3(variant, msgctl, queues[rank], IPC_STAT, &state);
    return (long)state.msg_qnum;
}

static void queue_settle(void)
{
    char message[64];
    while (msgrcv(queues[me], message, 8, 0, IPC_NOWAIT) >= 0)
        ;
}

static void remove_ipc(void)
{
    msgctl(queues[me], IPC_RMID, NULL);
    if (me == 0)
        semctl(semaphores, 0, IPC_RMID);
}

/* ---- POSIX message queues ---- */

static mqd_t posix_queue[MAX_RANKS];

static const char *queue_name(int rank)
{
    static char name[64];
    snprintf(name, sizeof name, "/attack-%d-%d", (int)pids[0], rank);
    return name;
}

static bool posix_queue_make(void)
{
    struct mq_attr size = {.mq_maxmsg = 8, .mq_msgsize = 1};
    posix_queue[me] = mq_open(queue_name(me), O_RDWR | O_CREAT | O_NONBLOCK, 0600, &size);
    return posix_queue[me] >= 0;
}

static bool posix_queue_open(void)
{
    for (int r = 0; r < ranks; r++)
        if (r != me)
            posix_queue[r] = mq_open(queue_name(r), O_RDWR | O_NONBLOCK);
    return true;
}

/* A name that is left behind keeps its queue, and there may be few on a machine. */
static void posix_queue_ready(void) { mq_unlink(queue_name(me)); }

static void posix_queue_act(unsigned count, unsigned variant)
{
    (void)count;
    CALL6(variant, mq_timedsend, posix_queue[me], scrap, 1, 0, 0, 0);
}

static long posix_queue_seen(int rank, unsigned variant)
{
    struct mq_attr state = {0};
    CALL3(variant, mq_getsetattr, posix_queue[rank], 0, &state);
    return state.mq_curmsgs;
}

static void posix_queue_settle(void)
{
    while (mq_receive(posix_queue[me], scrap, sizeof scrap, NULL) >= 0)
        ;
}

/* ---- descriptors that ranks share: their offset, their flags, their pipe's size, a counter of events ----
 */

static int shared_file[MAX_RANKS], event[MAX_RANKS];
static int announced[2]; /* the numbers of this rank's descriptors, which others read from its file */

static bool shared_make(void)
{
    shared_file[me] = open(path_of("shared", me), O_RDWR | O_CREAT | O_TRUNC, 0600);
    event[me] = eventfd(0, EFD_NONBLOCK);
    announced[0] = shared_file[me], announced[1] = event[me];
    must(write(shared_file[me], announced, sizeof announced) == sizeof announced, "announcing descriptors");
    lseek(shared_file[me], 0, SEEK_SET);
    return true;
}

static bool shared_open(void)
{
    bool all = true;
    for (int r = 0; r < ranks; r++) {
        int theirs[2], fd = open(path_of("shared", r), O_RDONLY);
        must(read(fd, theirs, sizeof theirs) == sizeof theirs, "reading announced descriptors");
        close(fd);
        if (r == me)
            continue;
        int process = (int)syscall(SYS_pidfd_open, pids[r], 0);
        shared_file[r] = (int)syscall(SYS_pidfd_getfd, process, theirs[0], 0);
        event[r] = (int)syscall(SYS_pidfd_getfd, process, theirs[1], 0);
        close(process);
        all = all && shared_file[r] >= 0 && event[r] >= 0;
    }
    return all;
}

static void offset_act(unsigned count, unsigned variant)
{
    CALL3(variant, lseek, shared_file[me], count, SEEK_SET);
}

static long offset_seen(int rank, unsigned variant)
{
    return CALL3(variant, lseek, shared_file[rank], 0, SEEK_CUR);
}

static void flags_act(unsigned count, unsigned variant)
{
    CALL3(variant, fcntl, shared_file[me], F_SETFL, count & 1 ? O_APPEND : 0);
}

static long flags_seen(int rank, unsigned variant)
{
    return (CALL3(variant, fcntl, shared_file[rank], F_GETFL, 0) & O_APPEND) != 0;
}

static void signal_number_act(unsigned count, unsigned variant)
{
    CALL3(variant, fcntl, shared_file[me], F_SETSIG, count % 60);
}

static long signal_number_seen(int rank, unsigned variant)
{
    return CALL3(variant, fcntl, shared_file[rank], F_GETSIG, 0);
}

static void event_act(unsigned count, unsigned variant)
{
    uint64_t one = 1;
    (void)count;
    CALL3(variant, write, event[me], &one, sizeof one);
}

static long event_seen(int rank, unsigned variant)
{
    struct pollfd asked = {event[rank], POLLIN, 0};
    return CALL3(variant, poll, &asked, 1, 0) == 1;
}

static void event_settle(void)
{
    uint64_t counter;
    while (read(event[me], &counter, sizeof counter) > 0)
        ;
}

#endif
