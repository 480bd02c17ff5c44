/* What is known of the program's own datatypes, by their handles: each is examined once.
 *
 * A type is forgotten when the host deletes it, however that comes about: Fortran programs free types without
 * the shim's knowledge. An attribute of the type tells. So a handle that the host uses again is examined
 * again. */
#ifndef EK_HOST_KNOWN_TYPES_H
#define EK_HOST_KNOWN_TYPES_H
#include "host/type_map.h"
#include <stdbool.h>

typedef struct ek_known_type {
    uintptr_t handle;
    MPI_Count size, extent;
    const ek_type_map *map;  /* NULL: not understood */
    bool contiguous, padded; /* as of ek_type */
    struct ek_known_type *next;
} ek_known_type;

/* From now on types are remembered; once, when the host is up, and only if one thread at a time calls MPI.
 * `collectives` counts what may use maps of types that the program has freed. */
void ek_known_types_open(const _Atomic int *collectives);

/* NULL: nothing can be remembered of this type. The result is valid until the type is deleted. */
const ek_known_type *ek_known_type_of(MPI_Datatype);

#endif
