#include "world/end.h"
#include "gate/deferral.h"
#include "gate/gate.h"
#include "message/start.h"
#include "process/call_line.h"
#include "process/communicator.h"
#include "process/host_progress.h"
#include "world/records.h"
#include <stdlib.h>

#ifdef MPICH_VERSION
/* Whether MPICH has been told not to use shared memory between ranks of one machine. */
static bool uses_connections_within_a_node(void)
{
    return getenv("MPIR_CVAR_NOLOCAL") || getenv("MPIR_CVAR_ODD_EVEN_CLIQUES");
}
#endif

/* MPICH closes its network connections in MPI_Finalize, and from then on does not answer for the other side.
 * Under evenkeel the host may have sent nothing since MPI_Init, and a connection may be half made: then one
 * rank waits for ever for a peer that has gone on (seen with 4.0 over TCP, 5 times of 6). A few rounds of the
 * host's own messages complete the connections (one round does not, two nearly always). */
static void settle_connections(void)
{
#ifdef MPICH_VERSION
    enum { ROUNDS = 6 };
    const ek_comm_entry *e = ek_comm_find(ek_handles.world);
    if (e && e->on_one_node && !uses_connections_within_a_node())
        return;
    int size;
    ek_host.Comm_size(ek_handles.world, &size);
    char mine = 0, *all = malloc((size_t)size);
    for (int round = 0; all && round < ROUNDS; round++)
        ek_host.Allgather(&mine, 1, ek_handles.byte, all, 1, ek_handles.byte, ek_handles.world);
    free(all);
#endif
}

void ek_before_finalize(void)
{
    if (!ek_process.active)
        return;
    EK_COMPLETE_DEFERRED("MPI_Finalize");
    ek_depth++;
    ek_records_gather();
    ek_deferral_stop();
    ek_messages_stop();
    settle_connections();
    /* What the host calls back from MPI_Finalize (attributes of MPI_COMM_SELF) is left to it. */
    ek_process.active = ek_process.records_messages = ek_process.reports_messages = false;
    ek_call_line_finalize();
    ek_comms_close();
    ek_host_progress_close();
    ek_world_leave();
    ek_depth--;
}
