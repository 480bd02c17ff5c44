/* See waits.h. Each loop ends in the host's own blocking call as soon as nothing of ours is under way any
 * more. */
#include "wrappers/polling.h"

static void move_on(void)
{
    ek_poll();
    if (ek_messages)
        ek_messages_progress();
}

/* `attempt` sets code and flag; `otherwise` is the blocking call. */
#define UNTIL(attempt, otherwise)  \
    do {                           \
        ek_pause pause = {{0}};    \
        for (;;) {                 \
            int flag = 0, code;    \
            move_on();             \
            if (!ek_under_way())   \
                return otherwise;  \
            code = attempt;        \
            if (code || flag)      \
                return code;       \
            ek_pause_once(&pause); \
        }                          \
    } while (0)

int ek_wait(MPI_Request *request, MPI_Status *status, __typeof__(PMPI_Wait) *next)
{
    UNTIL(ek_host.Test(request, &flag, status), next(request, status));
}

int ek_waitall(int count, MPI_Request *requests, MPI_Status *statuses, __typeof__(PMPI_Waitall) *next)
{
    UNTIL(ek_host.Testall(count, requests, &flag, statuses), next(count, requests, statuses));
}

int ek_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status,
               __typeof__(PMPI_Waitany) *next)
{
    UNTIL(ek_host.Testany(count, requests, index, &flag, status), next(count, requests, index, status));
}

static int some(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses, int *flag)
{
    int code = ek_host.Testsome(count, requests, out, indices, statuses);
    *flag = !code && *out != 0; /* also MPI_UNDEFINED: no active request */
    return code;
}

int ek_waitsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses,
                __typeof__(PMPI_Waitsome) *next)
{
    UNTIL(some(count, requests, out, indices, statuses, &flag),
          next(count, requests, out, indices, statuses));
}

int ek_probe(int source, int tag, MPI_Comm comm, MPI_Status *status, __typeof__(PMPI_Probe) *next)
{
    UNTIL(ek_host.Iprobe(source, tag, comm, &flag, status), next(source, tag, comm, status));
}

int ek_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status,
              __typeof__(PMPI_Mprobe) *next)
{
    UNTIL(ek_host.Improbe(source, tag, comm, &flag, message, status),
          next(source, tag, comm, message, status));
}

/* A request of the shim's own. When nothing of ours is under way any more, testing goes on: it is but a
 * little slower than MPI_Wait, whose wrapped form another tool might see. */
static int finish(MPI_Request *request, MPI_Status *status)
{
    ek_pause pause = {{0}};
    for (;;) {
        int flag = 0, code = ek_host.Test(request, &flag, status);
        if (code || flag)
            return code;
        move_on();
        ek_pause_once(&pause);
    }
}

#define SENDING(name, start, count_type, suffix)                                                   \
    int ek_##name##suffix(const void *buf, count_type count, MPI_Datatype type, int dest, int tag, \
                          MPI_Comm comm, __typeof__(PMPI_Send##suffix) *next)                      \
    {                                                                                              \
        MPI_Request request;                                                                       \
        (void)next;                                                                                \
        int code = ek_host.start##suffix(buf, count, type, dest, tag, comm, &request);             \
        return code ? code : finish(&request, MPI_STATUS_IGNORE);                                  \
    }

#define POINT_TO_POINT(count_type, suffix)                                                                   \
    SENDING(send, Isend, count_type, suffix)                                                                 \
    SENDING(ssend, Issend, count_type, suffix)                                                               \
    SENDING(rsend, Irsend, count_type, suffix)                                                               \
    int ek_recv##suffix(void *buf, count_type count, MPI_Datatype type, int source, int tag, MPI_Comm comm,  \
                        MPI_Status *status, __typeof__(PMPI_Recv##suffix) *next)                             \
    {                                                                                                        \
        MPI_Request request;                                                                                 \
        (void)next;                                                                                          \
        int code = ek_host.Irecv##suffix(buf, count, type, source, tag, comm, &request);                     \
        return code ? code : finish(&request, status);                                                       \
    }                                                                                                        \
    int ek_mrecv##suffix(void *buf, count_type count, MPI_Datatype type, MPI_Message *message,               \
                         MPI_Status *status, __typeof__(PMPI_Mrecv##suffix) *next)                           \
    {                                                                                                        \
        MPI_Request request;                                                                                 \
        (void)next;                                                                                          \
        int code = ek_host.Imrecv##suffix(buf, count, type, message, &request);                              \
        return code ? code : finish(&request, status);                                                       \
    }                                                                                                        \
    int ek_sendrecv##suffix(const void *out, count_type out_count, MPI_Datatype out_type, int dest,          \
                            int out_tag, void *in, count_type in_count, MPI_Datatype in_type, int source,    \
                            int in_tag, MPI_Comm comm, MPI_Status *status,                                   \
                            __typeof__(PMPI_Sendrecv##suffix) *next)                                         \
    {                                                                                                        \
        MPI_Request receive, send;                                                                           \
        (void)next;                                                                                          \
        int code = ek_host.Irecv##suffix(in, in_count, in_type, source, in_tag, comm, &receive);             \
        if (!code)                                                                                           \
            code = ek_host.Isend##suffix(out, out_count, out_type, dest, out_tag, comm, &send);              \
        if (!code && !(code = finish(&send, MPI_STATUS_IGNORE)))                                             \
            code = finish(&receive, status);                                                                 \
        return code;                                                                                         \
    }                                                                                                        \
    int ek_sendrecv_replace##suffix(void *buf, count_type count, MPI_Datatype type, int dest, int out_tag,   \
                                    int source, int in_tag, MPI_Comm comm, MPI_Status *status,               \
                                    __typeof__(PMPI_Sendrecv_replace##suffix) *next)                         \
    {                                                                                                        \
        ek_type scratch;                                                                                     \
        const ek_type *t = ek_type_of(type, &scratch);                                                       \
        MPI_Count bytes;                                                                                     \
        if (!t || count < 0 || __builtin_mul_overflow((MPI_Count)count, t->size, &bytes) || bytes > INT_MAX) \
            return next(buf, count, type, dest, out_tag, source, in_tag, comm, status);                      \
        char *copy = malloc((size_t)bytes + 1);                                                              \
        if (!copy)                                                                                           \
            return MPI_ERR_NO_MEM;                                                                           \
        int code = ek_pack(buf, count, type, t, copy);                                                       \
        MPI_Request receive, send;                                                                           \
        if (!code)                                                                                           \
            code = ek_host.Irecv##suffix(buf, count, type, source, in_tag, comm, &receive);                  \
        if (!code)                                                                                           \
            code = ek_host.Isend##suffix(copy, (count_type)bytes, MPI_PACKED, dest, out_tag, comm, &send);   \
        if (!code && !(code = finish(&send, MPI_STATUS_IGNORE)))                                             \
            code = finish(&receive, status);                                                                 \
        free(copy);                                                                                          \
        return code;                                                                                         \
    }

POINT_TO_POINT(int, )
#ifdef EK_HAS_Pack_c
POINT_TO_POINT(MPI_Count, _c)
#endif
