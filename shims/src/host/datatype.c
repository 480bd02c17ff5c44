#include "host/datatype.h"
#include "host/hash.h"
#include "host/known_types.h"
#include <string.h>

enum { TABLE_BITS = 9, TABLE_SIZE = 1 << TABLE_BITS };

/* Handle 0 marks a free place. */
static ek_type table[TABLE_SIZE];

static size_t place_of(uintptr_t handle)
{
    size_t at = ek_hash(handle, TABLE_BITS);
    while (table[at].handle && table[at].handle != handle)
        at = (at + 1) % TABLE_SIZE;
    return at;
}

/* ---- the predefined types ---- */

/* Optional types that this library lacks are null handles, or handles without a size. */
static void add(char type_class, MPI_Datatype type)
{
    ek_type_bounds b = {0};
    if (!type || type == ek_handles.type_null || ek_type_bounds_of(type, &b) || b.size <= 0 ||
        b.lower_bound != 0)
        return;
    const MPI_Count size = b.size, extent = b.extent;
    bool padded = ek_type_is_padded(type);
    const ek_type_map *map = size == extent ? NULL : ek_type_map_read(type, &b, &padded);
    ek_type *t = &table[place_of((uintptr_t)type)];
    *t = (ek_type){.handle = (uintptr_t)type,
                   .layout = {.type = type, .size = size, .extent = extent, .map = map},
                   .predefined = true,
                   .contiguous = size == extent,
                   .padded = padded,
                   .type_class = type_class};
    /* 16-byte floats are two formats (x87 and quad): the host knows which. */
    if (!strchr("iuf", type_class) || size > 8)
        return;
    for (int op = 0; op < EK_OPERATORS; op++)
        if (ek_operator_fits(op, type_class))
            t->combine[op] = ek_builtin_combine(ek_operator_name(op), type_class, (size_t)size);
}

static void add_all(char type_class, size_t count, const MPI_Datatype *types)
{
    for (size_t i = 0; i < count; i++)
        add(type_class, types[i]);
}

#define ADD(type_class, ...)                                                                \
    add_all(type_class, sizeof((const MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype), \
            (const MPI_Datatype[]){__VA_ARGS__})

static void add_c_types(void)
{
    ADD('i', MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
        MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET);
    ADD('u', MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
        MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T);
    ADD('f', MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE);
    ADD('l', MPI_C_BOOL);
    ADD('b', MPI_BYTE);
    ADD('c', MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX);
    ADD('p', MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT);
    ADD('n', MPI_CHAR, MPI_WCHAR, MPI_PACKED);
}

/* Types of C++ and Fortran that a library may have been built without. */
static void add_other_languages(void)
{
#ifdef MPI_CXX_BOOL
    ADD('l', MPI_CXX_BOOL);
    ADD('c', MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX);
#endif
#ifdef MPI_INTEGER
    ADD('i', MPI_INTEGER);
    ADD('f', MPI_REAL, MPI_DOUBLE_PRECISION);
    ADD('c', MPI_COMPLEX);
    ADD('l', MPI_LOGICAL);
    ADD('n', MPI_CHARACTER);
    ADD('p', MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER);
#endif
#ifdef MPI_DOUBLE_COMPLEX
    ADD('c', MPI_DOUBLE_COMPLEX);
#endif
}

/* Fortran's types of a given size: each may be missing. */
static void add_sized_integers(void)
{
#ifdef MPI_INTEGER1
    ADD('i', MPI_INTEGER1);
#endif
#ifdef MPI_INTEGER2
    ADD('i', MPI_INTEGER2);
#endif
#ifdef MPI_INTEGER4
    ADD('i', MPI_INTEGER4);
#endif
#ifdef MPI_INTEGER8
    ADD('i', MPI_INTEGER8);
#endif
#ifdef MPI_INTEGER16
    ADD('i', MPI_INTEGER16);
#endif
#ifdef MPI_LOGICAL1
    ADD('l', MPI_LOGICAL1);
#endif
#ifdef MPI_LOGICAL2
    ADD('l', MPI_LOGICAL2);
#endif
#ifdef MPI_LOGICAL4
    ADD('l', MPI_LOGICAL4);
#endif
#ifdef MPI_LOGICAL8
    ADD('l', MPI_LOGICAL8);
#endif
}

static void add_sized_reals(void)
{
#ifdef MPI_REAL2
    ADD('n', MPI_REAL2); /* the host's own float16: moved, never combined here */
#endif
#ifdef MPI_REAL4
    ADD('f', MPI_REAL4);
#endif
#ifdef MPI_REAL8
    ADD('f', MPI_REAL8);
#endif
#ifdef MPI_REAL16
    ADD('f', MPI_REAL16);
#endif
#ifdef MPI_COMPLEX8
    ADD('c', MPI_COMPLEX8);
#endif
#ifdef MPI_COMPLEX16
    ADD('c', MPI_COMPLEX16);
#endif
#ifdef MPI_COMPLEX32
    ADD('c', MPI_COMPLEX32);
#endif
}

/* Whether errors that belong to no communicator are raised at MPI_COMM_SELF also while that has the handler
 * with which it started. MPICH raises them at MPI_COMM_WORLD until the handler of MPI_COMM_SELF is set, also
 * if it is set to what it was. */
static bool raises_at_self(void) { return ek_host_is("Open MPI"); }

void ek_types_open(void)
{
    /* Asking for a type that the library lacks may be an error there, which must not end the program. */
    const MPI_Comm comms[2] = {ek_handles.world, ek_handles.self};
    MPI_Errhandler handlers[2];
    const int raising = raises_at_self() ? 2 : 1;
    for (int i = 0; i < raising; i++)
        if (!ek_host.Comm_get_errhandler(comms[i], &handlers[i]))
            ek_host.Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    add_c_types();
    add_other_languages();
    add_sized_integers();
    add_sized_reals();
    for (int i = 0; i < raising; i++) {
        ek_host.Comm_set_errhandler(comms[i], handlers[i]);
        ek_host.Errhandler_free(&handlers[i]);
    }
}

void ek_types_each(void (*look)(const ek_type *))
{
    for (int i = 0; i < TABLE_SIZE; i++)
        if (table[i].handle)
            look(&table[i]);
}

/* ---- the program's own types ---- */

/* The type of which another one is a duplicate or a contiguous run. `predefined`: it need not be freed. */
static bool get_inner(MPI_Datatype type, MPI_Datatype *inner, bool *predefined)
{
    int combiner, inner_combiner, an_int[1];
    MPI_Aint an_address[1];
#ifdef EK_HAS_Pack_c
    MPI_Count ints, addresses, counts, types, a_count[1];
    if (ek_host.Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner) || counts > 1)
        return false;
#else
    int ints, addresses, types;
    if (ek_host.Type_get_envelope(type, &ints, &addresses, &types, &combiner))
        return false;
#endif
    if ((combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) || types != 1 || ints > 1)
        return false;
#ifdef EK_HAS_Pack_c
    if (ek_host.Type_get_contents_c(type, ints, 0, counts, 1, an_int, an_address, a_count, inner))
        return false;
    int error = ek_host.Type_get_envelope_c(*inner, &ints, &addresses, &counts, &types, &inner_combiner);
#else
    if (ek_host.Type_get_contents(type, ints, 0, 1, an_int, an_address, inner))
        return false;
    int error = ek_host.Type_get_envelope(*inner, &ints, &addresses, &types, &inner_combiner);
#endif
    *predefined = error || inner_combiner == MPI_COMBINER_NAMED;
    return true;
}

