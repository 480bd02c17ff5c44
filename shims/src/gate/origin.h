/* Whose code has called a function: the program's, or the host library's. What the host makes for itself
 * opens no channel.
 *
 * This rests on what the loader knows. The host's objects are the one that defines MPI_Init, those that it
 * needs and the program does not, and those that were loaded while the host started. */
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

/* To be called before and after the host starts. */
void ek_origin_before_host(void);
void ek_origin_after_host(void);

/* Whether the code at this address is the program's. */
bool ek_is_program(const void *address);

/* Whether an object of the program's that was loaded since the last call lets other processes write to this
 * one's memory without a call: network cards and accelerators can. */
bool ek_program_has_remote_writers(void);

#endif
