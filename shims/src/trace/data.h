/* What the hashes of a trace read of elements. */
#ifndef EK_TRACE_DATA_H
#define EK_TRACE_DATA_H
#include "evenkeel.h"
#include "host/library.h"
#include <stdbool.h>
#include <stddef.h>

/* What is kept of a datatype: the map is valid until the type is deleted, or for as long as it is held. */
typedef struct ek_traced_type {
    size_t size; /* of an element, without holes */
    MPI_Count extent;
    bool is_read;           /* elements may be read */
    const ek_type_map *map; /* where their bytes lie; NULL: in a row */
} ek_traced_type;

ek_traced_type ek_traced_type_of(MPI_Datatype);

/* For elements that are read later, when the program may have deleted the type. */
void ek_traced_type_hold(const ek_traced_type *);
void ek_traced_type_drop(const ek_traced_type *);

/* Elements at a place. */
typedef struct ek_traced_block {
    const char *at;
    size_t bytes; /* without holes */
    ek_traced_type type;
} ek_traced_block;

/* What a collective reads, or will have written when it is complete. The types of the blocks are held. */
typedef struct ek_traced_blocks {
    uint32_t kind;
    int root; /* the same number for all libraries */
    int count;
    ek_traced_block blocks[];
} ek_traced_blocks;

void ek_traced_blocks_drop(ek_traced_blocks *); /* or NULL */

/* Takes a message into a hash: `bytes` bytes, without holes, of elements at an address. Elements that may not
 * be read count by their number of bytes alone. */
void ek_trace_elements(bool receives, int peer, int tag, const void *at, size_t bytes,
                       const ek_traced_type *);

#endif
