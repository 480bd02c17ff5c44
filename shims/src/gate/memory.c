/* The C library's allocator holds a lock while it makes a system call, so barriers cannot be completed there.
 * Instead a system call by which it would grow is refused, the allocator gives up and returns, the barriers
 * are completed, and the allocation is tried again. */
#define _GNU_SOURCE
#include "gate/memory.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/allocation.h"
#include "gate/channels.h"
#include "gate/deferral.h"
#include "gate/uncaught.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static size_t grown; /* see EK_SMALL_GROWTH */
/* The thread that is in MPI is in an allocator that is entered through allocation.c. */
static volatile bool inside;
static volatile bool refused; /* a system call of that allocator's */

void ek_memory_leave_allocator(void) { inside = refused = false; }

bool ek_memory_has_refused(void) { return refused; }

bool ek_gives_back(int advice) { return advice == MADV_DONTNEED || advice == MADV_FREE; }

void ek_memory_given_back(size_t bytes)
{
    static _Atomic size_t sum;
    if (bytes > EK_SMALL_GROWTH || atomic_fetch_add(&sum, bytes) + bytes > EK_SMALL_GROWTH)
        ek_channel_will_open(EK_CHANNEL_MEMORY);
}

/* ---- the system calls ---- */

static size_t above(size_t larger, size_t smaller) { return larger > smaller ? larger - smaller : 0; }

static long current_break(void) { return ek_gate_syscall(SYS_brk, 0, 0, 0, 0, 0, 0); }

/* By how many bytes the process may grow when it has made this call. */
static size_t growth_of(long number, const greg_t *r)
{
    const size_t second = (size_t)r[REG_RSI];
    const int third = (int)r[REG_RDX];
    switch (number) {
    case SYS_mmap:
    case SYS_mprotect: return third & PROT_WRITE ? second : 0;
    case SYS_mremap: return above((size_t)third, second);
    case SYS_brk: return r[REG_RDI] ? above((size_t)r[REG_RDI], (size_t)current_break()) : 0;
    case SYS_madvise: return ek_gives_back(third) ? second : 0;
    default: return 0;
    }
}

ek_admission ek_memory_admit(long number, const greg_t *r, greg_t *answer)
{
    const size_t growth = growth_of(number, r);
    if (!growth)
        return EK_ADMITTED;
    if (!refused && growth <= EK_SMALL_GROWTH - grown) {
        grown += growth;
        return EK_ADMITTED;
    }
    if (inside && number != SYS_madvise) {
        refused = true;
        *answer = number == SYS_brk ? current_break() : -ENOMEM;
        return EK_REFUSED;
    }
    if (!ek_complete_without_locks(ek_system_call_name(number), true)) {
        ek_gate_close_if_deferred();
        return EK_ADMITTED;
    }
    grown = 0;
    return EK_COMPLETED;
}

/* Another rank may release memory, or raise this one's limit, before it enters the barrier. An allocator that
 * is entered through allocation.c is called again; others are not. */
bool ek_memory_has_failed(long number, const greg_t *r, long answer)
{
    const bool failed = number == SYS_brk ? r[REG_RDI] && answer < r[REG_RDI] : answer == -ENOMEM;
    if (!failed || inside || !growth_of(number, r))
        return false;
    if (ek_complete_without_locks(ek_system_call_name(number), true))
        return true;
    ek_gate_close_if_deferred();
    return false;
}

/* ---- the allocators ---- */

ek_allocation ek_allocation_begin(void)
{
    ek_allocation a = {.error = errno, .is_owners = ek_gate && ek_gate_is_own()};
    if (a.is_owners)
        inside = true;
    return a;
}

bool ek_allocation_end(const ek_allocation *a, bool failed, const char *name)
{
    if (!a->is_owners)
        return false;
    inside = false;
    if ((failed || refused) && ek_gate) {
        ek_complete_deferred(name, false);
        grown = 0;
    }
    refused = false;
    if (failed)
        errno = a->error;
    return failed;
}

#endif
