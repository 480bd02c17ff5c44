/* Faults of this process: pending barriers are completed before a fault takes its course. Otherwise the job
 * might end before another rank has done what it had to do in front of the barrier, such as writing a
 * checkpoint. */
#ifndef EK_GATE_TRAPS_H
#define EK_GATE_TRAPS_H
#include <signal.h>
#include <stdbool.h>

/* Installs handlers for faults. Those of the program and the host are called after them. */
void ek_traps_start(void);
void ek_traps_stop(void);

/* Whether the signal is raised by faults of the process itself. */
bool ek_is_trap(int signal);

/* Whether handlers for faults are installed; the program's action on such a signal is then set and read by
 * ek_trap_sigaction, which returns what sigaction would. */
bool ek_traps_own(int signal);
int ek_trap_sigaction(int signal, const struct sigaction *action, struct sigaction *old);

#endif
