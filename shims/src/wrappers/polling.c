#include "wrappers/polling.h"
#include "collective/nonblocking.h"
#include "host/pack.h"
#include "process/faults.h"
#include "process/host_looks.h"
#include "process/state.h"
#include <limits.h>
#include <stdlib.h>

static void progress(void)
{
    ek_collectives_poll();
    if (ek_process.carries_messages)
        ek_messages_progress();
}

/* ---- calls that have a form that tests ---- */

/* A test that is refused leaves its flag as it is, and MPICH returns success then if an error handler of the
 * program's has returned. So does the blocking call. */
enum { NOT_SAID = -1 };

/* Repeats `attempt`, which sets flag and is an error code, until it succeeds. When there is no reason to poll
 * any more, it makes the host's own blocking call instead: `otherwise`. The program waits for `count`
 * `requests`, if any. */
#define POLL(count, requests, attempt, otherwise)                  \
    do {                                                           \
        ek_pause pause = {0};                                      \
        for (bool is_first = true;; is_first = false) {            \
            int flag = NOT_SAID, code;                             \
            progress();                                            \
            if (!ek_must_progress())                               \
                return otherwise;                                  \
            {                                                      \
                EK_HOST_TESTS_SCOPE;                               \
                code = attempt;                                    \
            }                                                      \
            if (code || flag)                                      \
                return code;                                       \
            if (is_first && (count))                               \
                ek_collectives_set_awaited(count, requests, true); \
            ek_pause_once(&pause);                                 \
        }                                                          \
    } while (0)

int ek_poll_wait(MPI_Request *request, MPI_Status *status, __typeof__(PMPI_Wait) *next)
{
    POLL(1, request, ek_host.Test(request, &flag, status), next(request, status));
}

/* Waits for a request by tests alone, also when there is no reason to poll any more: that is little slower
 * than MPI_Wait, which another tool might see. */
static int await(MPI_Request *request, MPI_Status *status)
{
    ek_pause pause = {0};
    for (;;) {
        int flag = NOT_SAID, code;
        {
            EK_HOST_TESTS_SCOPE;
            code = ek_host.Test(request, &flag, status);
        }
        if (code || flag)
            return code;
        progress();
        if (ek_must_progress())
            ek_pause_once(&pause);
        else
            ek_host_pause_once(&pause);
    }
}

/* Each request by itself: MPICH's MPI_Testall fails on persistent collectives, leaves requests that have
 * failed, and looks at all requests each time. */
int ek_poll_waitall(int count, MPI_Request *requests, MPI_Status *statuses, __typeof__(PMPI_Waitall) *next)
{
    bool has_failed = false;
    if (count <= 0 || !requests || (!statuses && MPI_STATUSES_IGNORE))
        return next(count, requests, statuses); /* it checks its arguments */
    /* After the failure of a process, to wait for the other requests may take for ever. */
    if (ek_host_reports_faults())
        POLL(count, requests, ek_host.Testall(count, requests, &flag, statuses),
             next(count, requests, statuses));
    ek_collectives_set_awaited(count, requests, true);
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int code = await(&requests[i], status);
        if (status != MPI_STATUS_IGNORE && code && !has_failed)
            for (int before = 0; before < i; before++)
                statuses[before].MPI_ERROR = MPI_SUCCESS;
        has_failed |= code != MPI_SUCCESS;
        if (status != MPI_STATUS_IGNORE && has_failed)
            status->MPI_ERROR = code;
    }
    return has_failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

static int poll_any(int count, MPI_Request *requests, int *index, MPI_Status *status,
                    __typeof__(PMPI_Waitany) *next)
{
    POLL(count, requests, ek_host.Testany(count, requests, index, &flag, status),
         next(count, requests, index, status));
}

int ek_poll_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status,
                    __typeof__(PMPI_Waitany) *next)
{
    int code = poll_any(count, requests, index, status, next);
    ek_collectives_set_awaited(count, requests, false);
    return code;
}

static int test_some(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses,
                     int *flag)
{
    *completed = NOT_SAID;
    int code = ek_host.Testsome(count, requests, completed, indices, statuses);
    *flag = !code && *completed != 0; /* also MPI_UNDEFINED: no active request */
    return code;
}

