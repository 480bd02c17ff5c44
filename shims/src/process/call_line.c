#include "process/call_line.h"
#include "process/communicator.h"
#include "process/faults.h"
#include <stddef.h>

static ek_call_line unread;
ek_call_line *ek_line = &unread;

_Atomic bool ek_calls_within_host;

static ek_comm_addresses addresses;

void ek_call_line_open(void)
{
    addresses = (ek_comm_addresses){.entries = (uintptr_t)ek_comm_table,
                                    .places = EK_COMM_TABLE_SIZE,
                                    .world = (uintptr_t)ek_handles.world,
                                    .handle_at = offsetof(ek_comm_entry, handle),
                                    .size_at = offsetof(ek_comm_entry, size),
                                    .members_at = offsetof(ek_comm_entry, members),
                                    .name_at = offsetof(ek_comm_entry, name),
                                    .any_source = MPI_ANY_SOURCE,
                                    .any_tag = MPI_ANY_TAG,
                                    .proc_null = MPI_PROC_NULL};
    ek_publish_comm_table(&addresses);
    ek_call_line *own = ek_own_call_line();
    if (own)
        ek_line = own;
#ifndef __x86_64__
    ek_count_uncountable(); /* not every function has a wrapper there */
#endif
    /* Another thread may do what this line's call waits for, and a communicator that is revoked ends waits.
     * */
    if (ek_process.is_threaded || ek_host_reports_faults())
        ek_mark_traffic(EK_UNCOUNTABLE | EK_UNPROVABLE);
}

void ek_call_line_close(void) { ek_line = &unread; }

/* ---- MPI_Finalize ----
 *
 * It first deletes the attributes of MPI_COMM_SELF, the last one first, and what the program has attached may
 * still send messages then. The shim's own attribute was set in MPI_Init, so it is deleted last. MPICH
 * deletes those of MPI_COMM_WORLD in the same way afterwards. */

static bool has_deleted_self, has_deleted_world;

void ek_call_line_finalize(void) { ek_calls_within_host = has_deleted_self = has_deleted_world = false; }

void ek_call_line_attributes_deleted(MPI_Comm comm)
{
    has_deleted_self |= comm == ek_handles.self;
    has_deleted_world |= comm == ek_handles.world;
#ifdef OPEN_MPI
    const bool is_over = has_deleted_self;
#else
    const bool is_over = has_deleted_self && has_deleted_world;
#endif
    /* Messages that are sent from within the host are not counted. */
    if (is_over && !ek_calls_within_host)
        ek_mark_traffic(EK_SENDS_NO_MORE);
}
