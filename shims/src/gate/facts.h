/* What this process has, asked of the kernel and the loader: threads, signal handlers, libraries. The
 * functions that libc_calls.c interposes are the usual ways to these, but not the only ones. */
#ifndef EK_GATE_FACTS_H
#define EK_GATE_FACTS_H
#include <stdbool.h>

/* To be called before and after the host starts. The threads that there are afterwards, and were not before,
 * are the host's. */
void ek_facts_before_host(void);
void ek_facts_after_host(void);

/* To be called when the host makes a thread. */
void ek_facts_note_host_thread(void);

/* Makes barriers strict while the program blocks the signals of faults: the kernel ends a process at once
 * that commits a fault then, and its pending barriers could not be completed first. */
void ek_facts_look_at_mask(void);

/* Makes barriers strict if the program has threads, handlers or libraries that forbid pending ones.
 * `thoroughly`: looks also at what takes long. */
void ek_facts_look(bool thoroughly);

#endif
