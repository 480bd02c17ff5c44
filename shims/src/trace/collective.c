/* A reduction whose result differs from the recorded one is a difference, too: a library may combine in the
 * order in which contributions come. */
#include "trace/collective.h"
#include "process/communicator.h"
#include "trace/data.h"
#include "trace/request.h"
#include <stdlib.h>

/* One side of a collective: a block for or from each of `ranks` ranks, or a single one. */
typedef struct side {
    int ranks;
    const void *buf;
    MPI_Count count; /* of each block, unless there are `counts` */
    MPI_Datatype type;
    const void *counts, *displs;
    const MPI_Datatype *types;
    bool large_counts, large_displs;
    const int *neighbors; /* NULL: there is a block for each rank */
} side;

static const side NOTHING = {.ranks = 0};

/* ---- the program's arguments ---- */

static bool is_of_neighbors(const ek_arguments *a) { return a->kind >= EK_KIND_NEIGHBOR_ALLGATHER; }

static void find_place(ek_traced_collective *p, const ek_arguments *a)
{
    const MPI_Comm comm = a->comm;
    *p = (ek_traced_collective){.is_known = false};
    if (a->kind == EK_KIND_BARRIER) /* it has no data */
        return;
    if (is_of_neighbors(a)) {
        p->is_known = ek_neighbors_find(comm, &p->neighbors);
        return;
    }
    const ek_comm_entry *e = ek_process.active ? ek_comm_find(comm) : NULL;
    int is_inter = 0;
    if (e && e->engine) {
        *p = (ek_traced_collective){.is_known = true, .rank = e->rank, .size = e->size, .others = e->size};
        return;
    }
    if (comm == ek_handles.comm_null || ek_host.Comm_test_inter(comm, &is_inter) ||
        ek_host.Comm_rank(comm, &p->rank) || ek_host.Comm_size(comm, &p->size))
        return;
    p->is_inter = is_inter;
    p->others = p->size;
    p->is_known = !is_inter || !ek_host.Comm_remote_size(comm, &p->others);
}

/* Of a rooted one: whether the caller is the root, and whether it takes part otherwise. */
static bool is_root(const ek_arguments *a, const ek_traced_collective *p)
{
    return p->is_inter ? a->root == MPI_ROOT : a->root == p->rank;
}

static bool is_leaf(const ek_arguments *a, const ek_traced_collective *p)
{
    return p->is_inter ? a->root >= 0 : a->root != p->rank;
}

static side single(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return (side){.ranks = 1, .buf = buf, .count = count, .type = type};
}

static side sent_block(const ek_arguments *a) { return single(a->sendbuf, a->sendcount, a->sendtype); }

static side received_block(const ek_arguments *a) { return single(a->recvbuf, a->recvcount, a->recvtype); }

static side sent_blocks(const ek_arguments *a, const ek_traced_collective *p)
{
    const int *neighbors = is_of_neighbors(a) ? p->neighbors.destination : NULL;
    return (side){.ranks = neighbors ? p->neighbors.destinations : p->others,
                  .buf = a->sendbuf,
                  .count = a->sendcount,
                  .type = a->sendtype,
                  .counts = a->sendcounts,
                  .displs = a->sdispls,
                  .types = a->sendtypes,
                  .large_counts = a->large_counts,
                  .large_displs = a->large_counts || a->kind == EK_KIND_NEIGHBOR_ALLTOALLW,
                  .neighbors = neighbors};
}

static side received_blocks(const ek_arguments *a, const ek_traced_collective *p)
{
    const int *neighbors = is_of_neighbors(a) ? p->neighbors.source : NULL;
    return (side){.ranks = neighbors ? p->neighbors.sources : p->others,
                  .buf = a->recvbuf,
                  .count = a->recvcount,
                  .type = a->recvtype,
                  .counts = a->recvcounts,
                  .displs = a->rdispls,
                  .types = a->recvtypes,
                  .large_counts = a->large_counts,
                  .large_displs = a->large_counts || a->kind == EK_KIND_NEIGHBOR_ALLTOALLW,
                  .neighbors = neighbors};
}

static const void *input(const ek_arguments *a)
{
    return a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
}

