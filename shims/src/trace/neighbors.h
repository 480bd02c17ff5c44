/* The neighbours of this rank in a communicator with a topology. */
#ifndef EK_TRACE_NEIGHBORS_H
#define EK_TRACE_NEIGHBORS_H
#include "host/library.h"
#include <stdbool.h>

/* In the order of the blocks of neighbourhood collectives. MPI_PROC_NULL: there is no neighbour, and the
 * block is neither read nor written. Valid until the next search. */
typedef struct ek_neighbors {
    int sources, destinations;
    const int *source, *destination;
} ek_neighbors;

/* Returns false where the communicator has no topology, or the library does not tell it. By the thread that
 * is traced alone. */
bool ek_neighbors_find(MPI_Comm, ek_neighbors *);

#endif
