/* Waits in the host where ranks share cores.
 *
 * MPICH keeps the core while it waits. If the awaited rank needs that core, each wait takes until the kernel
 * ends the time slice: milliseconds. In each wait it looks for messages by a function of UCX, if it is built
 * with that. The shim stands in between, and yields where nothing is found. Nothing else of the call changes.
 */
#ifndef EK_PROCESS_HOST_WAITS_H
#define EK_PROCESS_HOST_WAITS_H

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

/* Before the host's MPI_Init. */
void ek_host_waits_begin(void);

/* At the end of MPI_Init, when it is known which ranks share this node. */
void ek_host_waits_start(void);

/* When evenkeel ends, in MPI_Finalize, and after MPI_Finalize. */
void ek_host_waits_end(void);
void ek_host_waits_over(void);

#endif
