/* Datatypes: a table of the predefined ones, built once, and the program's own. */
#ifndef EK_HOST_DATATYPE_H
#define EK_HOST_DATATYPE_H
#include "evenkeel.h"
#include "host/library.h"
#include "host/operator.h"

/* A datatype, as far as packing needs to know it. */
typedef struct ek_layout {
    MPI_Datatype type;
    MPI_Count size, extent;
    const ek_type_map *map; /* valid until the type is deleted; NULL: the host packs */
} ek_layout;

typedef struct ek_type {
    uintptr_t handle;
    ek_layout layout;
    bool predefined;
    /* n elements are n * size bytes in ascending order, from the buffer's address on. */
    bool contiguous;
    bool padded; /* it has bytes that no computation writes, or that is not known */
    /* As the standard groups types by the operators they admit: i signed and u unsigned integer, f floating,
     * c complex, l logical, b byte, p pair for MINLOC and MAXLOC, n none; 0 for what the program made. */
    char type_class;
    ek_combine combine[EK_OPERATORS]; /* the engine's functions; NULL: it has none */
} ek_type;

/* Fills the table; once, when the host is up. */
void ek_types_open(void);

/* Calls a function with each predefined type. */
void ek_types_each(void (*)(const ek_type *));

/* Returns the table's entry, or `scratch` filled in; NULL if something is wrong with the type. */
const ek_type *ek_type_of(MPI_Datatype, ek_type *scratch);

/* So many elements of a type. It must not be copied: `type` may point into it. */
typedef struct ek_elements {
    const ek_type *type;
    ek_type scratch;
    MPI_Count count;
    size_t bytes; /* without holes */
} ek_elements;

/* Measures elements. Returns false if evenkeel cannot serve them. */
bool ek_elements_measure(ek_elements *, MPI_Count count, MPI_Datatype);

#endif
