#include "trace/start.h"
#include "host/datatype.h"
#include "process/start_exchange.h"
#include "trace/checks.h"
#include "trace/message.h"
#include "trace/times.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The exit code of a repetition that cannot go on. */
enum { STOPPED = 120 };

/* Launchers end a job when a rank ends without MPI_Finalize. MPI_Abort is not used: under Open MPI 4 it makes
 * a mistake of mpirun more frequent (see ek_traces_leave). */
static void stop(void)
{
    fflush(NULL); /* what the program has printed belongs to the answer */
    _exit(STOPPED);
}

/* This rank has repeated a run, and has not left MPI since. */
static bool has_repeated;

/* The number of the run that rank 0 knows; 0 if that fails. */
static uint64_t run_of_rank_0(int rank, int size)
{
    uint64_t mine = ek_trace_run((uint32_t)rank), first = 0, *all = calloc((size_t)size, sizeof *all);
    if (all && !ek_start_exchange(&mine, sizeof mine, all))
        first = all[0];
    free(all);
    return first;
}

void ek_traces_start(void)
{
    static _Atomic bool once;
    int size, rank;
    if (atomic_exchange(&once, true) || ek_trace_wanted() == EK_TRACE_MODE_OFF)
        return;
    ek_depth++;
    ek_host.Comm_size(ek_handles.world, &size);
    ek_host.Comm_rank(ek_handles.world, &rank);
    uint64_t run = run_of_rank_0(rank, size);
    if (!ek_process.active)
        ek_types_open();
    ek_depth--;
    ek_trace.thread = pthread_self();
    ek_trace.is_started = true;
    ek_trace.mode = ek_trace_open((uint32_t)rank, (uint32_t)size, run, stop);
    ek_process.records_messages |= ek_trace.mode != EK_TRACE_MODE_OFF;
    ek_times_start(rank, size, run);
    ek_check_start(rank, size, run);
}

void ek_traces_finish(void)
{
    if (ek_trace.mode == EK_TRACE_MODE_OFF)
        return;
    has_repeated = ek_trace_replays();
    ek_trace_depth++;
    ek_trace_settle_all();
    ek_trace_finish();
    if (ek_trace.has_nowhere)
        ek_host.Comm_free(&ek_trace.nowhere);
    ek_trace.has_nowhere = false;
    ek_trace.mode = EK_TRACE_MODE_OFF;
    ek_trace_depth--;
}

/* A rank may stop while others are here already. If a rank exits while others are in the host's MPI_Finalize,
 * and one that dies with it is not, mpirun of Open MPI 4.1 with PMIx 4.2 uses memory that it has freed: it
 * crashes or waits for ever (one run in ten; one in two if the rank calls MPI_Abort). */
void ek_traces_leave(void)
{
    if (!has_repeated)
        return;
    has_repeated = false;
    ek_depth++;
    ek_host.Barrier(ek_handles.world);
    ek_depth--;
}

void ek_traces_forget(void)
{
    ek_times_stop();
    ek_trace.mode = EK_TRACE_MODE_OFF;
    ek_trace_forget();
}
