/* What is known about system calls that the gate catches (x86-64 Linux). */
#ifndef EK_GATE_SYSTEM_CALLS_H
#define EK_GATE_SYSTEM_CALLS_H
#if defined(__x86_64__) && defined(__linux__)
#define EK_CAN_CATCH_SYSTEM_CALLS 1
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

/* "read"; a literal. */
const char *ek_system_call_name(long number);

/* Whether a system call with these registers concerns this process alone: no other process can notice it, and
 * it shows nothing of what others did. Calls that change the signal mask or stack are not among them: made
 * from within a handler they would last until its end. */
bool ek_system_call_is_private(long number, const greg_t *registers);

/* Whether all processes of the machine read the same clock. */
static inline bool ek_clock_is_shared(clockid_t clock)
{
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

/* Whether a mapping with these flags shows what others write. Anonymous private memory is this process's
 * alone. A file shows what others write to it, even where it is mapped privately. */
static inline bool ek_mapping_is_shared(int flags)
{
    return (flags & MAP_TYPE) != MAP_PRIVATE || !(flags & MAP_ANONYMOUS);
}

/* Whether it makes a channel that stays open without further system calls, and which one. A mapping of the
 * program's own comes through `mmap` (libc_calls.c); those that are seen here are the loader's, of
 * libraries. */
bool ek_system_call_opens_channel(long number, const greg_t *registers, unsigned *channel);

#endif
#endif
