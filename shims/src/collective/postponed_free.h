/* Operators and types that the program frees while a nonblocking collective may still use them: they are
 * freed when none is under way. */
#ifndef EK_COLLECTIVE_POSTPONED_FREE_H
#define EK_COLLECTIVE_POSTPONED_FREE_H
#include "host/library.h"
#include <stdbool.h>

/* False: the host may free it now. */
bool ek_postpone_op_free(MPI_Op);
bool ek_postpone_type_free(MPI_Datatype);

/* Frees what was postponed, if no nonblocking collective is under way any more. The caller holds no lock. */
void ek_free_postponed(void);

#endif
