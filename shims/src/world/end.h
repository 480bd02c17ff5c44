/* The end of evenkeel in this process. */
#ifndef EK_WORLD_END_H
#define EK_WORLD_END_H

/* To be called when the program has called MPI_Finalize, before the host is. */
void ek_before_finalize(void);

#endif
