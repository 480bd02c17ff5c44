#include "trace/data.h"
#include "host/datatype.h"
#include "process/state.h"

bool ek_trace_is_plain(MPI_Datatype type, size_t *size)
{
    ek_type scratch;
    const ek_type *t = ek_process.has_devices ? NULL : ek_type_of(type, &scratch);
    *size = t ? (size_t)t->layout.size : 0;
    return t && t->predefined && t->contiguous;
}
