#include "trace/probe.h"
#include "trace/message.h"
#include "trace/outcome.h"

static void note(int choice, const MPI_Status *status)
{
    int64_t values[] = {ek_trace_rank_of(status->MPI_SOURCE),
                        status->MPI_SOURCE == MPI_PROC_NULL ? 0 : status->MPI_TAG};
    ek_trace_outcome((uint8_t)choice, values, 2);
}

/* Replaces source and tag by what was found. Returns false: nothing was. */
static bool find(int choice, bool may_miss, int *source, int *tag)
{
    int64_t values[2];
    bool found = ek_trace_ask((uint8_t)choice, may_miss, values, 2) >= 0;
    ek_trace.has_missed = !found;
    if (found) {
        *source = ek_trace_source_of((int)values[0]);
        *tag = (int)values[1];
    }
    return found;
}

static bool is_choice(int source, int tag)
{
    return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

int ek_traced_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    bool chooses = is_choice(source, tag);
    if (chooses && ek_trace_replays())
        find(EK_CHOICE_PROBE, false, &source, &tag);
    int code = PMPI_Probe(source, tag, comm, s);
    if (!code && chooses && !ek_trace_replays())
        note(EK_CHOICE_PROBE, s);
    if (!code)
        ek_trace_found(s);
    return code;
}

int ek_traced_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    bool chooses = is_choice(source, tag);
    if (chooses && ek_trace_replays())
        find(EK_CHOICE_MPROBE, false, &source, &tag);
    int code = PMPI_Mprobe(source, tag, comm, message, s);
    if (!code && chooses && !ek_trace_replays())
        note(EK_CHOICE_MPROBE, s);
    if (!code)
        ek_trace_found(s);
    return code;
}

int ek_traced_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int code = MPI_SUCCESS;
    if (ek_trace_replays()) {
        *flag = find(EK_CHOICE_IPROBE, true, &source, &tag);
        if (*flag)
            code = PMPI_Probe(source, tag, comm, s);
    } else {
        code = PMPI_Iprobe(source, tag, comm, flag, s);
        if (!code && *flag)
            note(EK_CHOICE_IPROBE, s);
        else if (!code)
            ek_trace_miss();
    }
    if (!code && *flag)
        ek_trace_found(s);
    return code;
}

int ek_traced_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
    int code = MPI_SUCCESS;
    if (ek_trace_replays()) {
        *flag = find(EK_CHOICE_IMPROBE, true, &source, &tag);
        if (*flag)
            code = PMPI_Mprobe(source, tag, comm, message, s);
    } else {
        code = PMPI_Improbe(source, tag, comm, flag, message, s);
        if (!code && *flag)
            note(EK_CHOICE_IMPROBE, s);
        else if (!code)
            ek_trace_miss();
    }
    if (!code && *flag)
        ek_trace_found(s);
    return code;
}
