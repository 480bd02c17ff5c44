#include "trace/data.h"
#include "host/datatype.h"
#include "process/state.h"
#include <stdlib.h>

/* A type is read if its construction is understood, which does not depend on the library. Bytes that no
 * computation writes are left out with their type: they differ for no reason. */
ek_traced_type ek_traced_type_of(MPI_Datatype type)
{
    ek_type scratch;
    const ek_type *t = ek_process.has_devices ? NULL : ek_type_of(type, &scratch);
    if (!t || t->layout.size <= 0)
        return (ek_traced_type){0};
    return (ek_traced_type){.size = (size_t)t->layout.size,
                            .extent = t->layout.extent,
                            .is_read = !t->padded && (t->contiguous || t->layout.map),
                            .map = t->contiguous ? NULL : t->layout.map};
}

void ek_traced_type_hold(const ek_traced_type *t)
{
    if (t->map)
        ek_type_map_hold(t->map);
}

void ek_traced_type_drop(const ek_traced_type *t)
{
    if (t->map)
        ek_type_map_release(t->map);
}

void ek_traced_blocks_drop(ek_traced_blocks *b)
{
    for (int i = 0; b && i < b->count; i++)
        ek_traced_type_drop(&b->blocks[i].type);
    free(b);
}

/* Returns the bytes of elements with holes, to be freed. */
static uint8_t *packed(const void *at, size_t bytes, const ek_traced_type *t)
{
    uint8_t *copy = malloc(bytes);
    size_t count = bytes / t->size + (bytes % t->size != 0);
    if (copy)
        ek_type_map_pack(t->map, at, count, 0, copy, bytes);
    return copy;
}

void ek_trace_elements(bool receives, int peer, int tag, const void *at, size_t bytes,
                       const ek_traced_type *t)
{
    uint8_t *copy = t->is_read && t->map && bytes ? packed(at, bytes, t) : NULL;
    const uint8_t *in_a_row = t->is_read && !t->map && bytes ? at : NULL;
    ek_trace_message(receives, peer, tag, bytes, copy ? copy : in_a_row);
    free(copy);
}
