/* How a datatype was made: what MPI_Type_get_envelope and MPI_Type_get_contents return. */
#ifndef EK_HOST_TYPE_CONTENTS_H
#define EK_HOST_TYPE_CONTENTS_H
#include "host/library.h"
#include <stdbool.h>

typedef struct ek_type_contents {
    int combiner;
    MPI_Count ints, addresses, counts, types; /* how many */
    int *an_int;
    MPI_Aint *an_address;
    MPI_Count *a_count;
    MPI_Datatype *a_type;
} ek_type_contents;

/* Asks for the combiner, and for how many there are of each. */
bool ek_type_envelope(MPI_Datatype, ek_type_contents *);

/* After that. The contents must be dropped in any case, and if this succeeds the types freed. */
bool ek_type_contents_of(MPI_Datatype, ek_type_contents *);
void ek_type_contents_drop(ek_type_contents *);

/* Types of the contents are new handles, except those that are predefined. */
void ek_type_free_inner(MPI_Datatype);

#endif
