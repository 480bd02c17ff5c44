/* Type signatures, for checks: which elements a datatype consists of. */
#ifndef EK_TRACE_SIGNATURE_H
#define EK_TRACE_SIGNATURE_H
#include "host/library.h"
#include <stdbool.h>
#include <stdint.h>

/* The number of the elements (see ek_checks_sequence). False: they are not known. Within the host. */
bool ek_signature_of(MPI_Datatype, uint32_t *elements);

#endif
