/* Describes any collective: see marshal.h. */
#ifndef EK_COLLECTIVE_DESCRIBE_H
#define EK_COLLECTIVE_DESCRIBE_H
#include "collective/marshal.h"

/* Returns MPI_SUCCESS if the marshal's `call` is ready for the engine; else EK_DECLINED or an MPI error code,
 * and there is nothing to free. The marshal must not be moved in memory. */
int ek_describe(ek_marshal *, ek_comm_entry *, const ek_arguments *);

#endif
