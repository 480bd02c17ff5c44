/* Outcomes of calls, as a trace has them: noted when it is written, and asked for in a repetition. */
#ifndef EK_TRACE_OUTCOME_H
#define EK_TRACE_OUTCOME_H
#include "trace/state.h"

/* The numbers of the crate `trace` (`choice.rs`). */
enum {
    EK_CHOICE_TEST,
    EK_CHOICE_TESTALL,
    EK_CHOICE_TESTANY,
    EK_CHOICE_TESTSOME,
    EK_CHOICE_WAITANY,
    EK_CHOICE_WAITSOME,
    EK_CHOICE_GET_STATUS,
    EK_CHOICE_IPROBE,
    EK_CHOICE_IMPROBE,
    EK_CHOICE_PROBE,
    EK_CHOICE_MPROBE
};

/* The call has found nothing. */
static inline void ek_trace_miss(void)
{
    ek_trace_missed();
    ek_trace.has_missed = true;
}

/* Whether a test or probe of this function found something. */
static inline bool ek_trace_ask_flag(int choice)
{
    bool found = ek_trace_ask((uint8_t)choice, true, NULL, 0) >= 0;
    ek_trace.has_missed = !found;
    return found;
}

/* Notes whether it has, and returns that. */
static inline int ek_trace_note_flag(int choice, int found)
{
    if (found)
        ek_trace_outcome((uint8_t)choice, NULL, 0);
    else
        ek_trace_miss();
    return found;
}

#endif
