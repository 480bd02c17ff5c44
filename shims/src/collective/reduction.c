/* Making reductions ready. All ranks pass the same count, type and operator (MPI demands it), so these may
 * decide. */
#include "shim.h"

static int choose_combine(ek_job *job, const ek_args *a, const ek_side *side, bool laid_out)
{
    const ek_type *t = side->type;
    int op = ek_op_of(a->op);
    if (op == -2 || t->size == 0 || (op >= 0 && !(t->named && ek_op_fits(op, t->class))))
        return EK_HOST_SHALL; /* also what is an error: the host says so in its own words */
    job->call.elem_bytes = (size_t)(laid_out ? t->extent : t->size);
    if (op >= 0 && t->builtin[op]) {
        job->call.combine = t->builtin[op];
        return MPI_SUCCESS;
    }
    job->fold = (ek_fold){.type = side->handle, .op = a->op, .size = t->size, .extent = t->extent};
    if (!laid_out) {
        MPI_Count extent;
        if (ek_host.Type_get_true_extent_x(side->handle, &job->fold.low, &extent))
            return EK_HOST_SHALL;
        job->fold.high = job->fold.low + extent;
    }
    job->call.combine = laid_out ? ek_fold_laid_out : ek_fold_packed;
    job->call.combine_ctx = &job->fold;
    return MPI_SUCCESS;
}

/* REDUCE_SCATTER: the parts of the vector, in elements, to spans. */
static int lay_parts(ek_job *job, const ek_args *a, MPI_Count *total)
{
    int n = job->entry->size;
    job->spans = n <= 2 * EK_FEW ? job->few_spans : ek_job_alloc(job, sizeof(ek_span) * (size_t)n);
    if (!job->spans)
        return MPI_ERR_NO_MEM;
    *total = 0;
    for (int r = 0; r < n; r++) {
        MPI_Count part = ek_number(a->recvcounts, a->wide, r);
        if (part < 0)
            return EK_HOST_SHALL;
        job->spans[r] = (ek_span){.offset = (ptrdiff_t)*total, .bytes = (size_t)part};
        *total += part;
    }
    job->call.recv_spans = job->spans;
    return MPI_SUCCESS;
}

int ek_prepare_reduction(ek_job *job, const ek_args *a)
{
    const ek_entry *e = job->entry;
    ek_call *call = &job->call;
    MPI_Count vector = a->kind == EK_REDUCE_SCATTER_BLOCK ? a->recvcount : a->sendcount;
    int code = MPI_SUCCESS;
    if (a->kind == EK_REDUCE_SCATTER)
        code = a->recvcounts ? lay_parts(job, a, &vector) : EK_HOST_SHALL;
    ek_side side;
    if (code || !ek_measure(&side, vector, a->sendtype))
        return code ? code : EK_HOST_SHALL;
    /* Predefined pairs may have a hole (MPI_DOUBLE_INT): as every rank has the same type, they travel hole
     * and all. */
    bool laid_out = side.type->named || side.type->dense;
    if ((code = choose_combine(job, a, &side, laid_out)))
        return code;
    size_t unit = call->elem_bytes;
    call->bytes = (size_t)vector * unit;
    for (int r = 0; a->kind == EK_REDUCE_SCATTER && r < e->size; r++)
        job->spans[r] =
            (ek_span){.offset = job->spans[r].offset * (ptrdiff_t)unit, .bytes = job->spans[r].bytes * unit};

    bool rooted = a->kind == EK_REDUCE, in_place = a->sendbuf == MPI_IN_PLACE,
         receives = !rooted || e->rank == a->root;
    const void *in = in_place ? a->recvbuf : a->sendbuf;
    MPI_Count handed_in = a->kind == EK_REDUCE_SCATTER_BLOCK ? vector * e->size : vector;
    if ((rooted && (a->root < 0 || a->root >= e->size)) || (in_place && !receives) ||
        (receives && a->recvbuf == MPI_IN_PLACE))
        return EK_HOST_SHALL;
    if (laid_out && handed_in && (!in || (receives && !a->recvbuf)))
        return EK_HOST_SHALL;
    if (!ek_granted(job, a, call->bytes))
        return EK_HOST_SHALL;
    if (laid_out) {
        call->send = in;
        call->recv = receives ? a->recvbuf : NULL;
        return MPI_SUCCESS;
    }
    char *packed = ek_job_alloc(job, (size_t)handed_in * unit);
    if (!packed)
        return MPI_ERR_NO_MEM;
    call->send = packed;
    call->recv = receives ? packed : NULL;
    if (ek_pack(in, handed_in, side.handle, side.type, packed))
        return EK_HOST_SHALL;
    MPI_Count out = a->kind == EK_REDUCE_SCATTER ? ek_number(a->recvcounts, a->wide, e->rank) : vector;
    if (receives && !(a->kind == EK_EXSCAN && e->rank == 0))
        ek_add_piece(job, &side, a->recvbuf, out, packed);
    return MPI_SUCCESS;
}
