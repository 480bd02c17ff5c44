/* The end of evenkeel in this process. */
#ifndef EK_WORLD_END_H
#define EK_WORLD_END_H

/* The program has called MPI_Finalize; `host_finalize` is the host's. */
int ek_finalize(int (*host_finalize)(void));

#endif
