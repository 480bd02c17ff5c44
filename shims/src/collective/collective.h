/* Every collective call but MPI_Barrier comes through here. */
#ifndef EK_COLLECTIVE_COLLECTIVE_H
#define EK_COLLECTIVE_COLLECTIVE_H
#include "collective/arguments.h"
#include "process/communicator.h"

/* Carries it out: MPI_SUCCESS, an MPI error code that has been raised, or EK_DECLINED: the host has to carry
 * it out. Of communicators that the engine knows. */
int ek_try_collective(ek_comm_entry *, const ek_arguments *);

#endif
