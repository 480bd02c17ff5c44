/* The C library's allocator, interposed: it may complete barriers before or after it, where it holds no lock.
 * While no barrier is pending this costs seven instructions. C++'s `new` calls `malloc`. */
#define _GNU_SOURCE
#include "gate/allocation.h"
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/origin.h"
#include "process/state.h"
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

/* `failed` says whether `result` means that there was no memory. The first allocation of a process is made by
 * its first thread, for which dlsym allocates nothing. */
#define ALLOCATOR(returns, name, parameters, arguments, failed)              \
    static __typeof__(name) *next_##name;                                    \
    static __attribute__((noinline, cold)) returns watched_##name parameters \
    {                                                                        \
        if (!next_##name)                                                    \
            next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);  \
        const ek_allocation allocation = ek_allocation_begin();              \
        returns result = next_##name arguments;                              \
        if (ek_allocation_end(&allocation, (failed), #name))                 \
            result = next_##name arguments;                                  \
        return result;                                                       \
    }                                                                        \
    EK_ENTRY returns name parameters                                         \
    {                                                                        \
        if (EK_LIKELY(next_##name != NULL) && EK_LIKELY(!ek_gate))           \
            return next_##name arguments;                                    \
        return watched_##name arguments;                                     \
    }
ALLOCATOR(void *, malloc, (size_t bytes), (bytes), !result)
ALLOCATOR(void *, calloc, (size_t count, size_t bytes), (count, bytes), !result)
/* Without bytes it frees the block. */
ALLOCATOR(void *, realloc, (void *block, size_t bytes), (block, bytes), !result && bytes)
ALLOCATOR(void *, memalign, (size_t alignment, size_t bytes), (alignment, bytes), !result)
ALLOCATOR(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), !result)
ALLOCATOR(void *, valloc, (size_t bytes), (bytes), !result)
ALLOCATOR(void *, pvalloc, (size_t bytes), (bytes), !result)
ALLOCATOR(int, posix_memalign, (void **block, size_t alignment, size_t bytes), (block, alignment, bytes),
          result == ENOMEM)

#endif
