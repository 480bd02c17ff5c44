/* Nonblocking operations. Their requests are the host's generalized requests, so that every Wait and Test of
 * the host knows them; the wrappers of Wait and Test only see to it that ours move on, and complete them
 * here. */
#include "shim.h"
#include <pthread.h>

_Atomic int ek_outstanding;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* the list, entries' pending and doomed, the late frees */
static ek_job *jobs;

/* Operators and types that the program freed while an operation might still use them: freed when none is
 * under way. */
static struct late {
    struct late *next;
    bool is_op;
    MPI_Op op;
    MPI_Datatype type;
} *late;

static int query(void *job, MPI_Status *status)
{
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    ek_host.Status_set_elements(status, ek_handles.byte, 0);
    ek_host.Status_set_cancelled(status, 0);
    return job ? ((const ek_job *)job)->outcome : MPI_SUCCESS;
}

static int forget(void *job)
{
    free(job);
    return MPI_SUCCESS;
}
static int refuse(void *unused, int complete)
{
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

int ek_request_unbound(MPI_Request *handle, ek_job *job)
{
    return ek_host.Grequest_start(query, forget, refuse, job, handle);
}

static void free_late(void)
{
    while (late) {
        struct late *l = late;
        late = l->next;
        if (l->is_op)
            ek_host.Op_free(&l->op);
        else
            ek_host.Type_free(&l->type);
        free(l);
    }
}

/* Under the lock. The job is complete in the engine; after this it is complete for MPI. */
static void complete(ek_job *job)
{
    int error = ek_request_free(job->request);
    if (error) {
        job->pieces_used = 0; /* there is nothing to unpack */
        job->outcome = ek_error_class(error);
    }
    ek_job_settle(job);
    if (job->previous)
        job->previous->next = job->next;
    else
        jobs = job->next;
    if (job->next)
        job->next->previous = job->previous;
    if (--job->entry->pending == 0 && job->entry->doomed)
        ek_entry_release(job->entry);
    ek_host.Grequest_complete(job->handle); /* the job is the request's now, and may be gone */
    if (--ek_outstanding == 0)
        free_late();
}

void ek_poll(void)
{
    /* Not waiting for the lock: whoever has it is doing the same; and an operator of the program that calls
     * MPI_Test from inside gets past. */
    if (ek_depth || pthread_mutex_trylock(&lock))
        return;
    ek_depth++;
    for (ek_job *job = jobs, *next; job; job = next) {
        next = job->next;
        if (ek_done(job->request))
            complete(job);
    }
    ek_depth--;
    pthread_mutex_unlock(&lock);
}

int ek_launch(ek_job *job, MPI_Request *handle)
{
    job->outcome = MPI_SUCCESS;
    int code = ek_request_unbound(&job->handle, job);
    if (code) { /* out of memory, most likely; the operation has not begun */
        job->pieces_used = 0;
        ek_job_settle(job);
        free(job);
        return code;
    }
    *handle = job->handle;
    pthread_mutex_lock(&lock);
    ek_depth++;
    ek_outstanding++;
    job->entry->pending++;
    job->previous = NULL;
    job->next = jobs;
    if (jobs)
        jobs->previous = job;
    jobs = job;
    job->request = ek_start(job->entry->ek, &job->call);
    if (ek_done(job->request))
        complete(job);
    ek_depth--;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

bool ek_entry_forsake(ek_entry *e)
{
    /* Inside complete() the lock is ours already, but no communicator is freed from there. */
    pthread_mutex_lock(&lock);
    bool idle = e->pending == 0;
    e->doomed = !idle;
    pthread_mutex_unlock(&lock);
    return idle;
}

static int free_later(struct late l)
{
    if (!ek_outstanding)
        return 0;
    struct late *kept = malloc(sizeof *kept);
    if (!kept)
        return 0;
    *kept = l;
    pthread_mutex_lock(&lock);
    kept->next = late;
    late = kept;
    if (!ek_outstanding)
        free_late();
    pthread_mutex_unlock(&lock);
    return 1;
}

int ek_op_free_later(MPI_Op op)
{
    return ek_op_of(op) == -1 && free_later((struct late){.is_op = true, .op = op});
}

int ek_type_free_later(MPI_Datatype type)
{
    ek_type scratch;
    const ek_type *t = ek_type_of(type, &scratch);
    return t && !t->named && free_later((struct late){.type = type});
}
