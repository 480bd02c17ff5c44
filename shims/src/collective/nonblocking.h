/* Nonblocking collectives.
 *
 * Their requests are the host's generalized requests, so that every wait and test of the host knows them. The
 * wrappers of waits and tests only move the operations on; those that are done are completed here. */
#ifndef EK_COLLECTIVE_NONBLOCKING_H
#define EK_COLLECTIVE_NONBLOCKING_H
#include "collective/arguments.h"
#include "process/communicator.h"
#include "process/state.h"

/* Starts a collective and fills in its request. Returns MPI_SUCCESS, EK_DECLINED or an MPI error code. */
int ek_collective_start(ek_comm_entry *, const ek_arguments *);

/* The slow part of ek_collectives_poll. */
void ek_collectives_poll_all(void);

/* Moves all of them on and completes those that are done. */
static inline void ek_collectives_poll(void)
{
    if (EK_UNLIKELY(ek_process.collectives > 0))
        ek_collectives_poll_all();
}

/* Whether one that is under way still needs a datatype or an operator of the program's. */
bool ek_collectives_need_type(MPI_Datatype);
bool ek_collectives_need_op(MPI_Op);

/* The slow part of ek_collectives_set_awaited. */
void ek_collectives_note_awaited(int count, const MPI_Request *, bool is_awaited);

/* Notes for the report that the program waits for these requests, or does not any more. Those that are not
 * collectives of evenkeel's are left out. */
static inline void ek_collectives_set_awaited(int count, const MPI_Request *requests, bool is_awaited)
{
    if (EK_UNLIKELY(ek_process.collectives > 0))
        ek_collectives_note_awaited(count, requests, is_awaited);
}

#endif
