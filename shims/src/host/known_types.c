#include "host/known_types.h"
#include "host/hash.h"
#include "host/hints.h"
#include <stdlib.h>

/* More types than this are not remembered at once: memory is bounded. */
enum { MOST_TYPES = 4096, BITS = 10 };

static ek_known_type *table[1 << BITS];
static int remembered;
static ek_known_type *deleted; /* their maps may still be in use */
static const _Atomic int *collectives;
static int keyval;

/* ---- forgetting ---- */

static void drop(ek_known_type *k)
{
    if (k->map)
        ek_type_map_release(k->map);
    free(k);
}

static void drop_deleted(void)
{
    while (deleted && !*collectives) {
        ek_known_type *k = deleted;
        deleted = k->next;
        drop(k);
    }
}

/* The host deletes a type, or its attribute is set again. */
static int forget(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    ek_known_type **at = &table[ek_hash((uintptr_t)type, BITS)];
    while (*at && (*at)->handle != (uintptr_t)type)
        at = &(*at)->next;
    ek_known_type *k = *at;
    if (k) {
        *at = k->next;
        k->next = deleted;
        deleted = k;
        remembered--;
        drop_deleted();
    }
    return MPI_SUCCESS;
}

/* A duplicate has a handle of its own, and is examined by itself. */
static int copy_nothing(MPI_Datatype old, int key, void *extra, void *value, void *copy, int *copied)
{
    (void)old, (void)key, (void)extra, (void)value, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

/* ---- examining ---- */

static ek_known_type *examine(MPI_Datatype type)
{
    ek_type_bounds bounds;
    drop_deleted();
    if (!collectives || remembered == MOST_TYPES || ek_type_bounds_of(type, &bounds) || bounds.size < 0)
        return NULL;
    ek_known_type *k = calloc(1, sizeof *k);
    if (!k || ek_host.Type_set_attr(type, keyval, NULL)) {
        free(k);
        return NULL;
    }
    bool padded;
    const ek_type_map *map = ek_type_map_read(type, &bounds, &padded);
    *k = (ek_known_type){.handle = (uintptr_t)type,
                         .size = bounds.size,
                         .extent = bounds.extent,
                         .map = map,
                         .contiguous = map && ek_type_map_is_contiguous(map),
                         .padded = padded};
    ek_known_type **at = &table[ek_hash(k->handle, BITS)];
    k->next = *at;
    *at = k;
    remembered++;
    return k;
}

const ek_known_type *ek_known_type_of(MPI_Datatype type)
{
    uintptr_t handle = (uintptr_t)type;
    const ek_known_type *k = table[ek_hash(handle, BITS)];
    while (k && EK_UNLIKELY(k->handle != handle))
        k = k->next;
    return EK_LIKELY(k != NULL) ? k : examine(type);
}

void ek_known_types_open(const _Atomic int *count)
{
    if (!ek_host.Type_create_keyval(copy_nothing, forget, &keyval, NULL))
        collectives = count;
}
