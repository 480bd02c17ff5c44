/* Waits in the host where ranks share cores.
 *
 * MPICH keeps the core while it waits. If the awaited rank needs that core, each wait takes until the kernel
 * ends the time slice: milliseconds. In each wait it looks for messages by a function of UCX, if it is built
 * with that. The shim stands in between, and yields where nothing is found. Nothing else of the call changes.
 */
#ifndef EK_PROCESS_HOST_WAITS_H
#define EK_PROCESS_HOST_WAITS_H

/* Before the host's MPI_Init. */
void ek_host_waits_begin(void);

/* At the end of MPI_Init, when it is known which ranks share this node. */
void ek_host_waits_start(void);

/* When evenkeel ends, in MPI_Finalize, and after MPI_Finalize. */
void ek_host_waits_end(void);
void ek_host_waits_over(void);

#endif
