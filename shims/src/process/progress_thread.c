#define _GNU_SOURCE
#include "process/progress_thread.h"
#include "process/state.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct ek_progress_thread {
    pthread_t thread;
    _Atomic bool stopped;
};

static bool has_work(void)
{
    return ek_requests_incomplete() || (ek_process.carries_messages && ek_messages_need_progress());
}

static void *run(void *argument)
{
    ek_progress_thread *t = argument;
    ek_pause pause = {0};
    ek_depth = 1; /* operators of the program that call MPI go straight to the host */
    while (!t->stopped && has_work()) {
        ek_requests_progress();
        if (ek_process.carries_messages) /* the other thread is inside the host, so not in there */
            ek_messages_progress();
        ek_pause_once(&pause);
    }
    return NULL;
}

ek_progress_thread *ek_progress_thread_start(void)
{
    ek_progress_thread *t = calloc(1, sizeof *t);
    sigset_t all, before;
    if (!t)
        return NULL;
    /* The program's signal handlers run in the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&t->thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        return t;
    free(t);
    return NULL;
}

void ek_progress_thread_stop(ek_progress_thread *t)
{
    t->stopped = true;
    pthread_join(t->thread, NULL);
    free(t);
}
