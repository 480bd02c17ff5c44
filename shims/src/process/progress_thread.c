/* While a thread is inside a blocking call of the host that cannot be taken apart (a collective that the host
 * serves, making a communicator) and operations or messages of ours are under way, a helper thread moves
 * those on: others may be waiting for this rank's part of them before they come to where the host waits for
 * them. */
#define _GNU_SOURCE
#include "shim.h"
#include <pthread.h>
#include <signal.h>

typedef struct escort {
    pthread_t thread;
    _Atomic bool over;
} escort;

static void *walk(void *argument)
{
    escort *e = argument;
    ek_pause pause = {{0}};
    ek_depth = 1; /* operators of the program that call MPI go straight to the host */
    while (!e->over && (ek_pending() || (ek_messages && ek_messages_incomplete()))) {
        ek_progress();
        if (ek_messages) /* the other thread is inside the host: it is not in there */
            ek_messages_progress();
        ek_pause_once(&pause);
    }
    return NULL;
}

void *ek_escort_begin(void)
{
    escort *e = calloc(1, sizeof *e);
    sigset_t all, before;
    sigfillset(&all);
    if (!e)
        return NULL;
    /* The program's signal handlers run in the program's threads. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&e->thread, NULL, walk, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!code)
        return e;
    free(e);
    return NULL;
}

void ek_escort_end(void *argument)
{
    escort *e = argument;
    e->over = true;
    pthread_join(e->thread, NULL);
    free(e);
}
