/* Describes collectives that move blocks of different sizes: Gatherv, Scatterv, Allgatherv, Alltoallv,
 * Alltoallw. */
#ifndef EK_COLLECTIVE_VECTOR_H
#define EK_COLLECTIVE_VECTOR_H
#include "collective/marshal.h"

ek_marshal_step ek_describe_vector;

#endif
