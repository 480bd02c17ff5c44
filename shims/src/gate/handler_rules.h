/* Signal handlers: which of them make barriers strict. */
#ifndef EK_GATE_HANDLER_RULES_H
#define EK_GATE_HANDLER_RULES_H
#include <stdbool.h>

/* Whether a handler for this signal tells its process about others. Handlers for faults do not, nor those
 * that the run-time system of a language installs. */
bool ek_handler_counts(int signal, const void *handler);

/* To be called when `caller` sets a handler by the function `how`. */
void ek_note_handler(int signal, const void *handler, const void *caller, const char *how);

#endif
