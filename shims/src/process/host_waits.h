/* Waits in the host where ranks share cores.
 *
 * MPICH keeps the core while it waits. If the awaited rank needs that core, each wait takes until the kernel
 * ends the time slice: milliseconds. So calls that have a form that tests are taken apart (ek_must_poll), and
 * the rank yields between two tests. Calls without such a form, as of one-sided communication, keep the core,
 * unless the library looks for messages by UCX, where the shim can yield for it. */
#ifndef EK_PROCESS_HOST_WAITS_H
#define EK_PROCESS_HOST_WAITS_H

#include "host/hints.h"

/* > 0: the shim tests, and pauses by itself if there is nothing. */
extern EK_HIDDEN _Thread_local int ek_host_tests __attribute__((tls_model("initial-exec")));

/* Before the host's MPI_Init. */
void ek_host_waits_begin(void);

/* At the end of MPI_Init, when it is known which ranks share this node. */
void ek_host_waits_start(void);

/* When evenkeel ends, in MPI_Finalize. */
void ek_host_waits_end(void);

#endif
