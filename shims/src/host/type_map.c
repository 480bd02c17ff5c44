#include "host/type_map.h"
#include "host/type_contents.h"
#include <float.h>
#include <stdlib.h>

enum { DEEPEST = 24 };

/* ---- asking the host ---- */

int ek_type_bounds_of(MPI_Datatype type, ek_type_bounds *b)
{
    int code = ek_host.Type_size_x(type, &b->size);
    if (!code)
        code = ek_host.Type_get_extent_x(type, &b->lower_bound, &b->extent);
    return code ? code : ek_host.Type_get_true_extent_x(type, &b->true_lower_bound, &b->true_extent);
}

/* ---- from the host's constructors to the engine's ---- */

static const ek_type_map *make(ek_type_constructor constructor, const int64_t *numbers, size_t count,
                               const ek_type_map *inner)
{
    return ek_type_map_make(constructor, numbers, count, &inner, inner ? 1 : 0);
}

bool ek_type_is_padded(MPI_Datatype type)
{
    const size_t x87_bytes = 10;
    if (sizeof(long double) == x87_bytes || LDBL_MANT_DIG != 64)
        return false;
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
    if (type == MPI_CXX_LONG_DOUBLE_COMPLEX)
        return true;
#endif
    return type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_LONG_DOUBLE_INT;
}

/* A predefined type without holes. The pairs have holes on some machines: a value and an int. */
static const ek_type_map *make_named(MPI_Datatype type, const ek_type_bounds *b)
{
    int64_t numbers[] = {b->size};
    if (b->size > 0 && b->lower_bound == 0 && b->size == b->extent)
        return make(EK_TYPE_CONSTRUCTOR_BYTES, numbers, 1, NULL);
    if (type != MPI_FLOAT_INT && type != MPI_DOUBLE_INT && type != MPI_LONG_INT && type != MPI_SHORT_INT &&
        type != MPI_LONG_DOUBLE_INT)
        return NULL;
    const int64_t of_int = sizeof(int), value = b->size - of_int;
    const int64_t blocks[] = {2, value, of_int, 0, (value + of_int - 1) / of_int * of_int}, one[] = {1};
    const ek_type_map *byte = make(EK_TYPE_CONSTRUCTOR_BYTES, one, 1, NULL);
    const ek_type_map *pair = byte ? make(EK_TYPE_CONSTRUCTOR_HINDEXED, blocks, 5, byte) : NULL;
    if (byte)
        ek_type_map_release(byte);
    return pair;
}

/* The constructor that takes the same numbers in the same order; negative: there is none. */
static int constructor_of(const ek_type_contents *c)
{
    switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return EK_TYPE_CONSTRUCTOR_CONTIGUOUS;
    case MPI_COMBINER_VECTOR: return EK_TYPE_CONSTRUCTOR_VECTOR;
    case MPI_COMBINER_HVECTOR: return EK_TYPE_CONSTRUCTOR_HVECTOR;
    case MPI_COMBINER_INDEXED: return EK_TYPE_CONSTRUCTOR_INDEXED;
    case MPI_COMBINER_HINDEXED: return EK_TYPE_CONSTRUCTOR_HINDEXED;
    case MPI_COMBINER_INDEXED_BLOCK: return EK_TYPE_CONSTRUCTOR_INDEXED_BLOCK;
    case MPI_COMBINER_HINDEXED_BLOCK: return EK_TYPE_CONSTRUCTOR_HINDEXED_BLOCK;
    case MPI_COMBINER_STRUCT: return EK_TYPE_CONSTRUCTOR_STRUCT;
    case MPI_COMBINER_RESIZED: return EK_TYPE_CONSTRUCTOR_RESIZED;
    /* Those made with large counts have their numbers in another order. */
    case MPI_COMBINER_SUBARRAY: return c->counts ? -1 : EK_TYPE_CONSTRUCTOR_SUBARRAY;
    case MPI_COMBINER_DARRAY: return c->counts ? -1 : EK_TYPE_CONSTRUCTOR_DARRAY;
    default: return -1;
    }
}

static bool translate_order(int64_t *order)
{
    bool is_c = *order == MPI_ORDER_C, is_fortran = *order == MPI_ORDER_FORTRAN;
    *order = is_fortran;
    return is_c || is_fortran;
}

