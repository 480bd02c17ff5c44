#define _GNU_SOURCE
#include "process/progress_thread.h"
#include "process/state.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

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

/* The program's signal handlers run in the program's threads. */
static bool create(pthread_t *thread, void *(*function)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

ek_progress_thread *ek_progress_thread_start(void)
{
    ek_progress_thread *t = calloc(1, sizeof *t);
    if (t && create(&t->thread, run, t))
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

/* ---- for threads that have entered the host before ---- */

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    bool is_there; /* it is to be joined */
    bool runs;     /* it will look for work once more */
    _Atomic bool stopped;
} standing = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits for a moment, as more work often comes soon and a thread takes long to start. Returns whether there
 * is some. */
static bool await_more(void)
{
    enum { AWAITS_MS = 5 };
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int ms = 0; ms < AWAITS_MS && !standing.stopped && !ek_requests_incomplete(); ms++)
        nanosleep(&nap, NULL);
    pthread_mutex_lock(&standing.lock);
    bool runs = standing.runs = ek_requests_incomplete() && !standing.stopped;
    pthread_mutex_unlock(&standing.lock);
    return runs;
}

static void *stand(void *unused)
{
    (void)unused;
    ek_depth = 1; /* as in `run` */
    do {
        ek_pause pause = {0};
        while (ek_requests_incomplete() && !standing.stopped) {
            ek_requests_progress();
            ek_pause_once(&pause);
        }
    } while (await_more());
    return NULL;
}

void ek_progress_thread_stand_in(void)
{
    pthread_mutex_lock(&standing.lock);
    if (!standing.runs && !standing.stopped) {
        if (standing.is_there)
            pthread_join(standing.thread, NULL);
        standing.is_there = standing.runs = create(&standing.thread, stand, NULL);
    }
    pthread_mutex_unlock(&standing.lock);
}

void ek_progress_thread_end(void)
{
    standing.stopped = true;
    if (standing.is_there)
        pthread_join(standing.thread, NULL);
    standing.is_there = false;
}
