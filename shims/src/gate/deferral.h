/* Barriers that are pending: what the wrappers do about them.
 *
 * The gate, ek_gate, is closed only while the program itself runs. So a wrapper that finds it closed has been
 * called by the program, and barriers are pending. */
#ifndef EK_GATE_DEFERRAL_H
#define EK_GATE_DEFERRAL_H
#include "process/state.h"

/* Completes pending barriers before a call that other processes could notice, or that shows what they have
 * done. */
#define EK_COMPLETE_DEFERRED(name)             \
    do {                                       \
        if (EK_UNLIKELY(ek_gate))              \
            ek_complete_deferred(name, false); \
    } while (0)

/* What the program's own functions do inside the call must not be seen too early either. So barriers are not
 * pending in any call that may call one. */
static inline uint8_t ek_gate_open(void)
{
    uint8_t was = ek_gate;
    if (EK_UNLIKELY(was)) {
        if (EK_UNLIKELY(ek_process.calls_back)) {
            ek_complete_deferred("a call that may call the program", false);
            return 0;
        }
        ek_gate = 0;
    }
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

/* Closes the gate after the engine has been called for the program, if barriers are pending. */
static inline void ek_gate_close_if_deferred(void) { ek_gate = ek_deferred ? ek_process.closed_gate : 0; }

/* Says that this thread is the one that is in MPI: only its barriers are deferred. */
void ek_gate_own(void);

/* Whether barriers of this thread may be pending. Others find the gate closed too, but may not open it. */
bool ek_gate_is_own(void);

/* To be called when the program calls MPI_Wtime while the gate is closed. Completes pending barriers, unless
 * --clock free says that clocks may be read. */
static inline void ek_complete_deferred_for_clock(void)
{
    if (!ek_process.clock_is_free)
        ek_complete_deferred("MPI_Wtime", false);
}

#endif