enum { DEEPEST = 8 };

/* Whether a type's map is one run of bytes in ascending order. Equal size and extent do not prove it (a
 * permutation has them too), its construction does. Any other constructor counts as "no", which costs time
 * and nothing else. */
static bool is_provably_contiguous(MPI_Datatype type, int depth)
{
    const ek_type *t = &table[place_of((uintptr_t)type)];
    if (t->handle)
        return t->contiguous;
    MPI_Datatype inner;
    bool predefined;
    if (depth > DEEPEST || !get_inner(type, &inner, &predefined))
        return false;
    bool contiguous = is_provably_contiguous(inner, depth + 1);
    if (!predefined)
        ek_host.Type_free(&inner);
    return contiguous;
}

/* Fills in what is to be known of a type of the program's own, whose handle is not in the table. */
static __attribute__((noinline)) const ek_type *examine(MPI_Datatype type, ek_type *scratch)
{
    MPI_Count lower_bound;
    memset(scratch, 0, sizeof *scratch);
    ek_layout *layout = &scratch->layout;
    scratch->handle = (uintptr_t)type;
    const ek_known_type *known = ek_known_type_of(type);
    if (EK_LIKELY(known != NULL)) {
        scratch->contiguous = known->contiguous;
        scratch->padded = known->padded;
        *layout = (ek_layout){.type = type, .size = known->size, .extent = known->extent, .map = known->map};
        return scratch;
    }
    if (ek_host.Type_size_x(type, &layout->size) ||
        ek_host.Type_get_extent_x(type, &lower_bound, &layout->extent) || layout->size < 0)
        return NULL;
    layout->type = type;
    scratch->padded = true;
    scratch->contiguous = lower_bound == 0 && layout->size == layout->extent && layout->size > 0 &&
                          is_provably_contiguous(type, 0);
    return scratch;
}

/* Of a handle that is not at `at`, where the table would have it if no two had the same hash. */
static __attribute__((noinline)) const ek_type *search(MPI_Datatype type, ek_type *scratch, const ek_type *at)
{
    const uintptr_t handle = (uintptr_t)type;
    while (at->handle) {
        if (++at == table + TABLE_SIZE)
            at = table;
        if (at->handle == handle && handle)
            return at;
    }
    return !handle || type == ek_handles.type_null ? NULL : examine(type, scratch);
}

const ek_type *ek_type_of(MPI_Datatype type, ek_type *scratch)
{
    const uintptr_t handle = (uintptr_t)type;
    const ek_type *found = &table[ek_hash(handle, TABLE_BITS)];
    if (EK_LIKELY(found->handle == handle && handle))
        return found;
    return search(type, scratch, found);
}

bool ek_elements_measure(ek_elements *elements, MPI_Count count, MPI_Datatype type)
{
    elements->count = count;
    elements->type = ek_type_of(type, &elements->scratch);
    MPI_Count bytes;
    if (count < 0 || !elements->type || __builtin_mul_overflow(count, elements->type->layout.size, &bytes) ||
        bytes > PTRDIFF_MAX / 4)
        return false;
    elements->bytes = (size_t)bytes;
    return true;
}
