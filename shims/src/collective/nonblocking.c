#include "collective/nonblocking.h"
#include "collective/describe.h"
#include "collective/postponed_free.h"
#include "host/generalized_request.h"
#include "process/call_line.h"
#include "process/faults.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct nonblocking {
    int outcome; /* MPI error code of the request; must be the first member, as the request frees the whole */
    MPI_Request handle;
    ek_request *request;
    ek_marshal marshal;
    struct nonblocking *next, *previous;
} nonblocking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and completing what is on it */
static nonblocking *under_way;

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
    n->previous = NULL;
    n->next = under_way;
    if (under_way)
        under_way->previous = n;
    under_way = n;
}

static void unlink(nonblocking *n)
{
    if (n->previous)
        n->previous->next = n->next;
    else
        under_way = n->next;
    if (n->next)
        n->next->previous = n->previous;
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
    if (ek_request_test(n->request))
        complete(n);
    pthread_mutex_unlock(&lock);
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
    for (nonblocking *n = under_way, *next; n; n = next) {
        next = n->next;
        if (ek_request_is_complete(n->request))
            complete(n);
    }
    ek_depth--;
    pthread_mutex_unlock(&lock);
    ek_free_postponed(); /* callbacks of the program may run there */
}

void ek_collectives_note_awaited(int count, const MPI_Request *requests, bool is_awaited)
{
    if (ek_depth || pthread_mutex_trylock(&lock))
        return; /* as in ek_collectives_poll_all */
    for (nonblocking *n = under_way; n; n = n->next)
        for (int i = 0; i < count; i++)
            if (requests[i] == n->handle)
                ek_request_set_awaited(n->request, is_awaited);
    pthread_mutex_unlock(&lock);
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
#define ANY_UNDER_WAY(condition)                                    \
    do {                                                            \
        if (ek_depth)                                               \
            return true; /* this thread may hold the lock */        \
        bool is_one = false;                                        \
        pthread_mutex_lock(&lock);                                  \
        for (nonblocking *n = under_way; n && !is_one; n = n->next) \
            is_one = condition;                                     \
        pthread_mutex_unlock(&lock);                                \
        return is_one;                                              \
    } while (0)

bool ek_collectives_need_type(MPI_Datatype type) { ANY_UNDER_WAY(needs_type(&n->marshal, type)); }

bool ek_collectives_need_op(MPI_Op op) { ANY_UNDER_WAY(needs_op(&n->marshal, op)); }
