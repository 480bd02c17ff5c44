/* Giving the host a chance to move its own messages on, from waits of evenkeel's. */
#ifndef EK_PROCESS_HOST_PROGRESS_H
#define EK_PROCESS_HOST_PROGRESS_H

int ek_host_progress_open(void); /* an MPI error code */
void ek_host_progress_close(void);

/* From any thread; where another one is at it already, it does nothing. */
void ek_host_progress(void);

#endif
