/* Making ready what moves blocks of different sizes: Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw.
 * Their blocks become spans: of the program's buffer if no element has holes, else of one packed copy. */
#include "shim.h"

/* One rank's blocks for, or from, all ranks: as the program describes them. */
typedef struct blocks {
    const void *buffer, *counts, *displs;
    const MPI_Datatype
        *types; /* one per rank, displacements in bytes; NULL: `type`, displacements in extents */
    MPI_Datatype type;
    bool wide;
    char
        *base; /* out: what the spans are relative to: the buffer, or if that is MPI_BOTTOM the first block */
    bool dense;   /* out: no block needs packing */
    size_t bytes; /* out: of all blocks */
} blocks;

static bool block(const blocks *b, int rank, ek_side *side, char **user)
{
    MPI_Count count = ek_number(b->counts, b->wide, rank), displacement = ek_number(b->displs, b->wide, rank);
    if (!count) { /* type and displacement of an empty block may be anything */
        *user = NULL;
        side->bytes = 0;
        side->count = 0;
        return true;
    }
    if (!ek_measure(side, count, b->types ? b->types[rank] : b->type))
        return false;
    *user = (char *)(uintptr_t)b->buffer + (b->types ? displacement : displacement * side->type->extent);
    return true;
}

/* Spans within the program's buffer; what the sizes are is known afterwards. */
static bool survey(blocks *b, int ranks, ek_span *spans)
{
    ek_side side;
    char *user;
    if (!b->counts || !b->displs || b->buffer == MPI_IN_PLACE)
        return false;
    b->base = (char *)(uintptr_t)b->buffer;
    b->dense = true;
    b->bytes = 0;
    for (int r = 0; r < ranks; r++) {
        if (!block(b, r, &side, &user))
            return false;
        spans[r] = (ek_span){.offset = 0, .bytes = side.bytes};
        if (!side.bytes)
            continue;
        if (!b->base)
            b->base = user;
        spans[r].offset = user - b->base;
        b->bytes += side.bytes;
        b->dense &= side.type->dense;
        if (side.type->dense && (uintptr_t)user < 4096)
            return false; /* a null pointer, not an address relative to MPI_BOTTOM */
    }
    return true;
}

/* Spans within a packed copy, and the copy itself. */
static char *compact(ek_job *job, const blocks *b, int ranks, ek_span *spans)
{
    size_t used = 0;
    for (int r = 0; r < ranks; r++) {
        spans[r].offset = (ptrdiff_t)used;
        used += spans[r].bytes;
    }
    return ek_job_alloc(job, b->bytes);
}

static int pack_block(const blocks *b, int rank, char *to)
{
    ek_side side;
    char *user;
    if (!block(b, rank, &side, &user))
        return EK_HOST_SHALL;
    if (side.bytes == 0)
        return MPI_SUCCESS;
    if (!side.type->dense)
        return ek_pack(user, side.count, side.handle, side.type, to) ? EK_HOST_SHALL : MPI_SUCCESS;
    memcpy(to, user, side.bytes);
    return MPI_SUCCESS;
}

static int send_blocks(ek_job *job, const blocks *b, int ranks, ek_span *spans, bool copy)
{
    job->call.send = b->base;
    job->call.send_spans = spans;
    if (b->dense && !copy)
        return MPI_SUCCESS;
    char *packed = compact(job, b, ranks, spans);
    int code = packed ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int r = 0; !code && r < ranks; r++)
        code = pack_block(b, r, packed + spans[r].offset);
    job->call.send = packed;
    return code;
}

static int receive_blocks(ek_job *job, const blocks *b, int ranks, ek_span *spans)
{
    job->call.recv = b->base;
    job->call.recv_spans = spans;
    if (b->dense)
        return MPI_SUCCESS;
    char *packed = compact(job, b, ranks, spans);
    job->pieces = ek_job_alloc(job, sizeof(ek_piece) * (size_t)ranks);
    if (!packed || !job->pieces)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < ranks; r++) {
        ek_side side;
        char *user;
        if (!block(b, r, &side, &user))
            return EK_HOST_SHALL;
        if (side.bytes)
            ek_add_piece(job, &side, user, side.count, packed + spans[r].offset);
    }
    job->call.recv = packed;
    return MPI_SUCCESS;
}

