/* What the hashes of a trace may read. */
#ifndef EK_TRACE_DATA_H
#define EK_TRACE_DATA_H
#include "host/library.h"
#include <stdbool.h>
#include <stddef.h>

/* Whether the elements are predefined ones that lie in a row without gaps, in memory that may be read. Their
 * size. */
bool ek_trace_is_plain(MPI_Datatype, size_t *size);

#endif
