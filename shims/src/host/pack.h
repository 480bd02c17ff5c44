/* Elements with holes, in odd order or at absolute addresses are packed into bytes and back: by their map,
 * or, if their type is not understood, by the host. */
#ifndef EK_HOST_PACK_H
#define EK_HOST_PACK_H
#include "host/datatype.h"

/* These convert `count` elements to `count * size` bytes and back. They return an MPI error code. */
int ek_pack(const void *elements, MPI_Count count, const ek_layout *, char *bytes);
int ek_unpack(const char *bytes, MPI_Count count, const ek_layout *, void *elements);

/* Copies elements to others of the same type, without what lies in their holes. */
int ek_copy_elements(const void *from, MPI_Count count, const ek_layout *, void *to);

#endif
