#include "collective/describe.h"
#include "collective/reduction.h"
#include "collective/regular.h"
#include "collective/vector.h"

static int describe(ek_marshal *m)
{
    switch (m->arguments->kind) {
    case EK_KIND_BARRIER: return MPI_SUCCESS;
    case EK_KIND_REDUCE:
    case EK_KIND_ALLREDUCE:
    case EK_KIND_SCAN:
    case EK_KIND_EXSCAN:
    case EK_KIND_REDUCE_SCATTER:
    case EK_KIND_REDUCE_SCATTER_BLOCK: return ek_describe_reduction(m);
    case EK_KIND_BCAST:
    case EK_KIND_GATHER:
    case EK_KIND_SCATTER:
    case EK_KIND_ALLGATHER:
    case EK_KIND_ALLTOALL: return ek_describe_regular(m);
    default: return ek_describe_vector(m);
    }
}

int ek_describe(ek_marshal *m, ek_comm_entry *entry, const ek_arguments *arguments)
{
    ek_marshal_begin(m, entry, arguments);
    int code = describe(m);
    if (code)
        ek_marshal_discard(m);
    return code;
}
