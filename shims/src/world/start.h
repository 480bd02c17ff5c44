/* The start of evenkeel in this process. */
#ifndef EK_WORLD_START_H
#define EK_WORLD_START_H

/* To be called when MPI_Init or MPI_Init_thread has succeeded. */
void ek_after_init(void);

#endif
