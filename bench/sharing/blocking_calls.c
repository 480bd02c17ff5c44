// Which blocking calls return EINTR when a job is switched. The process makes each call once, for so long
// that several turns end meanwhile.
//
//   blocking_calls NAME        waits one second in the call; prints "NAME waited", "NAME EINTR" or the error
//   blocking_calls spin S      computes for S seconds: the other job
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int call(const char *name)
{
    struct timespec second = {1, 0};
    struct timeval second_us = {1, 0};
    int pair[2], word = 0;
    char byte;
    struct epoll_event event;
    struct sembuf down = {0, -1, 0};
    sigset_t set;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return -1;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &second_us, sizeof second_us);
    if (strcmp(name, "nanosleep") == 0)
        return nanosleep(&second, NULL);
    if (strcmp(name, "poll") == 0)
        return poll(NULL, 0, 1000);
    if (strcmp(name, "select") == 0)
        return select(0, NULL, NULL, NULL, &second_us);
    if (strcmp(name, "epoll_wait") == 0)
        return epoll_wait(epoll_create1(0), &event, 1, 1000);
    if (strcmp(name, "futex") == 0)
        return (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, &second, NULL, 0);
    if (strcmp(name, "recv") == 0)
        return (int)recv(pair[0], &byte, 1, 0);
    if (strcmp(name, "semtimedop") == 0) {
        int semaphore = semget(IPC_PRIVATE, 1, 0600), result = semtimedop(semaphore, &down, 1, &second);
        int error = errno;
        semctl(semaphore, 0, IPC_RMID);
        errno = error;
        return result;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return sigtimedwait(&set, NULL, &second);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 2) {
        time_t until = time(NULL) + atoi(argv[2]);
        while (time(NULL) < until)
            ;
    } else if (argc > 1) {
        errno = 0;
        int result = call(argv[1]);
        int is_timeout = result >= 0 || errno == EAGAIN || errno == ETIMEDOUT;
        printf("%s %s\n", argv[1], is_timeout ? "waited" : errno == EINTR ? "EINTR" : strerror(errno));
    }
    MPI_Finalize();
    return 0;
}
