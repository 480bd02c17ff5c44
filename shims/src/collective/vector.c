/* Blocks become spans: of the program's buffer if no element has holes, else of one packed copy. */
#include "collective/vector.h"
#include "host/pack.h"
#include <string.h>

enum { LOWEST_ADDRESS = 4096 }; /* a lower one is a null pointer with a displacement */

/* ---- blocks ---- */

/* The block for or from one rank, and where it starts. */
static bool get_block(const ek_blocks *b, int rank, ek_elements *elements, char **start)
{
    MPI_Count count = ek_count_at(b->counts, b->large_counts, rank);
    MPI_Count displacement = ek_count_at(b->displacements, b->large_counts, rank);
    if (!count) { /* type and displacement of an empty block may be anything */
        *start = NULL;
        elements->bytes = 0;
        elements->count = 0;
        return true;
    }
    if (!ek_elements_measure(elements, count, b->types ? b->types[rank] : b->type))
        return false;
    MPI_Count unit = b->types ? 1 : elements->type->layout.extent;
    *start = (char *)(uintptr_t)b->buffer + displacement * unit;
    return true;
}

/* Lays spans over the program's buffer, and finds out what all blocks have in common. */
static bool survey(ek_blocks *b, int ranks, ek_span *spans)
{
    ek_elements elements;
    char *start;
    if (!b->counts || !b->displacements || b->buffer == MPI_IN_PLACE)
        return false;
    b->base = (char *)(uintptr_t)b->buffer;
    b->contiguous = true;
    b->bytes = 0;
    for (int r = 0; r < ranks; r++) {
        if (!get_block(b, r, &elements, &start))
            return false;
        spans[r] = (ek_span){.offset = 0, .bytes = elements.bytes};
        if (!elements.bytes)
            continue;
        if (!b->base)
            b->base = start;
        spans[r].offset = start - b->base;
        b->bytes += elements.bytes;
        b->contiguous &= elements.type->contiguous;
        if (elements.type->contiguous && (uintptr_t)start < LOWEST_ADDRESS)
            return false; /* the buffer is a null pointer, not MPI_BOTTOM */
    }
    return true;
}

/* Allocates memory for a packed copy, and lays the spans over it. */
static char *allocate_packed(ek_marshal *m, const ek_blocks *b, ek_span *spans)
{
    size_t used = 0;
    for (int r = 0; r < m->entry->size; r++) {
        spans[r].offset = (ptrdiff_t)used;
        used += spans[r].bytes;
    }
    return ek_marshal_allocate(m, b->bytes);
}

static int pack_block(const ek_blocks *b, int rank, char *to)
{
    ek_elements elements;
    char *start;
    if (!get_block(b, rank, &elements, &start))
        return EK_DECLINED;
    if (elements.bytes == 0)
        return MPI_SUCCESS;
    if (!elements.type->contiguous)
        return ek_pack(start, elements.count, &elements.type->layout, to) ? MPI_ERR_TYPE : MPI_SUCCESS;
    memcpy(to, start, elements.bytes);
    return MPI_SUCCESS;
}

/* Describes the blocks that are sent. `copy`: they are copied even if they are contiguous. */
static int send_blocks(ek_marshal *m, const ek_blocks *b, ek_span *spans, bool copy)
{
    m->call.send = (const uint8_t *)b->base;
    m->call.send_spans = spans;
    if (b->contiguous && !copy)
        return MPI_SUCCESS;
    char *packed = allocate_packed(m, b, spans);
    int code = packed ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int r = 0; !code && r < m->entry->size; r++)
        code = pack_block(b, r, packed + spans[r].offset);
    m->call.send = (const uint8_t *)packed;
    return code;
}

static int receive_blocks(ek_marshal *m, const ek_blocks *b, ek_span *spans)
{
    int ranks = m->entry->size;
    m->call.recv = (uint8_t *)b->base;
    m->call.recv_spans = spans;
    if (b->contiguous)
        return MPI_SUCCESS;
    char *packed = allocate_packed(m, b, spans);
    m->unpackings = ek_marshal_allocate(m, sizeof(ek_unpacking) * (size_t)ranks);
    if (!packed || !m->unpackings)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < ranks; r++) {
        ek_elements elements;
        char *start;
        if (!get_block(b, r, &elements, &start))
            return EK_DECLINED;
        if (elements.bytes)
            ek_marshal_unpack_later(m, &elements, start, elements.count, packed + spans[r].offset);
    }
    m->call.recv = (uint8_t *)packed;
    return MPI_SUCCESS;
}

/* ---- Gatherv and Allgatherv ---- */

static bool gathers(const ek_marshal *m)
{
    return m->arguments->kind == EK_KIND_ALLGATHERV || m->entry->rank == m->arguments->root;
}

