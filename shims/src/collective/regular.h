/* Describes collectives that move blocks of one size: Bcast, Gather, Scatter, Allgather, Alltoall. */
#ifndef EK_COLLECTIVE_REGULAR_H
#define EK_COLLECTIVE_REGULAR_H
#include "collective/marshal.h"

ek_marshal_step ek_describe_regular;

#endif
