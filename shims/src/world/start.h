/* The start of evenkeel in this process. */
#ifndef EK_WORLD_START_H
#define EK_WORLD_START_H

#include <stdbool.h>

/* To be called before and after MPI_Init or MPI_Init_thread of the host. */
void ek_before_init(void);
void ek_after_init(bool succeeded);

#endif