/* The host's own numbers for an order and for distributions. */
static bool translate(int constructor, int64_t *n, size_t count)
{
    if (constructor == EK_TYPE_CONSTRUCTOR_SUBARRAY)
        return count > 0 && translate_order(&n[count - 1]);
    if (constructor != EK_TYPE_CONSTRUCTOR_DARRAY)
        return true;
    if (count < 4 || n[2] < 0 || count != 4 + 4 * (size_t)n[2] || !translate_order(&n[count - 1]))
        return false;
    int64_t *kinds = n + 3 + n[2], *arguments = kinds + n[2];
    for (int64_t i = 0; i < n[2]; i++) {
        if (arguments[i] == MPI_DISTRIBUTE_DFLT_DARG)
            arguments[i] = -1;
        else if (arguments[i] < 1)
            return false;
        kinds[i] = kinds[i] == MPI_DISTRIBUTE_NONE     ? 0
                   : kinds[i] == MPI_DISTRIBUTE_BLOCK  ? 1
                   : kinds[i] == MPI_DISTRIBUTE_CYCLIC ? 2
                                                       : -1;
    }
    return true;
}

static const ek_type_map *make_of(const ek_type_contents *c, const ek_type_map *const *inner)
{
    int constructor = constructor_of(c);
    size_t count = 0;
    int64_t *numbers = malloc(sizeof *numbers * (size_t)(c->ints + c->addresses + c->counts + 1));
    if (!numbers)
        return NULL;
    for (MPI_Count i = 0; i < c->ints; i++)
        numbers[count++] = c->an_int[i];
    for (MPI_Count i = 0; i < c->addresses; i++)
        numbers[count++] = c->an_address[i];
    for (MPI_Count i = 0; i < c->counts; i++)
        numbers[count++] = c->a_count[i];
    const ek_type_map *map = NULL;
    if (constructor >= 0 && translate(constructor, numbers, count))
        map = ek_type_map_make((ek_type_constructor)constructor, numbers, count, inner, (size_t)c->types);
    free(numbers);
    return map;
}

static const ek_type_map *read_at(MPI_Datatype, const ek_type_bounds *, int depth, bool *padded);

static const ek_type_map *read_inner(MPI_Datatype type, int depth, bool *padded)
{
    ek_type_bounds bounds;
    return ek_type_bounds_of(type, &bounds) ? NULL : read_at(type, &bounds, depth, padded);
}

/* Of a type that is not predefined. */
static const ek_type_map *make_derived(MPI_Datatype type, ek_type_contents *c, int depth, bool *padded)
{
    const ek_type_map *map = NULL, **inner = NULL;
    if (ek_type_contents_of(type, c)) {
        inner = calloc((size_t)c->types + 1, sizeof *inner);
        bool is_dup = c->combiner == MPI_COMBINER_DUP && c->types == 1;
        bool is_understood = inner && (is_dup || constructor_of(c) >= 0);
        for (MPI_Count i = 0; i < c->types; i++) {
            if (is_understood)
                is_understood = (inner[i] = read_inner(c->a_type[i], depth + 1, padded));
            ek_type_free_inner(c->a_type[i]);
        }
        if (is_understood && c->combiner == MPI_COMBINER_DUP)
            ek_type_map_hold(map = inner[0]);
        else if (is_understood)
            map = make_of(c, inner);
        for (MPI_Count i = 0; inner && i < c->types; i++)
            if (inner[i])
                ek_type_map_release(inner[i]);
        free(inner);
    }
    ek_type_contents_drop(c);
    return map;
}

static const ek_type_map *read_at(MPI_Datatype type, const ek_type_bounds *b, int depth, bool *padded)
{
    ek_type_contents c;
    if (depth > DEEPEST || !ek_type_envelope(type, &c))
        return NULL;
    const bool is_named = c.combiner == MPI_COMBINER_NAMED;
    *padded |= is_named && ek_type_is_padded(type);
    const ek_type_map *map = is_named ? make_named(type, b) : make_derived(type, &c, depth, padded);
    if (!map)
        return NULL;
    /* Libraries differ in how they align structures. */
    const int64_t bounds[] = {b->lower_bound, b->extent};
    const ek_type_map *aligned = make(EK_TYPE_CONSTRUCTOR_ALIGNED, bounds, 2, map);
    ek_type_map_release(map);
    if (aligned &&
        !ek_type_map_fits(aligned, b->size, b->lower_bound, b->extent, b->true_lower_bound, b->true_extent)) {
        ek_type_map_release(aligned);
        return NULL;
    }
    return aligned;
}

const ek_type_map *ek_type_map_read(MPI_Datatype type, const ek_type_bounds *bounds, bool *padded)
{
    *padded = false;
    return read_at(type, bounds, 0, padded);
}
