#include "collective/nonblocking.h"
#include "collective/describe.h"
#include "collective/postponed_free.h"
#include "host/generalized_request.h"
#include "process/call_line.h"
#include "process/faults.h"
#include "process/progress_thread.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct nonblocking {
    int outcome; /* MPI error code of the request; must be the first member, as the request frees the whole */
    MPI_Request handle;
    ek_request *request;
    ek_marshal marshal;
    struct nonblocking *next, *previous;
} nonblocking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and completing what is on it */
static nonblocking *oldest, *newest;

/* ---- starting ---- */

/* The engine has accepted the call. The handle is made here, before the operation begins, so that a failure
 * can still be reported. */
static int materialize(ek_call *call)
{
    nonblocking *n = call->materialize_context;
    int failure = ek_marshal_materialize(&n->marshal);
    if (!failure)
        n->marshal.failure = failure = ek_generalized_request_start(&n->handle, &n->outcome);
    return failure;
}

static void link_in(nonblocking *n)
{
    n->previous = newest;
    n->next = NULL;
    if (newest)
        newest->next = n;
    else
        oldest = n;
    newest = n;
}

static void unlink(nonblocking *n)
{
    if (n->previous)
        n->previous->next = n->next;
    else
        oldest = n->next;
    if (n->next)
        n->next->previous = n->previous;
    else
        newest = n->previous;
}

/* Completes for MPI what the engine has completed. The caller holds the lock. */
static void complete(nonblocking *n)
{
    int code = ek_request_free(n->request);
    if (code) {
        n->outcome = ek_error_class(code);
        ek_marshal_discard(&n->marshal);
    } else {
        n->outcome = ek_marshal_end(&n->marshal);
    }
    unlink(n);
    ek_comm_entry_drop(n->marshal.entry);
    ek_host.Grequest_complete(n->handle); /* the request owns it now, and may have freed it */
    ek_process.collectives--;
}

static int launch(nonblocking *n, MPI_Request *handle)
{
    ek_marshal *m = &n->marshal;
    n->outcome = MPI_SUCCESS;
    m->call.materialize = materialize;
    m->call.materialize_context = n;
    if (ek_start(m->entry->engine, &m->call, &n->request)) {
        ek_marshal_discard(m);
        return m->failure ? m->failure : EK_DECLINED;
    }
    *handle = n->handle;
    ek_count_uncountable(); /* it is completed as requests of the host's are */
    ek_comm_entry_hold(m->entry);
    pthread_mutex_lock(&lock);
    ek_process.collectives++;
    link_in(n);
    const bool is_complete = ek_request_test(n->request);
    if (is_complete)
        complete(n);
    pthread_mutex_unlock(&lock);
    /* A thread that comes into the host now sees what is under way, and moves it on. One that is there
     * already has not seen it. */
    if (EK_UNLIKELY(ek_threads_in_calls > 0) && !is_complete)
        ek_progress_thread_stand_in();
    ek_free_postponed();
    return MPI_SUCCESS;
}

int ek_collective_start(ek_comm_entry *entry, const ek_arguments *a)
{
    nonblocking *n = malloc(sizeof *n);
    if (!n)
        return MPI_ERR_NO_MEM;
    int code = ek_describe(&n->marshal, entry, a);
    if (!code) {
        ek_depth++;
        code = launch(n, a->request);
        ek_depth--;
    }
    if (code)
        free(n);
    return code;
}

/* ---- moving on ---- */

void ek_collectives_poll_all(void)
{
    /* A thread that does not get the lock has nothing to do: the one that holds it does the same work. And an
     * operator of the program that calls MPI_Test must not wait for its own caller. */
    if (ek_depth || pthread_mutex_trylock(&lock))
        return;
    ek_depth++;
    ek_requests_progress();
    /* There may be thousands, of which mostly the oldest are complete. While another thread starts one, the
     * number may be too low: then the rest is found next time. */
    int complete_ones = ek_process.collectives - (int)ek_requests_incomplete();
    for (nonblocking *n = oldest, *next; n && complete_ones > 0; n = next) {
        next = n->next;
        if (ek_request_is_complete(n->request)) {
            complete(n);
            complete_ones--;
        }
    }
    ek_depth--;
    pthread_mutex_unlock(&lock);
    ek_free_postponed(); /* callbacks of the program may run there */
}

static bool is_among(MPI_Request handle, int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] == handle)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    /* Handles are numbers in some libraries and pointers in others. */
    const uintptr_t x = (uintptr_t)*(const MPI_Request *)a, y = (uintptr_t)*(const MPI_Request *)b;
    return (x > y) - (x < y);
}

/* Returns NULL if they are few, or if there is no memory. */
static MPI_Request *sort(int count, const MPI_Request *requests)
{
    enum { FEW = 16 };
    MPI_Request *sorted = count > FEW ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (sorted) {
        memcpy(sorted, requests, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, compare);
    }
    return sorted;
}

void ek_collectives_note_awaited(int count, const MPI_Request *requests, bool is_awaited)
{
    if (ek_depth || pthread_mutex_trylock(&lock))
        return; /* as in ek_collectives_poll_all */
    MPI_Request *sorted = sort(count, requests);
    for (nonblocking *n = oldest; n; n = n->next)
        if (sorted ? bsearch(&n->handle, sorted, (size_t)count, sizeof *sorted, compare) != NULL
                   : is_among(n->handle, count, requests))
            ek_request_set_awaited(n->request, is_awaited);
    pthread_mutex_unlock(&lock);
    free(sorted);
}

/* ---- what is still needed ---- */

static bool needs_type(const ek_marshal *m, MPI_Datatype type)
{
    for (int i = 0; i < m->unpackings_used; i++)
        if (m->unpackings[i].layout.type == type)
            return true;
    return m->call.combine_context == &m->host_operator && m->host_operator.layout.type == type;
}

static bool needs_op(const ek_marshal *m, MPI_Op op)
{
    return m->call.combine_context == &m->host_operator && m->host_operator.op == op;
}

/* Whether something holds for one that is under way; true where that cannot be found out. */
#define ANY_UNDER_WAY(condition)                                 \
    do {                                                         \
        if (ek_depth)                                            \
            return true; /* this thread may hold the lock */     \
        bool is_one = false;                                     \
        pthread_mutex_lock(&lock);                               \
        for (nonblocking *n = oldest; n && !is_one; n = n->next) \
            is_one = condition;                                  \
        pthread_mutex_unlock(&lock);                             \
        return is_one;                                           \
    } while (0)

bool ek_collectives_need_type(MPI_Datatype type) { ANY_UNDER_WAY(needs_type(&n->marshal, type)); }

bool ek_collectives_need_op(MPI_Op op) { ANY_UNDER_WAY(needs_op(&n->marshal, op)); }