static int gatherv_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    ek_call *call = &m->call;
    int me = m->entry->rank, code;
    if (gathers(m) && (code = receive_blocks(m, &m->received_blocks, m->spans)))
        return code;
    if (a->sendbuf != MPI_IN_PLACE)
        return ek_marshal_send(m, &m->sent, a->sendbuf, m->sent.count, NULL, &call->send);
    uint8_t *own = call->recv + m->spans[me].offset;
    call->send = own;
    return m->received_blocks.contiguous ? MPI_SUCCESS : pack_block(&m->received_blocks, me, (char *)own);
}

static int describe_gatherv(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    bool in_place = a->sendbuf == MPI_IN_PLACE, receives = gathers(m);
    if ((in_place && !receives) || (!in_place && !ek_elements_measure(&m->sent, a->sendcount, a->sendtype)) ||
        (receives && !survey(&m->received_blocks, m->entry->size, m->spans)))
        return EK_DECLINED;
    if (receives)
        m->call.recv_spans = m->spans;
    m->call.bytes = in_place ? m->spans[m->entry->rank].bytes : m->sent.bytes;
    bool contiguous = (in_place || m->sent.type->contiguous) && (!receives || m->received_blocks.contiguous);
    return ek_marshal_data(m, contiguous, gatherv_data);
}

/* ---- Scatterv ---- */

static int scatterv_data(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    ek_call *call = &m->call;
    int me = m->entry->rank, code;
    if (me == a->root && (code = send_blocks(m, &m->sent_blocks, m->spans, false)))
        return code;
    if (a->recvbuf != MPI_IN_PLACE)
        return ek_marshal_receive(m, &m->received, a->recvbuf, m->received.count, &call->recv);
    call->recv = (uint8_t *)(uintptr_t)call->send + m->spans[me].offset;
    return MPI_SUCCESS;
}

static int describe_scatterv(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    int me = m->entry->rank;
    bool root = me == a->root, in_place = a->recvbuf == MPI_IN_PLACE;
    if ((in_place && !root) || (!in_place && !ek_elements_measure(&m->received, a->recvcount, a->recvtype)) ||
        (root && !survey(&m->sent_blocks, m->entry->size, m->spans)))
        return EK_DECLINED;
    m->call.bytes = in_place ? m->spans[me].bytes : m->received.bytes;
    bool contiguous = (in_place || m->received.type->contiguous) && (!root || m->sent_blocks.contiguous);
    return ek_marshal_data(m, contiguous, scatterv_data);
}

/* ---- Alltoallv and Alltoallw ---- */

static int alltoallv_data(ek_marshal *m)
{
    int n = m->entry->size;
    ek_span *send_spans = m->spans, *recv_spans = m->spans + n;
    bool in_place = m->arguments->sendbuf == MPI_IN_PLACE;
    if (in_place) {
        m->sent_blocks = m->received_blocks;
        memcpy(send_spans, recv_spans, sizeof(ek_span) * (size_t)n);
    }
    int code = send_blocks(m, &m->sent_blocks, send_spans, in_place);
    return code ? code : receive_blocks(m, &m->received_blocks, recv_spans);
}

static int describe_alltoallv(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    int n = m->entry->size;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    if (a->kind == EK_KIND_ALLTOALLW && (!a->recvtypes || (!a->sendtypes && !in_place)))
        return EK_DECLINED;
    if (!survey(&m->received_blocks, n, m->spans + n) || (!in_place && !survey(&m->sent_blocks, n, m->spans)))
        return EK_DECLINED;
    bool contiguous = !in_place && m->sent_blocks.contiguous && m->received_blocks.contiguous;
    return ek_marshal_data(m, contiguous, alltoallv_data);
}

int ek_describe_vector(ek_marshal *m)
{
    const ek_arguments *a = m->arguments;
    int n = m->entry->size;
    bool is_rooted = a->kind == EK_KIND_GATHERV || a->kind == EK_KIND_SCATTERV;
    if (is_rooted && (a->root < 0 || a->root >= n))
        return EK_DECLINED;
    m->spans = n <= EK_FEW_RANKS ? m->few_spans : ek_marshal_allocate(m, 2 * sizeof(ek_span) * (size_t)n);
    if (!m->spans)
        return MPI_ERR_NO_MEM;
    m->sent_blocks = (ek_blocks){.buffer = a->sendbuf,
                                 .counts = a->sendcounts,
                                 .displacements = a->sdispls,
                                 .types = a->sendtypes,
                                 .type = a->sendtype,
                                 .large_counts = a->large_counts};
    m->received_blocks = (ek_blocks){.buffer = a->recvbuf,
                                     .counts = a->recvcounts,
                                     .displacements = a->rdispls,
                                     .types = a->recvtypes,
                                     .type = a->recvtype,
                                     .large_counts = a->large_counts};
    switch (a->kind) {
    case EK_KIND_GATHERV:
    case EK_KIND_ALLGATHERV: return describe_gatherv(m);
    case EK_KIND_SCATTERV: return describe_scatterv(m);
    default: return describe_alltoallv(m);
    }
}
