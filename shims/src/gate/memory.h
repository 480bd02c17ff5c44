/* Memory that the program takes while barriers are pending. What a rank releases before a barrier another
 * one may take behind it, and no more than one of them may fit the machine. So a process whose barriers are
 * pending grows by EK_SMALL_GROWTH at most; for more, they are completed first. */
#ifndef EK_GATE_MEMORY_H
#define EK_GATE_MEMORY_H
#include "gate/system_calls.h"

/* Since barriers were last completed for this reason. What is released meanwhile is not subtracted: another
 * rank may have taken it. */
enum { EK_SMALL_GROWTH = 1 << 20 };

#ifdef EK_CAN_CATCH_SYSTEM_CALLS

typedef enum ek_admission {
    EK_ADMITTED,  /* the system call may be made now */
    EK_REFUSED,   /* it must not be made: `answer` is that of a kernel without memory */
    EK_COMPLETED, /* barriers are complete, and the gate is open */
} ek_admission;

/* To be called before a caught system call that concerns this process alone is made. */
ek_admission ek_memory_admit(long number, const greg_t *registers, greg_t *answer);

/* To be called when such a call has been made and answered `answer`. Whether it failed for want of memory and
 * is to be made again: barriers are complete now, and the gate is open. */
bool ek_memory_has_failed(long number, const greg_t *registers, long answer);

/* Whether `madvise` gives pages back and keeps their addresses: touched, they come again without a call. */
bool ek_gives_back(int advice);

/* To be called when the program gives so many bytes back in this way, or an unknown number: SIZE_MAX. Makes
 * barriers strict if that is not a small amount. An allocator may call it while it holds its locks. */
void ek_memory_given_back(size_t bytes);

/* Whether an allocator that is still under way was refused a system call. Then the gate stays closed until it
 * has given up: if it got its memory in another way, from the heap in place of a mapping, it could keep that
 * memory after it is freed. */
bool ek_memory_has_refused(void);

/* To be called before a handler of the program's runs, which may leave by a jump. */
void ek_memory_leave_allocator(void);

#endif
#endif