static int poll_some(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses,
                     __typeof__(PMPI_Waitsome) *next)
{
    POLL(count, requests, test_some(count, requests, completed, indices, statuses, &flag),
         next(count, requests, completed, indices, statuses));
}

int ek_poll_waitsome(int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses,
                     __typeof__(PMPI_Waitsome) *next)
{
    int code = poll_some(count, requests, completed, indices, statuses, next);
    ek_collectives_set_awaited(count, requests, false);
    return code;
}

int ek_poll_probe(int source, int tag, MPI_Comm comm, MPI_Status *status, __typeof__(PMPI_Probe) *next)
{
    POLL(0, NULL, ek_host.Iprobe(source, tag, comm, &flag, status), next(source, tag, comm, status));
}

int ek_poll_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status,
                   __typeof__(PMPI_Mprobe) *next)
{
    POLL(0, NULL, ek_host.Improbe(source, tag, comm, &flag, message, status),
         next(source, tag, comm, message, status));
}

/* ---- sends and receives: started, then tested ----
 *
 * MPICH's start returns success, and no request, when an error handler of the program's has returned: the
 * requests are null before. */

/* False: the host refuses the send, before it posts a receive that might take a message. */
static bool may_send_to(int dest, MPI_Comm comm)
{
    const ek_comm_entry *e = comm == ek_handles.comm_null ? NULL : ek_comm_find(comm);
    return dest == MPI_PROC_NULL || !e || (dest >= 0 && dest < e->size);
}

/* An error handler of the program's has returned from an error. */
static bool was_refused(MPI_Request send, int dest)
{
    return dest != MPI_PROC_NULL && send == ek_handles.request_null;
}

/* Takes back a receive whose send could not be started, or has failed. */
static void take_back(MPI_Request *receive)
{
    if (*receive == ek_handles.request_null)
        return;
    ek_host.Cancel(receive);
    await(receive, MPI_STATUS_IGNORE);
}

/* `receive` NULL: there is none. */
static int await_both(MPI_Request *send, MPI_Request *receive, MPI_Status *status)
{
    int code = await(send, MPI_STATUS_IGNORE);
    if (code && receive)
        take_back(receive);
    return code || !receive ? code : await(receive, status);
}

/* Makes a packed copy of a buffer, for MPI_Sendrecv_replace. Returns false if an int cannot count its bytes,
 * or if something is wrong. */
static bool copy_packed(const void *buf, MPI_Count count, MPI_Datatype type, char **copy, int *bytes,
                        int *code)
{
    ek_elements elements;
    if (!ek_elements_measure(&elements, count, type) || elements.bytes > INT_MAX)
        return false;
    *bytes = (int)elements.bytes;
    *copy = malloc(elements.bytes + 1);
    *code = *copy ? ek_pack(buf, count, &elements.type->layout, *copy) : MPI_ERR_NO_MEM;
    return true;
}

