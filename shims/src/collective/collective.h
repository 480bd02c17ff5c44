/* Every collective call but MPI_Barrier comes through here. */
#ifndef EK_COLLECTIVE_COLLECTIVE_H
#define EK_COLLECTIVE_COLLECTIVE_H
#include "collective/arguments.h"
#include "process/communicator.h"

/* Carries out a collective. Returns MPI_SUCCESS, an MPI error code that it has raised, or EK_DECLINED if the
 * host has to carry the call out. The entry must have an engine's communicator. */
int ek_try_collective(ek_comm_entry *, const ek_arguments *);

#endif
