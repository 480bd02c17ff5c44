/* Where the bytes of a datatype's elements lie, as the host tells it: by how the type was made. */
#ifndef EK_HOST_TYPE_MAP_H
#define EK_HOST_TYPE_MAP_H
#include "evenkeel.h"
#include "host/library.h"

/* What the host says of a datatype, in bytes. */
typedef struct ek_type_bounds {
    MPI_Count size, lower_bound, extent, true_lower_bound, true_extent;
} ek_type_bounds;

/* Returns an MPI error code. */
int ek_type_bounds_of(MPI_Datatype, ek_type_bounds *);

/* Whether a predefined type has bytes that no computation writes: long double does on x86. */
bool ek_type_is_padded(MPI_Datatype);

/* Returns the map, which the caller must release; NULL if the type's construction is not understood, is too
 * complex, or contradicts what the host says of the type's bounds. `padded`: whether a part is padded. */
const ek_type_map *ek_type_map_read(MPI_Datatype, const ek_type_bounds *, bool *padded);

#endif
