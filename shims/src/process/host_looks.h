/* Who looks for something to do in the host: the shim, or a program that only asks. Read by host_waits.c. */
#ifndef EK_PROCESS_HOST_LOOKS_H
#define EK_PROCESS_HOST_LOOKS_H

#include "host/hints.h"

/* > 0: the shim tests, and pauses by itself if there is nothing. */
extern EK_HIDDEN _Thread_local int ek_host_tests __attribute__((tls_model("initial-exec")));
/* > 0: the program tests or probes, and may have something else to do. */
extern EK_HIDDEN _Thread_local int ek_host_asks __attribute__((tls_model("initial-exec")));

static inline void ek_host_count_down(int **counter) { --**counter; }

/* Until the end of the block, also by a C++ exception. */
#define EK_HOST_COUNT(counter) \
    int *counter##_scope __attribute__((cleanup(ek_host_count_down), unused)) = (++(counter), &(counter))
#define EK_HOST_TESTS_SCOPE EK_HOST_COUNT(ek_host_tests)
#define EK_HOST_ASKS_SCOPE EK_HOST_COUNT(ek_host_asks)

#endif
