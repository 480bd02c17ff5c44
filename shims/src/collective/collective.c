/* Every collective call comes through here: is it ours, how are its data to be handed over, do it. */
#include "shim.h"

int ek_failed(MPI_Comm comm, int error)
{
    int code = ek_error_class(error);
    ek_depth++;
    ek_host.Comm_call_errhandler(comm, code);
    ek_depth--;
    return code;
}

/* A reduction of few elements of a plain type is what most programs call most often: no job, no table of
 * pieces. */
static bool plain(ek_call *call, const ek_args *a, const ek_entry *e)
{
    ek_type unused;
    const ek_type *t;
    int op;
    if (a->sendcount < 0 || (a->kind == EK_REDUCE && (a->root < 0 || a->root >= e->size)))
        return false;
    t = ek_type_of(a->sendtype, &unused);
    op = ek_op_of(a->op);
    if (!t || op < 0 || !t->builtin[op] || a->sendcount > PTRDIFF_MAX / 16)
        return false;
    bool receives = a->kind == EK_ALLREDUCE || e->rank == a->root;
    const void *send = a->sendbuf;
    if (send == MPI_IN_PLACE)
        send = receives ? a->recvbuf : NULL;
    call->kind = a->kind;
    call->root = a->root;
    call->bytes = (size_t)(a->sendcount * t->size);
    call->send = send;
    call->recv = receives ? a->recvbuf : NULL;
    call->send_spans = call->recv_spans = NULL;
    call->combine = t->builtin[op];
    call->combine_ctx = NULL;
    call->elem_bytes = (size_t)t->size;
    return send && (!receives || (call->recv && call->recv != MPI_IN_PLACE));
}

static int blocking(ek_entry *e, const ek_args *a)
{
    ek_job job;
    int code = ek_prepare(&job, e, a);
    if (code)
        return code;
    int error = ek_run(e->ek, &job.call);
    if (error)
        job.pieces_used = 0; /* there is nothing to unpack */
    ek_job_settle(&job);
    return error ? ek_failed(a->comm, error) : MPI_SUCCESS;
}

static int nonblocking(ek_entry *e, const ek_args *a)
{
    ek_job *job = malloc(sizeof *job);
    if (!job)
        return MPI_ERR_NO_MEM;
    int code = ek_prepare(job, e, a);
    if (!code)
        code = ek_launch(job, a->request);
    else
        free(job);
    return code;
}

int ek_collective(ek_entry *e, const ek_args *a)
{
    ek_note_ran();
    if (!a->request && (a->kind == EK_ALLREDUCE || a->kind == EK_REDUCE)) {
        ek_call call;
        if (EK_LIKELY(plain(&call, a, e))) {
            if (!ek_takes(e->ek, call.kind, call.bytes, call.elem_bytes, call.combine, 0))
                return EK_HOST_SHALL;
            int error = ek_run(e->ek, &call);
            return EK_LIKELY(!error) ? MPI_SUCCESS : ek_failed(a->comm, error);
        }
    }
    int code = a->request ? nonblocking(e, a) : blocking(e, a);
    if (code > 0 && code == MPI_ERR_NO_MEM) {
        ek_depth++;
        ek_host.Comm_call_errhandler(a->comm, code);
        ek_depth--;
    }
    return code;
}
