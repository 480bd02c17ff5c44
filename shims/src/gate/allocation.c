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

/* Each: type of the result, name, parameters, arguments, whether `result` means that there was no memory, and
 * such a result. */
#define ALLOCATORS(X)                                                                                 \
    X(void *, malloc, (size_t bytes), (bytes), !result, NULL)                                         \
    X(void *, calloc, (size_t count, size_t bytes), (count, bytes), !result, NULL)                    \
    /* Without bytes it frees the block. */                                                           \
    X(void *, realloc, (void *block, size_t bytes), (block, bytes), !result && bytes, NULL)           \
    X(void *, memalign, (size_t alignment, size_t bytes), (alignment, bytes), !result, NULL)          \
    X(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), !result, NULL)     \
    X(void *, valloc, (size_t bytes), (bytes), !result, NULL)                                         \
    X(void *, pvalloc, (size_t bytes), (bytes), !result, NULL)                                        \
    X(int, posix_memalign, (void **block, size_t alignment, size_t bytes), (block, alignment, bytes), \
      result == ENOMEM, ENOMEM)

#define DECLARE(returns, name, parameters, arguments, failed, failure) static __typeof__(name) *next_##name;
ALLOCATORS(DECLARE)

#define FIND(returns, name, parameters, arguments, failed, failure) \
    next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);

/* The first allocation of a process is made by its first thread. Before glibc 2.34 dlsym allocates a place
 * for its error message, and uses one of its own where it gets none: so it gets none. Returns false to dlsym.
 */
static bool find_allocators(void)
{
    static volatile bool finding; /* dlsym is declared as a leaf, which calls nothing here */
    if (finding)
        return false;
    finding = true;
    ALLOCATORS(FIND)
    finding = false;
    return true;
}

#define DEFINE(returns, name, parameters, arguments, failed, failure)        \
    static __attribute__((noinline, cold)) returns watched_##name parameters \
    {                                                                        \
        if (!next_##name && !find_allocators())                              \
            return failure;                                                  \
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
ALLOCATORS(DEFINE)

#endif