/* Elements that a rank contributes to MPI_Reduce_scatter. */
static MPI_Count all_parts(const ek_arguments *a, const ek_traced_collective *p)
{
    MPI_Count all = 0;
    for (int i = 0; a->recvcounts && i < p->size; i++)
        all += ek_count_at(a->recvcounts, a->large_counts, i);
    return all;
}

/* What the rank contributes. In place, blocks that stay where they are, are part of the result. */
static side contribution(const ek_arguments *a, const ek_traced_collective *p)
{
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    switch (a->kind) {
    case EK_KIND_BCAST: return is_root(a, p) ? single(a->recvbuf, a->sendcount, a->sendtype) : NOTHING;
    case EK_KIND_REDUCE:
        if (p->is_inter && !is_leaf(a, p))
            return NOTHING;
        return single(input(a), a->sendcount, a->sendtype);
    case EK_KIND_ALLREDUCE:
    case EK_KIND_SCAN:
    case EK_KIND_EXSCAN: return single(input(a), a->sendcount, a->sendtype);
    case EK_KIND_GATHER:
    case EK_KIND_GATHERV: return in_place || (p->is_inter && !is_leaf(a, p)) ? NOTHING : sent_block(a);
    case EK_KIND_ALLGATHER:
    case EK_KIND_ALLGATHERV: return in_place ? NOTHING : sent_block(a);
    case EK_KIND_SCATTER:
    case EK_KIND_SCATTERV: return is_root(a, p) ? sent_blocks(a, p) : NOTHING;
    case EK_KIND_ALLTOALL:
    case EK_KIND_ALLTOALLV:
    case EK_KIND_ALLTOALLW: return in_place ? received_blocks(a, p) : sent_blocks(a, p);
    case EK_KIND_NEIGHBOR_ALLGATHER:
    case EK_KIND_NEIGHBOR_ALLGATHERV: return sent_block(a);
    case EK_KIND_NEIGHBOR_ALLTOALL:
    case EK_KIND_NEIGHBOR_ALLTOALLV:
    case EK_KIND_NEIGHBOR_ALLTOALLW: return sent_blocks(a, p);
    case EK_KIND_REDUCE_SCATTER: return single(input(a), all_parts(a, p), a->sendtype);
    case EK_KIND_REDUCE_SCATTER_BLOCK: return single(input(a), a->recvcount * p->size, a->sendtype);
    default: return NOTHING;
    }
}

/* What the rank gets. */
static side result(const ek_arguments *a, const ek_traced_collective *p)
{
    switch (a->kind) {
    case EK_KIND_BCAST: return is_leaf(a, p) ? single(a->recvbuf, a->sendcount, a->sendtype) : NOTHING;
    case EK_KIND_REDUCE: return is_root(a, p) ? single(a->recvbuf, a->sendcount, a->sendtype) : NOTHING;
    case EK_KIND_EXSCAN: return p->rank == 0 ? NOTHING : single(a->recvbuf, a->sendcount, a->sendtype);
    case EK_KIND_ALLREDUCE:
    case EK_KIND_SCAN: return single(a->recvbuf, a->sendcount, a->sendtype);
    case EK_KIND_GATHER:
    case EK_KIND_GATHERV: return is_root(a, p) ? received_blocks(a, p) : NOTHING;
    case EK_KIND_SCATTER:
    case EK_KIND_SCATTERV:
        return a->recvbuf == MPI_IN_PLACE || (p->is_inter && !is_leaf(a, p)) ? NOTHING : received_block(a);
    case EK_KIND_ALLGATHER:
    case EK_KIND_ALLGATHERV:
    case EK_KIND_ALLTOALL:
    case EK_KIND_ALLTOALLV:
    case EK_KIND_ALLTOALLW:
    case EK_KIND_NEIGHBOR_ALLGATHER:
    case EK_KIND_NEIGHBOR_ALLGATHERV:
    case EK_KIND_NEIGHBOR_ALLTOALL:
    case EK_KIND_NEIGHBOR_ALLTOALLV:
    case EK_KIND_NEIGHBOR_ALLTOALLW: return received_blocks(a, p);
    case EK_KIND_REDUCE_SCATTER:
        return a->recvcounts
                   ? single(a->recvbuf, ek_count_at(a->recvcounts, a->large_counts, p->rank), a->sendtype)
                   : NOTHING;
    case EK_KIND_REDUCE_SCATTER_BLOCK: return single(a->recvbuf, a->recvcount, a->sendtype);
    default: return NOTHING;
    }
}

