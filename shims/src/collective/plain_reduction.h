/* The call of most programs: Reduce or Allreduce of a predefined type with a predefined operator that the
 * engine has. It needs no marshalling. */
#ifndef EK_COLLECTIVE_PLAIN_REDUCTION_H
#define EK_COLLECTIVE_PLAIN_REDUCTION_H
#include "collective/arguments.h"
#include "evenkeel.h"
#include "host/datatype.h"
#include "process/communicator.h"

enum { EK_LARGEST_PREDEFINED_ELEMENT = 16 };

/* Describes such a call. Returns false if it is another one, or if something may be wrong with it. */
static inline bool ek_describe_plain_reduction(ek_call *call, const ek_arguments *a, const ek_comm_entry *e)
{
    ek_type scratch;
    if (a->sendcount < 0 || (a->kind == EK_KIND_REDUCE && (a->root < 0 || a->root >= e->size)))
        return false;
    const ek_type *t = ek_type_of(a->sendtype, &scratch);
    int op = ek_operator_of(a->op);
    if (!t || op < 0 || !t->combine[op] || a->sendcount > PTRDIFF_MAX / EK_LARGEST_PREDEFINED_ELEMENT)
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

#endif
