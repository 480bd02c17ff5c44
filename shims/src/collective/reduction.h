/* Describes reductions: Reduce, Allreduce, Scan, Exscan, Reduce_scatter, Reduce_scatter_block. */
#ifndef EK_COLLECTIVE_REDUCTION_H
#define EK_COLLECTIVE_REDUCTION_H
#include "collective/marshal.h"

ek_marshal_step ek_describe_reduction;

#endif
