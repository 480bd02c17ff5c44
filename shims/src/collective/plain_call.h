/* The calls of most programs: Bcast, Reduce and Allreduce of a predefined type without holes, by a predefined
 * operator that the engine has. They need no marshalling. */
#ifndef EK_COLLECTIVE_PLAIN_CALL_H
#define EK_COLLECTIVE_PLAIN_CALL_H
#include "collective/arguments.h"
#include "evenkeel.h"
#include "host/datatype.h"
#include "process/communicator.h"

enum { EK_LARGEST_PREDEFINED_ELEMENT = 32 };

static inline bool ek_describe_plain_broadcast(ek_call *call, const ek_arguments *a, const ek_comm_entry *e,
                                               const ek_type *t)
{
    if (!t->predefined || !t->contiguous)
        return false;
    bool is_root = e->rank == a->root;
    *call = (ek_call){.kind = a->kind,
                      .root = a->root,
                      .bytes = (size_t)(a->sendcount * t->layout.size),
                      .send = is_root ? a->recvbuf : NULL,
                      .recv = is_root ? NULL : a->recvbuf};
    return a->recvbuf && a->recvbuf != MPI_IN_PLACE;
}

static inline bool ek_describe_plain_reduction(ek_call *call, const ek_arguments *a, const ek_comm_entry *e,
                                               const ek_type *t)
{
    int op = ek_operator_of(a->op);
    if (op < 0 || !t->combine[op])
        return false;
    bool receives = a->kind == EK_KIND_ALLREDUCE || e->rank == a->root;
    const void *send = a->sendbuf;
    if (send == MPI_IN_PLACE)
        send = receives ? a->recvbuf : NULL;
    *call = (ek_call){.kind = a->kind,
                      .root = a->root,
                      .bytes = (size_t)(a->sendcount * t->layout.size),
                      .send = send,
                      .recv = receives ? a->recvbuf : NULL,
                      .combine = t->combine[op],
                      .elem_bytes = (size_t)t->layout.size};
    return send && (!receives || (a->recvbuf && a->recvbuf != MPI_IN_PLACE));
}

/* Describes such a call. Returns false if it is another one, or if something may be wrong with it. */
static inline bool ek_describe_plain_call(ek_call *call, const ek_arguments *a, const ek_comm_entry *e)
{
    bool is_rooted = a->kind == EK_KIND_BCAST || a->kind == EK_KIND_REDUCE;
    if (!is_rooted && a->kind != EK_KIND_ALLREDUCE)
        return false;
    if (a->sendcount < 0 || a->sendcount > PTRDIFF_MAX / EK_LARGEST_PREDEFINED_ELEMENT ||
        (is_rooted && (a->root < 0 || a->root >= e->size)))
        return false;
    ek_type scratch;
    const ek_type *t = ek_type_of(a->sendtype, &scratch);
    if (!t)
        return false;
    return a->kind == EK_KIND_BCAST ? ek_describe_plain_broadcast(call, a, e, t)
                                    : ek_describe_plain_reduction(call, a, e, t);
}

#endif
