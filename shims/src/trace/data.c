#include "trace/data.h"
#include "host/datatype.h"
#include "process/state.h"
#include <float.h>

/* Whether elements have bytes that no computation writes. */
static bool has_gaps(MPI_Datatype type)
{
    const size_t x87_bytes = 10;
    return sizeof(long double) > x87_bytes && LDBL_MANT_DIG == 64 &&
           (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX);
}

bool ek_trace_is_plain(MPI_Datatype type, size_t *size)
{
    ek_type scratch;
    const ek_type *t = ek_process.has_devices ? NULL : ek_type_of(type, &scratch);
    *size = t ? (size_t)t->layout.size : 0;
    return t && t->predefined && t->contiguous && !has_gaps(type);
}
