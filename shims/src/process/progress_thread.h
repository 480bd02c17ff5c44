/* A thread that moves evenkeel's operations on while another one is inside the host.
 *
 * A blocking call of the host's may be one that cannot be taken apart: a collective, or the making of a
 * communicator. Other ranks may wait for this rank's part of evenkeel's operations before they come to where
 * the host waits for them. */
#ifndef EK_PROCESS_PROGRESS_THREAD_H
#define EK_PROCESS_PROGRESS_THREAD_H

typedef struct ek_progress_thread ek_progress_thread;

/* Returns NULL if there is no memory for one, or no thread. */
ek_progress_thread *ek_progress_thread_start(void);
void ek_progress_thread_stop(ek_progress_thread *);

/* One for all threads of the program that had entered the host before there was anything to move on. It moves
 * on evenkeel's collectives until none is left. Without memory for it they wait until a thread calls MPI. */
void ek_progress_thread_stand_in(void);

/* Ends it, for MPI_Finalize. */
void ek_progress_thread_end(void);

#endif
