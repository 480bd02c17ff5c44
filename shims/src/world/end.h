/* The end of evenkeel in this process. */
#ifndef EK_WORLD_END_H
#define EK_WORLD_END_H

/* MPI_Finalize has been called, and the host does not know it yet. */
void ek_before_finalize(void);

#endif
