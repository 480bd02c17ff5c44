/* Gives the host a chance to move its own messages on while evenkeel waits. */
#ifndef EK_PROCESS_HOST_PROGRESS_H
#define EK_PROCESS_HOST_PROGRESS_H

int ek_host_progress_open(void); /* an MPI error code */
void ek_host_progress_close(void);

/* May be called from any thread. It does nothing if another thread is in it already. */
void ek_host_progress(void);

#endif