/* ---- hashes ---- */

static ek_traced_block block_of(const side *s, int i)
{
    MPI_Count count = s->counts ? ek_count_at(s->counts, s->large_counts, i) : s->count;
    if (count <= 0 || (s->neighbors && s->neighbors[i] == MPI_PROC_NULL))
        return (ek_traced_block){.bytes = 0};
    ek_traced_type t = ek_traced_type_of(s->types ? s->types[i] : s->type);
    MPI_Count unit = s->types ? 1 : t.extent;
    MPI_Count offset = s->displs ? ek_count_at(s->displs, s->large_displs, i) * unit : i * count * unit;
    return (ek_traced_block){(const char *)((uintptr_t)s->buf + (uintptr_t)offset), (size_t)count * t.size,
                             t};
}

/* The sizes of blocks that are not to be read may depend on how the library describes types. */
static void take_in(bool receives, uint32_t kind, int i, ek_traced_block b)
{
    ek_trace_elements(receives, (int)kind, i, b.at, b.type.is_read ? b.bytes : 0, &b.type);
}

static int root_for_all_libraries(const ek_arguments *a)
{
    return a->root == MPI_PROC_NULL ? EK_TRACE_NO_RANK : a->root == MPI_ROOT ? EK_TRACE_NO_RANK - 1 : a->root;
}

void ek_trace_collective_begins(ek_traced_collective *p, const ek_arguments *a)
{
    ek_trace_message(false, (int)a->kind, root_for_all_libraries(a), 0, NULL);
    find_place(p, a);
    side s = p->is_known ? contribution(a, p) : NOTHING;
    for (int i = 0; i < s.ranks; i++)
        take_in(false, a->kind, i, block_of(&s, i));
}

void ek_trace_contribution(const ek_traced_blocks *b)
{
    ek_trace_message(false, (int)b->kind, b->root, 0, NULL);
    for (int i = 0; i < b->count; i++)
        take_in(false, b->kind, i, b->blocks[i]);
}

void ek_trace_result(const ek_traced_blocks *b)
{
    for (int i = 0; i < b->count; i++)
        take_in(true, b->kind, i, b->blocks[i]);
}

static bool is_empty(const side *s)
{
    for (int i = 0; i < s->ranks; i++)
        if (block_of(s, i).bytes)
            return false;
    return true;
}

/* The blocks are found now: the program may free the types before the request is complete. A map stays. NULL
 * if there is no memory. */
static ek_traced_blocks *kept(const ek_arguments *a, const side *s)
{
    ek_traced_blocks *b = malloc(sizeof *b + (size_t)s->ranks * sizeof b->blocks[0]);
    if (!b)
        return NULL;
    *b = (ek_traced_blocks){.kind = a->kind, .root = root_for_all_libraries(a), .count = s->ranks};
    for (int i = 0; i < s->ranks; i++) {
        b->blocks[i] = block_of(s, i);
        ek_traced_type_hold(&b->blocks[i].type);
    }
    return b;
}

void ek_trace_collective_made(const ek_arguments *a, int code)
{
    if (code) {
        ek_trace_note_failure();
        return;
    }
    ek_traced_collective p;
    find_place(&p, a);
    side sent = p.is_known ? contribution(a, &p) : NOTHING, got = p.is_known ? result(a, &p) : NOTHING;
    ek_traced_request *r = ek_traced_request_add(*a->request);
    if (!r)
        return;
    r->is_persistent = r->is_settled = true; /* until it is started */
    r->is_active = false;
    r->contribution = kept(a, &sent);
    r->result = kept(a, &got);
}

void ek_trace_collective_over(const ek_traced_collective *p, const ek_arguments *a, int code)
{
    if (code) {
        ek_trace_note_failure();
        return;
    }
    side s = p->is_known ? result(a, p) : NOTHING;
    if (a->request) {
        /* Where no rank sends anything, libraries give one request to many calls. */
        bool is_alone = p->size == 1 && !p->is_inter && !is_of_neighbors(a);
        ek_traced_request *r =
            s.ranks && !is_alone && !is_empty(&s) ? ek_traced_request_add(*a->request) : NULL;
        if (r)
            r->result = kept(a, &s);
        return;
    }
    for (int i = 0; i < s.ranks; i++)
        take_in(true, a->kind, i, block_of(&s, i));
}
