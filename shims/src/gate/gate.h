/* The gate: while barriers of this process are pending, its next system call is caught before the kernel sees
 * it, the barriers are completed, and the call is made after all. No other process can then tell that they
 * were not complete. */
#ifndef EK_GATE_GATE_H
#define EK_GATE_GATE_H
#include <signal.h>
#include <stdbool.h>

/* Installs the gate, if barriers may be deferred in this process, and lets the engine defer them. */
void ek_deferral_start(void);
void ek_deferral_stop(void);

/* Whether this signal is the gate's. The program's action on it is then set and read by ek_gate_sigaction. */
bool ek_gate_owns(int signal);
void ek_gate_sigaction(const struct sigaction *action, struct sigaction *old);

#endif
