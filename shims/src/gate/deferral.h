/* Barriers that are pending: what the wrappers do about them.
 *
 * The gate, ek_gate, is closed only while the program itself runs. So a wrapper that finds it closed has been
 * called by the program, and barriers are pending. */
#ifndef EK_GATE_DEFERRAL_H
#define EK_GATE_DEFERRAL_H
#include "process/state.h"

/* Before a call that others could notice, or that shows what others have done. */
#define EK_COMPLETE_DEFERRED(name)             \
    do {                                       \
        if (EK_UNLIKELY(ek_gate))              \
            ek_complete_deferred(name, false); \
    } while (0)

static inline uint8_t ek_gate_open(void)
{
    uint8_t was = ek_gate;
    if (EK_UNLIKELY(was))
        ek_gate = 0;
    return was;
}

static inline void ek_gate_restore(uint8_t *was)
{
    if (EK_UNLIKELY(*was) && ek_deferred)
        ek_gate = *was;
}

/* Opens the gate until the block ends, for a call that no other process could notice: what is pending stays
 * pending. `gate_was` tells whether the gate was closed. */
#define EK_OPEN_GATE_SCOPE uint8_t gate_was __attribute__((cleanup(ek_gate_restore), unused)) = ek_gate_open()

/* After the engine has been called for the program, with the gate open. */
static inline void ek_gate_close_if_deferred(void) { ek_gate = ek_deferred ? ek_process.closed_gate : 0; }

/* MPI_Wtime is called while the gate is closed: completes what is pending unless that is not wanted. */
void ek_complete_deferred_for_clock(void);

#endif
