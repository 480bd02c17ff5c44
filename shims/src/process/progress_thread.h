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

#endif
