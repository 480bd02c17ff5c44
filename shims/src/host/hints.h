/* Hints to the compiler about branches and about the visibility of symbols. */
#ifndef EK_HOST_HINTS_H
#define EK_HOST_HINTS_H

#define EK_LIKELY(x) __builtin_expect(!!(x), 1)
#define EK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For variables that several files of the shim share: the compiler may take their address directly. */
#define EK_HIDDEN __attribute__((visibility("hidden")))

/* For functions that the program, or a tool, may call by name. */
#define EK_ENTRY __attribute__((visibility("default")))

#endif
