/* Whose code has called a function: the program's, or the host library's. What the host makes for itself
 * opens no channel. */
#ifndef EK_GATE_ORIGIN_H
#define EK_GATE_ORIGIN_H
#include <dlfcn.h>
#include <stdbool.h>

#define EK_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* The next definition of a function of the C library that the shim interposes, found at the first call. */
#define EK_NEXT(name)              \
    static __typeof__(name) *next; \
    if (!next)                     \
    next = (__typeof__(next))dlsym(RTLD_NEXT, #name)

/* Whether the code at this address is the program's. */
bool ek_is_program(const void *address);

#endif
