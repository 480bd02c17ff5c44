#include "process/call_line.h"
#include "process/communicator.h"
#include "process/faults.h"
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static ek_call_line unread;
ek_call_line *ek_line = &unread;

_Atomic bool ek_calls_within_host;
_Atomic int ek_threads_in_calls;

static ek_inspection inspection;

void ek_call_line_open(const ek_host_threads *host_threads, const char *host_names)
{
    inspection = (ek_inspection){.entries = (uintptr_t)ek_comm_table,
                                 .places = EK_COMM_TABLE_SIZE,
                                 .world = (uintptr_t)ek_handles.world,
                                 .handle_at = offsetof(ek_comm_entry, handle),
                                 .size_at = offsetof(ek_comm_entry, size),
                                 .members_at = offsetof(ek_comm_entry, members),
                                 .name_at = offsetof(ek_comm_entry, name),
                                 .block_at = offsetof(ek_comm_entry, block),
                                 .host_collectives_at = offsetof(ek_comm_entry, host_collectives),
                                 .world_entry = (uintptr_t)ek_comm_find(ek_handles.world),
                                 .count = (uintptr_t)&ek_comm_count,
                                 .any_source = MPI_ANY_SOURCE,
                                 .any_tag = MPI_ANY_TAG,
                                 .proc_null = MPI_PROC_NULL,
                                 .host_threads = (uintptr_t)host_threads,
                                 .job = ek_job_number(),
                                 .node_count = (uint64_t)ek_nodes_count(),
                                 .host_names = (uintptr_t)host_names};
    ek_publish_inspection(&inspection);
    ek_call_line *own = ek_own_call_line();
    if (own)
        ek_line = own;
#ifndef __x86_64__
    ek_count_uncountable(); /* not every function has a wrapper there */
#endif
    if (ek_process.is_threaded)
        ek_mark_traffic(EK_THREADED);
    /* A communicator that is revoked ends waits. */
    if (ek_host_reports_faults())
        ek_mark_traffic(EK_UNCOUNTABLE | EK_UNPROVABLE);
}

void ek_call_line_close(void) { ek_line = &unread; }

/* ---- several threads ----
 *
 * Another thread of the program may do what a call waits for. Those who look from outside know the calling
 * thread and the host's, and see whether all others sleep for good. As soon as a second one has called MPI,
 * one may sleep for the host's lock, and the counters are not exact. */

static _Thread_local int own_id __attribute__((tls_model("initial-exec")));
static _Atomic int calling_thread;

static void note(int id)
{
    int first = 0;
    if (!atomic_compare_exchange_strong(&calling_thread, &first, id) && first != id)
        ek_mark_traffic(EK_UNCOUNTABLE | EK_UNPROVABLE);
}

void ek_note_calling_thread(void)
{
    if (EK_UNLIKELY(own_id == 0)) {
        own_id = (int)syscall(SYS_gettid);
        note(own_id);
    }
}

bool ek_call_takes_line(ek_call_line *line, uint64_t was)
{
    if (!__atomic_compare_exchange_n(&line->version, &was, was + 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in ek_call_begin */
    EK_LINE_STORE(line, caller, (uint64_t)own_id);
    return true;
}
