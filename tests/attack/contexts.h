/* Where code of the program can run: by itself, and called back by MPI or by the kernel. */
#ifndef ATTACK_CONTEXTS_H
#define ATTACK_CONTEXTS_H
#include "channel.h"
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>

/* What is to run in the context. */
static void (*work)(void *);
static void *work_argument;
static bool work_done;

static void run_work(void)
{
    if (!work_done) {
        work_done = true;
        work(work_argument);
    }
}

/* ---- called back by MPI ---- */

static MPI_Op operator;
static MPI_Errhandler handler;
static MPI_Comm own,
    everyone; /* duplicates of MPI_COMM_SELF and MPI_COMM_WORLD that have the error handler */
static int comm_key, type_key;

static void operate(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
    run_work();
}

static void on_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    run_work();
}

static int on_delete_comm(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    run_work();
    return MPI_SUCCESS;
}

static int on_copy_type(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t, (void)key, (void)extra, (void)in, (void)out;
    run_work();
    return *flag = 0, MPI_SUCCESS;
}

static int on_query(void *extra, MPI_Status *status)
{
    (void)extra;
    run_work();
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int on_free(void *extra)
{
    (void)extra;
    run_work();
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    run_work();
    return MPI_SUCCESS;
}

static void in_nothing(void) {}

static void in_reduce_local(void)
{
    int a = 0, b = 0;
    MPI_Reduce_local(&a, &b, 1, MPI_INT, operator);
}

static void in_reduction_of_one(void)
{
    int a = 0, b = 0;
    MPI_Scan(&a, &b, 1, MPI_INT, operator, own);
    in_reduce_local(); /* one rank has nothing to combine */
}

static void in_error_handler(void) { MPI_Comm_call_errhandler(own, MPI_ERR_OTHER); }

static void in_raised_error(void) { MPI_Send(&comm_key, 1, MPI_INT, 12345, 0, own); }

/* A message that does not fit its receive. Alone: where MPICH carries messages, it raises such errors of
 * calls that evenkeel divides on MPI_COMM_SELF. */
static void in_truncation(void)
{
    MPI_Request send;
    char out[8] = "", in[4];
    MPI_Isend(out, 8, MPI_BYTE, me, 0, everyone, &send);
    MPI_Recv(in, 4, MPI_BYTE, me, 0, everyone, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* The same of a message that was sent when the round began. So only the receive is called. */
static MPI_Request to_be_truncated[MAX_EVENTS];
static int truncated;

static void in_late_truncation(void)
{
    char in[4];
    MPI_Recv(in, 4, MPI_BYTE, me, 1, everyone, MPI_STATUS_IGNORE);
}

static void late_truncation_begin(void)
{
    static char out[8];
    MPI_Isend(out, 8, MPI_BYTE, me, 1, everyone, &to_be_truncated[truncated++]);
}

static void late_truncation_settle(void)
{
    MPI_Waitall(truncated, to_be_truncated, MPI_STATUSES_IGNORE);
    truncated = 0;
}

static void in_attribute_deletion(void)
{
    MPI_Comm_set_attr(own, comm_key, &comm_key);
    MPI_Comm_delete_attr(own, comm_key);
}

static void in_freed_communicator(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_attr(copy, comm_key, &comm_key);
    MPI_Comm_free(&copy);
}

static void in_attribute_copy(void)
{
    MPI_Datatype type, copy;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, type_key, &type_key);
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
}

static void in_generalized_request(void)
{
    MPI_Request request;
    int done;
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_cancelled_request(void)
{
    MPI_Request request;
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- called back by the kernel, in the handler of a fault ---- */

static sigjmp_buf after_fault;

static void on_fault(int signal)
{
    (void)signal;
    run_work();
    siglongjmp(after_fault, 1);
}

static void in_fault_handler(void)
{
    struct sigaction action = {.sa_handler = on_fault}, old;
    static volatile int *volatile nowhere;
    sigaction(SIGSEGV, &action, &old);
    if (!sigsetjmp(after_fault, 1))
        *nowhere = 1;
    sigaction(SIGSEGV, &old, NULL);
}

static const struct context {
    const char *name;
    void (*enter)(void);
    bool alone;          /* only if it is asked for */
    void (*begin)(void); /* for each time that it is entered, before the round */
} contexts[] = {
    {"itself", in_nothing, false},
    {"operator", in_reduce_local, false},
    {"scan-operator", in_reduction_of_one, false},
    {"error-handler", in_error_handler, false},
    {"raised-error", in_raised_error, false},
    {"truncation", in_truncation, true},
    {"late-truncation", in_late_truncation, true, late_truncation_begin},
    {"attribute-deletion", in_attribute_deletion, false},
    {"communicator-end", in_freed_communicator, false},
    {"attribute-copy", in_attribute_copy, false},
    {"generalized-request", in_generalized_request, false},
    {"cancelled-request", in_cancelled_request, false},
    {"fault-handler", in_fault_handler, true},
};
enum { CONTEXTS = sizeof contexts / sizeof *contexts };

static void contexts_make(void)
{
    MPI_Op_create(operate, 1, &operator);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Comm_set_errhandler(everyone, handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete_comm, &comm_key, NULL);
    MPI_Type_create_keyval(on_copy_type, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
}

static void run_in(const struct context *context, void (*what)(void *), void *argument)
{
    work = what;
    work_argument = argument;
    work_done = false;
    context->enter();
    run_work(); /* if the context was entered without a call back */
}

#endif