static int gatherv(ek_job *job, const ek_args *a, blocks *out, ek_span *spans, bool receives)
{
    ek_call *call = &job->call;
    int me = job->entry->rank, n = job->entry->size, code;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    ek_side in;
    if ((in_place && !receives) || (!in_place && !ek_measure(&in, a->sendcount, a->sendtype)) ||
        (receives && !survey(out, n, spans)))
        return EK_HOST_SHALL;
    call->bytes = in_place ? spans[me].bytes : in.bytes;
    size_t largest = 0;
    for (int r = 0; a->kind == EK_ALLGATHERV && r < n; r++)
        largest = spans[r].bytes > largest ? spans[r].bytes : largest;
    if (!ek_granted(job, a, largest))
        return EK_HOST_SHALL;
    if (receives && (code = receive_blocks(job, out, n, spans)))
        return code;
    if (!in_place)
        return ek_hand_over(job, &in, a->sendbuf, in.count, NULL, &call->send);
    call->send = (char *)call->recv + spans[me].offset;
    return out->dense ? MPI_SUCCESS : pack_block(out, me, (char *)call->recv + spans[me].offset);
}

static int scatterv(ek_job *job, const ek_args *a, blocks *in, ek_span *spans)
{
    ek_call *call = &job->call;
    int me = job->entry->rank, n = job->entry->size, code;
    bool root = me == a->root, in_place = a->recvbuf == MPI_IN_PLACE;
    ek_side out;
    if ((in_place && !root) || (!in_place && !ek_measure(&out, a->recvcount, a->recvtype)) ||
        (root && !survey(in, n, spans)))
        return EK_HOST_SHALL;
    call->bytes = in_place ? spans[me].bytes : out.bytes;
    if (!ek_granted(job, a, 0))
        return EK_HOST_SHALL;
    if (root && (code = send_blocks(job, in, n, spans, false)))
        return code;
    if (!in_place)
        return ek_expect(job, &out, a->recvbuf, out.count, &call->recv);
    call->recv = (char *)(uintptr_t)call->send + spans[me].offset;
    return MPI_SUCCESS;
}

static int alltoallv(ek_job *job, const ek_args *a, blocks *in, blocks *out, ek_span *send_spans,
                     ek_span *recv_spans)
{
    int n = job->entry->size;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    if (!survey(out, n, recv_spans) || (!in_place && !survey(in, n, send_spans)))
        return EK_HOST_SHALL;
    if (!ek_granted(job, a, 0))
        return EK_HOST_SHALL;
    if (in_place) {
        *in = *out;
        memcpy(send_spans, recv_spans, sizeof(ek_span) * (size_t)n);
    }
    int code = send_blocks(job, in, n, send_spans, in_place);
    return code ? code : receive_blocks(job, out, n, recv_spans);
}

int ek_prepare_uneven(ek_job *job, const ek_args *a)
{
    int n = job->entry->size;
    bool rooted = a->kind == EK_GATHERV || a->kind == EK_SCATTERV;
    if (rooted && (a->root < 0 || a->root >= n))
        return EK_HOST_SHALL;
    job->spans = n <= EK_FEW ? job->few_spans : ek_job_alloc(job, 2 * sizeof(ek_span) * (size_t)n);
    if (!job->spans)
        return MPI_ERR_NO_MEM;
    blocks in = {.buffer = a->sendbuf,
                 .counts = a->sendcounts,
                 .displs = a->sdispls,
                 .types = a->sendtypes,
                 .type = a->sendtype,
                 .wide = a->wide};
    blocks out = {.buffer = a->recvbuf,
                  .counts = a->recvcounts,
                  .displs = a->rdispls,
                  .types = a->recvtypes,
                  .type = a->recvtype,
                  .wide = a->wide};
    switch (a->kind) {
    case EK_GATHERV: return gatherv(job, a, &out, job->spans, job->entry->rank == a->root);
    case EK_ALLGATHERV: return gatherv(job, a, &out, job->spans, true);
    case EK_SCATTERV: return scatterv(job, a, &in, job->spans);
    default:
        if (a->kind == EK_ALLTOALLW && (!a->recvtypes || (!a->sendtypes && a->sendbuf != MPI_IN_PLACE)))
            return EK_HOST_SHALL;
        return alltoallv(job, a, &in, &out, job->spans, job->spans + n);
    }
}
