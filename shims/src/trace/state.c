#include "trace/state.h"

ek_traced_process ek_trace;
_Thread_local int ek_trace_depth;

bool ek_trace_takes_call(void)
{
    if (ek_trace.mode == EK_TRACE_MODE_OFF || ek_depth || ek_trace_depth)
        return false;
    if (EK_LIKELY(!ek_process.is_threaded) || pthread_equal(pthread_self(), ek_trace.thread))
        return true;
    ek_trace.was_shared = true; /* the thread that writes the trace notes it */
    return false;
}

void ek_traced_call_end(const char *const *name)
{
    (void)name;
    ek_trace_depth--;
    if (EK_UNLIKELY(ek_trace.was_shared)) {
        ek_trace_unpromised("MPI calls of several threads");
        ek_trace.was_shared = false;
    }
    if (!ek_trace.has_missed)
        ek_trace_call_over();
    ek_trace.has_missed = false;
}

void ek_trace_note_unpromised(const char *name)
{
    if (ek_trace.mode == EK_TRACE_MODE_RECORDS && !ek_depth && !ek_trace_depth)
        ek_trace_unpromised(name);
}

void ek_trace_note_failure(void)
{
    static bool is_noted;
    if (!is_noted)
        ek_trace_unpromised("a call that failed");
    is_noted = true;
}
