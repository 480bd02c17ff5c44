/* MPI demands that all ranks pass the same count, type and operator, so the decision may depend on these. */
#include "collective/reduction.h"
#include "host/pack.h"

/* Whether elements are sent as they lie in the program's memory. Predefined pairs may have a hole
 * (MPI_DOUBLE_INT). They are sent with it, as every rank has the same type. */
static bool is_laid_out(const ek_type *t) { return t->predefined || t->contiguous; }

/* In the program's memory, only what the type names may change. */
static bool has_holes(const ek_type *t) { return is_laid_out(t) && !t->contiguous; }

static int describe_operator(ek_marshal *m)
{
    const ek_type *t = m->sent.type;
    const ek_layout *layout = &t->layout;
    ek_host_operator *host = &m->host_operator;
    int op = ek_operator_of(m->arguments->op);
    bool is_predefined = op >= 0;
    if (op == EK_OPERATOR_UNSERVED || layout->size == 0 ||
        (is_predefined && !(t->predefined && ek_operator_fits(op, t->type_class))))
        return EK_DECLINED; /* errors too: the host reports them in its own words */
    m->call.elem_bytes = (size_t)(is_laid_out(t) ? layout->extent : layout->size);
    if (is_predefined && t->combine[op]) {
        m->call.combine = t->combine[op];
        return MPI_SUCCESS;
    }
    if (op == EK_OPERATOR_CUSTOM && ek_deferred) /* what the program's function does must not be early */
        ek_complete_deferred("an operator of the program", false);
    *host = (ek_host_operator){.layout = *layout, .op = m->arguments->op};
    if (!is_laid_out(t)) {
        MPI_Count extent;
        if (ek_host.Type_get_true_extent_x(layout->type, &host->low, &extent))
            return EK_DECLINED;
        host->high = host->low + extent;
    }
    m->call.combine = is_laid_out(t) ? ek_reduce_laid_out : ek_reduce_packed;
    m->call.combine_context = host;
    return MPI_SUCCESS;
}

/* ---- Reduce_scatter: parts of the vector, as spans ---- */

/* In elements. */
static int lay_parts(ek_marshal *m, MPI_Count *total)
{
    const ek_arguments *a = m->arguments;
    int n = m->entry->size;
    if (!a->recvcounts)
        return EK_DECLINED;
    m->spans = n <= 2 * EK_FEW_RANKS ? m->few_spans : ek_marshal_allocate(m, sizeof(ek_span) * (size_t)n);
    if (!m->spans)
        return MPI_ERR_NO_MEM;
    *total = 0;
    for (int r = 0; r < n; r++) {
        MPI_Count part = ek_count_at(a->recvcounts, a->large_counts, r);
        if (part < 0)
            return EK_DECLINED;
        m->spans[r] = (ek_span){.offset = (ptrdiff_t)*total, .bytes = (size_t)part};
        *total += part;
    }
    m->call.recv_spans = m->spans;
    return MPI_SUCCESS;
}

/* From elements to bytes. */
static void scale_parts(ek_marshal *m)
{
    size_t unit = m->call.elem_bytes;
    for (int r = 0; r < m->entry->size; r++) {
        m->spans[r].offset *= (ptrdiff_t)unit;
        m->spans[r].bytes *= unit;
    }
}

/* ---- data ---- */

static bool receives(const ek_marshal *m)
{
    return m->arguments->kind != EK_KIND_REDUCE || m->entry->rank == m->arguments->root;
}

static const void *input(const ek_arguments *a)
{
    return a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
}

/* Elements that this rank gets. */
static MPI_Count result(const ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    int me = m->entry->rank;
    if (!receives(m) || (a->kind == EK_KIND_EXSCAN && me == 0))
        return 0;
    return a->kind == EK_KIND_REDUCE_SCATTER ? ek_count_at(a->recvcounts, a->large_counts, me)
                                             : m->sent.count;
}

/* Elements that this rank contributes. */
static MPI_Count contributed(const ek_marshal *m)
{
    return m->arguments->kind == EK_KIND_REDUCE_SCATTER_BLOCK ? m->sent.count * m->entry->size
                                                              : m->sent.count;
}

static int reduction_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    const ek_layout *layout = &m->sent.type->layout;
    ek_call *call = &m->call;
    if (is_laid_out(m->sent.type)) {
        call->send = input(a);
        call->recv = receives(m) ? a->recvbuf : NULL;
        if (!has_holes(m->sent.type) || !result(m))
            return MPI_SUCCESS;
        char *own = ek_marshal_allocate(m, (size_t)result(m) * call->elem_bytes);
        if (!own)
            return MPI_ERR_NO_MEM;
        call->recv = (uint8_t *)own;
        ek_marshal_unpack_later(m, &m->sent, a->recvbuf, result(m), own);
        m->unpackings[m->unpackings_used - 1].laid_out = true;
        return MPI_SUCCESS;
    }
    char *packed = ek_marshal_allocate(m, (size_t)contributed(m) * call->elem_bytes);
    if (!packed)
        return MPI_ERR_NO_MEM;
    call->send = (const uint8_t *)packed;
    call->recv = receives(m) ? (uint8_t *)packed : NULL;
    if (ek_pack(input(a), contributed(m), layout, packed))
        return MPI_ERR_TYPE;
    if (result(m))
        ek_marshal_unpack_later(m, &m->sent, a->recvbuf, result(m), packed);
    return MPI_SUCCESS;
}

/* Whether root and buffers are as they should be. Where nothing comes from or goes to a buffer, it may be
 * NULL: a rank that declined for that reason would leave the others alone in the call. */
static bool check_buffers(const ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool is_rooted = a->kind == EK_KIND_REDUCE;
    if ((is_rooted && (a->root < 0 || a->root >= m->entry->size)) ||
        (a->sendbuf == MPI_IN_PLACE && !receives(m)) || (receives(m) && a->recvbuf == MPI_IN_PLACE))
        return false;
    return !is_laid_out(m->sent.type) || ((!contributed(m) || input(a)) && (!result(m) || a->recvbuf));
}

int ek_describe_reduction(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    MPI_Count vector = a->kind == EK_KIND_REDUCE_SCATTER_BLOCK ? a->recvcount : a->sendcount;
    int code = MPI_SUCCESS;
    if (a->kind == EK_KIND_REDUCE_SCATTER && (code = lay_parts(m, &vector)))
        return code;
    if (!ek_elements_measure(&m->sent, vector, a->sendtype))
        return EK_DECLINED;
    if ((code = describe_operator(m)))
        return code;
    m->call.bytes = (size_t)vector * m->call.elem_bytes;
    if (a->kind == EK_KIND_REDUCE_SCATTER)
        scale_parts(m);
    if (!check_buffers(m))
        return EK_DECLINED;
    return ek_marshal_data(m, is_laid_out(m->sent.type), reduction_data);
}
