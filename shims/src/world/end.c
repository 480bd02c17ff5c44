#include "world/end.h"
#include "gate/deferral.h"
#include "gate/gate.h"
#include "message/start.h"
#include "process/call_line.h"
#include "process/communicator.h"
#include "process/host_progress.h"
#include "process/host_waits.h"
#include "process/progress_thread.h"
#include "trace/start.h"
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
static bool has_connections_to_settle(void)
{
#ifdef MPICH_VERSION
    const ek_comm_entry *e = ek_comm_find(ek_handles.world);
    return !e || !e->on_one_node || uses_connections_within_a_node();
#else
    return false;
#endif
}

static void settle_connections(void)
{
#ifdef MPICH_VERSION
    enum { ROUNDS = 6 };
    int size;
    ek_host.Comm_size(ek_handles.world, &size);
    char mine = 0, *all = malloc((size_t)size);
    for (int round = 0; all && round < ROUNDS; round++)
        ek_host.Allgather(&mine, 1, ek_handles.byte, all, 1, ek_handles.byte, ek_handles.world);
    free(all);
#endif
}

/* The last thing that evenkeel does with the other ranks. */
static void end(void)
{
    const bool settles = has_connections_to_settle();
    EK_COMPLETE_DEFERRED("MPI_Finalize");
    ek_depth++;
    ek_mark_traffic(EK_IS_ENDING);
    ek_traces_leave();
    /* Until connections are settled, which takes all ranks, the host goes on with nothing. */
    if (settles)
        ek_mark_traffic(EK_WAITS_FOR_ALL);
    ek_records_gather();
    ek_deferral_stop();
    ek_messages_stop();
    if (settles)
        settle_connections();
    ek_unmark_traffic(EK_WAITS_FOR_ALL);
    ek_progress_thread_end();
    ek_process.active = ek_process.records_messages = ek_process.reports_messages = false;
    ek_host_waits_end();
    ek_comms_close();
    ek_host_progress_close();
    ek_world_leave();
    ek_depth--;
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one first, and what the program has
 * attached may still communicate then, with ranks that have not come to MPI_Finalize. The shim's own
 * attribute was set in MPI_Init, so it is deleted last: evenkeel ends then. MPICH deletes the attributes of
 * MPI_COMM_WORLD in the same way afterwards. */
static void note_deletion(MPI_Comm comm)
{
    static bool has_deleted_self, has_deleted_world;
    has_deleted_self |= comm == ek_handles.self;
#ifdef OPEN_MPI
    has_deleted_world = true; /* it deletes none there */
#else
    has_deleted_world |= comm == ek_handles.world;
#endif
    const bool is_over = has_deleted_self && has_deleted_world;
    /* Messages that are sent from within the host are not counted. Those of end() are no other rank's affair
     * before it comes to MPI_Finalize. */
    if (is_over && !ek_calls_within_host)
        ek_mark_traffic(EK_SENDS_NO_MORE);
    if (comm == ek_handles.self) {
        bool others_called = ek_calls_within_host;
        end();
        ek_calls_within_host = others_called;
    }
}

int ek_finalize(int (*host_finalize)(void))
{
    EK_COMPLETE_DEFERRED("MPI_Finalize");
    ek_traces_finish();
    if (!ek_process.active) {
        ek_traces_leave();
        ek_depth++;
        int code = host_finalize();
        ek_depth--;
        return code;
    }
    ek_calls_within_host = false;
    ek_comms_on_deletion(note_deletion);
    /* Not as a call from within the host: what the program has attached calls as the program does. */
    int code = host_finalize();
    if (ek_process.active) { /* the host has deleted nothing */
        ek_process.active = ek_process.records_messages = ek_process.reports_messages = false;
        ek_host_waits_end();
        ek_world_leave();
    }
    ek_host_waits_over();
    return code;
}