#define SEND(name, start, N, suffix)                                                           \
    int ek_poll_##name##suffix(const void *buf, N count, MPI_Datatype type, int dest, int tag, \
                               MPI_Comm comm, __typeof__(PMPI_Send##suffix) *next)             \
    {                                                                                          \
        MPI_Request request = ek_handles.request_null;                                         \
        (void)next;                                                                            \
        int code = ek_host.start##suffix(buf, count, type, dest, tag, comm, &request);         \
        return code ? code : await(&request, MPI_STATUS_IGNORE);                               \
    }

/* From MPI_PROC_NULL nothing comes. The host's blocking call does not wait then, and sets the status right;
 * MPICH's MPI_Irecv and MPI_Test do not. */
#define RECEIVE(N, suffix)                                                                              \
    int ek_poll_recv##suffix(void *buf, N count, MPI_Datatype type, int source, int tag, MPI_Comm comm, \
                             MPI_Status *status, __typeof__(PMPI_Recv##suffix) *next)                   \
    {                                                                                                   \
        MPI_Request request = ek_handles.request_null;                                                  \
        if (source == MPI_PROC_NULL)                                                                    \
            return next(buf, count, type, source, tag, comm, status);                                   \
        int code = ek_host.Irecv##suffix(buf, count, type, source, tag, comm, &request);                \
        return code ? code : await(&request, status);                                                   \
    }                                                                                                   \
    int ek_poll_mrecv##suffix(void *buf, N count, MPI_Datatype type, MPI_Message *message,              \
                              MPI_Status *status, __typeof__(PMPI_Mrecv##suffix) *next)                 \
    {                                                                                                   \
        MPI_Request request = ek_handles.request_null;                                                  \
        if (*message == MPI_MESSAGE_NO_PROC)                                                            \
            return next(buf, count, type, message, status);                                             \
        int code = ek_host.Imrecv##suffix(buf, count, type, message, &request);                         \
        return code ? code : await(&request, status);                                                   \
    }

#define SEND_RECEIVE(N, suffix)                                                                              \
    int ek_poll_sendrecv##suffix(const void *out, N out_count, MPI_Datatype out_type, int dest, int out_tag, \
                                 void *in, N in_count, MPI_Datatype in_type, int source, int in_tag,         \
                                 MPI_Comm comm, MPI_Status *status, __typeof__(PMPI_Sendrecv##suffix) *next) \
    {                                                                                                        \
        MPI_Request receive = ek_handles.request_null, send = ek_handles.request_null;                       \
        bool is_from_a_rank = source != MPI_PROC_NULL;                                                       \
        int code = MPI_SUCCESS;                                                                              \
        if (!may_send_to(dest, comm))                                                                        \
            return next(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag,      \
                        comm, status);                                                                       \
        if (is_from_a_rank)                                                                                  \
            code = ek_host.Irecv##suffix(in, in_count, in_type, source, in_tag, comm, &receive);             \
        if (code || (is_from_a_rank && receive == ek_handles.request_null))                                  \
            return code;                                                                                     \
        code = ek_host.Isend##suffix(out, out_count, out_type, dest, out_tag, comm, &send);                  \
        if (code || was_refused(send, dest)) {                                                               \
            take_back(&receive);                                                                             \
            return code;                                                                                     \
        }                                                                                                    \
        code = await_both(&send, is_from_a_rank ? &receive : NULL, status);                                  \
        if (code || is_from_a_rank)                                                                          \
            return code;                                                                                     \
        return next(out, out_count, out_type, MPI_PROC_NULL, out_tag, in, in_count, in_type, source, in_tag, \
                    comm, status);                                                                           \
    }                                                                                                        \
    int ek_poll_sendrecv_replace##suffix(void *buf, N count, MPI_Datatype type, int dest, int out_tag,       \
                                         int source, int in_tag, MPI_Comm comm, MPI_Status *status,          \
                                         __typeof__(PMPI_Sendrecv_replace##suffix) *next)                    \
    {                                                                                                        \
        MPI_Request receive = ek_handles.request_null, send = ek_handles.request_null;                       \
        bool is_from_a_rank = source != MPI_PROC_NULL;                                                       \
        char *copy;                                                                                          \
        int bytes, code;                                                                                     \
        if (!may_send_to(dest, comm) || !copy_packed(buf, count, type, &copy, &bytes, &code))                \
            return next(buf, count, type, dest, out_tag, source, in_tag, comm, status);                      \
        if (!code && is_from_a_rank)                                                                         \
            code = ek_host.Irecv##suffix(buf, count, type, source, in_tag, comm, &receive);                  \
        bool is_over = code || (is_from_a_rank && receive == ek_handles.request_null);                       \
        if (!is_over) {                                                                                      \
            code = ek_host.Isend##suffix(copy, bytes, MPI_PACKED, dest, out_tag, comm, &send);               \
            is_over = code || was_refused(send, dest);                                                       \
            if (is_over)                                                                                     \
                take_back(&receive);                                                                         \
            else                                                                                             \
                code = await_both(&send, is_from_a_rank ? &receive : NULL, status);                          \
        }                                                                                                    \
        free(copy);                                                                                          \
        if (code || is_over || is_from_a_rank)                                                               \
            return code;                                                                                     \
        return next(buf, count, type, MPI_PROC_NULL, out_tag, source, in_tag, comm, status);                 \
    }

#define POINT_TO_POINT(N, suffix)  \
    SEND(send, Isend, N, suffix)   \
    SEND(ssend, Issend, N, suffix) \
    SEND(rsend, Irsend, N, suffix) \
    RECEIVE(N, suffix)             \
    SEND_RECEIVE(N, suffix)

POINT_TO_POINT(int, )
#ifdef EK_HAS_Pack_c
POINT_TO_POINT(MPI_Count, _c)
#endif
