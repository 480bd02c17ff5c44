/* System calls that are made while the gate is closed and are not caught: the kernel lets those through that
 * come from between ek_gate_text and ek_gate_text_end. */
#ifndef EK_GATE_UNCAUGHT_H
#define EK_GATE_UNCAUGHT_H
#include "gate/system_calls.h"
#include "host/hints.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
extern EK_HIDDEN const char ek_gate_text[], ek_gate_text_end[];

/* Makes a system call. Returns what the kernel returns. */
EK_HIDDEN long ek_gate_syscall(long number, long a, long b, long c, long d, long e, long f);

/* The end of a signal handler, and the instruction of it that makes the system call. */
EK_HIDDEN void ek_gate_restorer(void);
extern EK_HIDDEN const char ek_gate_sigreturn[];
#endif
#endif
