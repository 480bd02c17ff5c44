/* Operations go on while their rank is inside other calls, and a thread goes on while a barrier is pending.
 *
 *   background_progress case=NAME [rounds=200] [held=1]
 *
 * A test passes if it ends and prints RESULT wrong 0. */
#include "litmus.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int held;

/* A large message goes on while its sender is inside a call of the library that waits for the receiver. */
static void sender_in_library(void)
{
    enum { MANY = 1 << 20 };
    static char data[MANY];
    for (long i = 0; i < rounds; i++) {
        MPI_Request request;
        MPI_Comm copy;
        memset(data, rank == 0 ? (int)(i % 100) : -1, MANY);
        if (rank == 0)
            MPI_Isend(data, MANY, MPI_CHAR, 1, 6, WORLD, &request);
        else if (rank == 1)
            MPI_Recv(data, MANY, MPI_CHAR, 0, 6, WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_dup(WORLD, &copy);
        wrong += rank < 2 && (data[0] != i % 100 || data[MANY - 1] != i % 100);
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&copy);
    }
}

/* MPI_Improbe makes progress on a broadcast under way: the message it looks for is sent after that has
 * completed. */
static void improbe(void)
{
    enum { MANY = 1 << 16 };
    static char data[MANY];
    int value = 0;
    for (long i = 0; i < rounds / 10; i++) {
        MPI_Request request;
        memset(data, rank ? -1 : (int)(i % 100), MANY);
        MPI_Ibcast(data, MANY, MPI_CHAR, 0, WORLD, &request);
        if (rank == 0) {
            MPI_Message message;
            for (int found = 0; !found;)
                MPI_Improbe(1, 5, WORLD, &found, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
        wrong += data[0] != i % 100 || data[MANY - 1] != i % 100;
    }
}

static _Atomic long passed; /* barriers that rank 0's first thread has returned from */

static void *serve(void *endpoint)
{
    int service = *(int *)endpoint;
    for (long i = 0; i < rounds; i++) {
        char request;
        struct sockaddr_un from;
        socklen_t length = sizeof from;
        wrong += recvfrom(service, &request, 1, 0, (struct sockaddr *)&from, &length) != 1;
        while (held && passed <= i)
            sched_yield();
        wrong += sendto(service, &request, 1, 0, (struct sockaddr *)&from, length) != 1;
    }
    return NULL;
}

/* Rank 1 enters each barrier only after a thread of rank 0 has answered it. So that thread must not be held
 * until the barrier that rank 0 has entered is complete. With held=1 the thread itself waits for that, and no
 * rank goes on. */
static void service(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int endpoint = socket(AF_UNIX, SOCK_DGRAM, 0), pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, WORLD);
    int length = (int)offsetof(struct sockaddr_un, sun_path) + 1 +
                 snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "litmus-%d", pid);
    pthread_t thread;
    if (rank == 0)
        wrong += bind(endpoint, (struct sockaddr *)&name, (socklen_t)length) ||
                 pthread_create(&thread, NULL, serve, &endpoint);
    else if (rank == 1)
        /* The kernel chooses the name. */
        wrong += bind(endpoint, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0;
    MPI_Barrier(WORLD);
    for (long i = 0; i < rounds; i++) {
        char byte = 'x';
        if (rank == 1) {
            stall(LATE / 4);
            wrong += sendto(endpoint, &byte, 1, 0, (struct sockaddr *)&name, (socklen_t)length) != 1 ||
                     recv(endpoint, &byte, 1, 0) != 1;
        }
        MPI_Barrier(WORLD);
        passed = i + 1;
    }
    if (rank == 0)
        pthread_join(thread, NULL);
    close(endpoint);
}

static const struct litmus cases[] = {
    {"sender-in-library", sender_in_library, 2},
    {"improbe", improbe, 2},
    {"service", service, 2},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        held |= !strcmp(argv[i], "held=1");
    return run_litmus(argc, argv, cases, sizeof cases / sizeof *cases);
}
