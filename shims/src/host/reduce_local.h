/* Operators that the engine does not have, applied by the host's MPI_Reduce_local. */
#ifndef EK_HOST_REDUCE_LOCAL_H
#define EK_HOST_REDUCE_LOCAL_H
#include "host/datatype.h"

typedef struct ek_host_operator {
    ek_layout layout;
    MPI_Op op;
    MPI_Count low, high; /* an element's true bounds, of derived types only */
} ek_host_operator;

/* These are ek_combine functions; the context is an ek_host_operator. */

/* Of elements as they lie in the program's memory. */
void ek_reduce_laid_out(void *host_operator, const void *in, void *inout, size_t count);

/* Of packed elements. */
void ek_reduce_packed(void *host_operator, const void *in, void *inout, size_t count);

#endif
