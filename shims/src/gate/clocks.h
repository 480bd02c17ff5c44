/* Reading a clock of the C library while barriers are pending. The ranks of a machine share it, so it tells
 * as much as MPI_Wtime about when another rank came to a barrier. */
#ifndef EK_GATE_CLOCKS_H
#define EK_GATE_CLOCKS_H
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "process/state.h"

/* The slow part of EK_COMPLETE_BEFORE_CLOCK. */
void ek_complete_before_clock(const char *name, const void *caller);

/* Completes pending barriers before the program reads a clock; `is_shared`: by which ranks can compare. */
#define EK_COMPLETE_BEFORE_CLOCK(name, is_shared, caller) \
    do {                                                  \
        if (EK_UNLIKELY(ek_gate) && (is_shared))          \
            ek_complete_before_clock(name, caller);       \
    } while (0)
#else
#define EK_COMPLETE_BEFORE_CLOCK(name, is_shared, caller) ((void)0)
#endif
#endif
