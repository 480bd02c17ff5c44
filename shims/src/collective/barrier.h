/* MPI_Barrier, by the shortest path there is. */
#ifndef EK_COLLECTIVE_BARRIER_H
#define EK_COLLECTIVE_BARRIER_H
#include "gate/deferral.h"
#include "process/communicator.h"

/* The communicator of the last barrier. */
typedef struct ek_last_barrier_comm {
    MPI_Comm comm;
    ek_comm *engine;
} ek_last_barrier_comm;
extern EK_HIDDEN ek_last_barrier_comm ek_last_barrier;

/* Whether nothing is under way that other ranks may wait for, so that a barrier may be deferred. */
static inline bool ek_may_defer_barrier(void)
{
    return ek_process.host_requests == 0 && ek_process.host_barriers == 0 && ek_process.collectives == 0 &&
           ek_messages_needing == 0;
}

/* A strict barrier while something is under way. What the host's barrier would have moved on is moved on. */
int ek_barrier_with_progress(MPI_Comm, ek_comm *);

/* Enters the barrier. Returns EK_DONE, EK_DECLINED, EK_REVOKED or EK_LOST_MEMBER. */
static inline __attribute__((always_inline)) int ek_try_barrier(MPI_Comm comm)
{
    ek_note_collective();
    const ek_comm *fast = ek_deferred_fast_path;
    if (fast && comm == ek_last_barrier.comm && fast == ek_last_barrier.engine && ek_may_defer_barrier() &&
        ek_barrier_fast_path(fast))
        return EK_DONE; /* the gate was closed, and is */
    ek_comm_entry *e = ek_comm_find(comm);
    if (EK_UNLIKELY(!e || !e->engine)) {
        EK_COMPLETE_DEFERRED("MPI_Barrier");
        return EK_DECLINED;
    }
    if (EK_UNLIKELY(!ek_may_defer_barrier()))
        return ek_barrier_with_progress(comm, e->engine);
    ek_gate = 0;
    ek_last_barrier = (ek_last_barrier_comm){comm, e->engine};
    int code = ek_barrier(e->engine, true);
    ek_gate_close_if_deferred();
    return code;
}

/* Reports EK_REVOKED or EK_LOST_MEMBER to the communicator's error handler and returns MPI's code for it. */
int ek_barrier_failed(MPI_Comm, int code);

#endif
