/* Datatypes and operators: tables of the predefined ones, by handle, built once; the program's own are looked
 * into. */
#include "shim.h"

enum { TYPE_BITS = 9, OP_BITS = 6 };
static ek_type types[1 << TYPE_BITS];
static struct {
    uintptr_t handle;
    int number;
} ops[1 << OP_BITS];

/* Classes, as the standard groups types by the operators they admit: i signed and u unsigned integer, f
 * floating, c complex, l logical, b byte, p pair for MINLOC and MAXLOC, n none. */
static const struct {
    const char *name;
    const char *classes;
} op_table[EK_OPS] = {
    {"max", "iuf"},  {"min", "iuf"},  {"sum", "iufc"}, {"prod", "iufc"}, {"land", "iul"}, {"lor", "iul"},
    {"lxor", "iul"}, {"band", "iub"}, {"bor", "iub"},  {"bxor", "iub"},  {"minloc", "p"}, {"maxloc", "p"},
};

bool ek_op_fits(int op, char class) { return class && strchr(op_table[op].classes, class); }

int ek_op_of(MPI_Op op)
{
    uintptr_t key = (uintptr_t)op;
    if (EK_UNLIKELY(!key))
        return -2;
    for (size_t i = ek_hash(key, OP_BITS);; i = (i + 1) % (1 << OP_BITS)) {
        if (ops[i].handle == key)
            return ops[i].number;
        if (!ops[i].handle)
            return op == ek_handles.op_null ? -2 : -1;
    }
}

static void add_op(MPI_Op op, int number)
{
    size_t i = ek_hash((uintptr_t)op, OP_BITS);
    while (ops[i].handle)
        i = (i + 1) % (1 << OP_BITS);
    ops[i].handle = (uintptr_t)op;
    ops[i].number = number;
}

static size_t slot_of(uintptr_t key)
{
    size_t i = ek_hash(key, TYPE_BITS);
    while (types[i].handle && types[i].handle != key)
        i = (i + 1) % (1 << TYPE_BITS);
    return i;
}

/* Optional types that this library lacks are null handles, or handles without a size. */
static void add_type(MPI_Datatype type, char class)
{
    MPI_Count size = 0, lb = 0, extent = 0;
    if (!type || type == ek_handles.type_null || ek_host.Type_size_x(type, &size) || size <= 0 ||
        ek_host.Type_get_extent_x(type, &lb, &extent) || lb != 0)
        return;
    ek_type *t = &types[slot_of((uintptr_t)type)];
    *t = (ek_type){.handle = (uintptr_t)type,
                   .size = size,
                   .extent = extent,
                   .named = true,
                   .dense = size == extent,
                   .class = class};
    /* 16-byte floats are two formats (x87 and quad): the host knows which. */
    if (strchr("iuf", class) && size <= 8)
        for (int op = 0; op < EK_OPS; op++)
            if (ek_op_fits(op, class))
                t->builtin[op] = ek_builtin_combine(op_table[op].name, class, (size_t)size);
}

static void add_c_types(void)
{
    add_type(MPI_SIGNED_CHAR, 'i'), add_type(MPI_SHORT, 'i'), add_type(MPI_INT, 'i'), add_type(MPI_LONG, 'i');
    add_type(MPI_LONG_LONG, 'i'), add_type(MPI_INT8_T, 'i'), add_type(MPI_INT16_T, 'i'),
        add_type(MPI_INT32_T, 'i');
    add_type(MPI_INT64_T, 'i'), add_type(MPI_AINT, 'i'), add_type(MPI_COUNT, 'i'), add_type(MPI_OFFSET, 'i');
    add_type(MPI_UNSIGNED_CHAR, 'u'), add_type(MPI_UNSIGNED_SHORT, 'u'), add_type(MPI_UNSIGNED, 'u');
    add_type(MPI_UNSIGNED_LONG, 'u'), add_type(MPI_UNSIGNED_LONG_LONG, 'u'), add_type(MPI_UINT8_T, 'u');
    add_type(MPI_UINT16_T, 'u'), add_type(MPI_UINT32_T, 'u'), add_type(MPI_UINT64_T, 'u');
    add_type(MPI_FLOAT, 'f'), add_type(MPI_DOUBLE, 'f'), add_type(MPI_LONG_DOUBLE, 'f');
    add_type(MPI_C_BOOL, 'l'), add_type(MPI_BYTE, 'b');
    add_type(MPI_C_COMPLEX, 'c'), add_type(MPI_C_FLOAT_COMPLEX, 'c'), add_type(MPI_C_DOUBLE_COMPLEX, 'c');
    add_type(MPI_C_LONG_DOUBLE_COMPLEX, 'c');
    add_type(MPI_FLOAT_INT, 'p'), add_type(MPI_DOUBLE_INT, 'p'), add_type(MPI_LONG_INT, 'p');
    add_type(MPI_2INT, 'p'), add_type(MPI_SHORT_INT, 'p'), add_type(MPI_LONG_DOUBLE_INT, 'p');
    add_type(MPI_CHAR, 'n'), add_type(MPI_WCHAR, 'n'), add_type(MPI_PACKED, 'n');
}

static void add_other_types(void)
{
#define ADD(name, class) add_type(name, class);
#ifdef MPI_CXX_BOOL
    ADD(MPI_CXX_BOOL, 'l')
    ADD(MPI_CXX_FLOAT_COMPLEX, 'c') ADD(MPI_CXX_DOUBLE_COMPLEX, 'c') ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, 'c')
#endif
#ifdef MPI_INTEGER
        ADD(MPI_INTEGER, 'i') ADD(MPI_REAL, 'f') ADD(MPI_DOUBLE_PRECISION, 'f') ADD(MPI_COMPLEX, 'c')
            ADD(MPI_LOGICAL, 'l') ADD(MPI_CHARACTER, 'n') ADD(MPI_2REAL, 'p') ADD(MPI_2DOUBLE_PRECISION, 'p')
                ADD(MPI_2INTEGER, 'p')
#endif
#ifdef MPI_DOUBLE_COMPLEX
                    ADD(MPI_DOUBLE_COMPLEX, 'c')
#endif
#ifdef MPI_INTEGER1
                        ADD(MPI_INTEGER1, 'i')
#endif
#ifdef MPI_INTEGER2
                            ADD(MPI_INTEGER2, 'i')
#endif
#ifdef MPI_INTEGER4
                                ADD(MPI_INTEGER4, 'i')
#endif
#ifdef MPI_INTEGER8
                                    ADD(MPI_INTEGER8, 'i')
#endif
#ifdef MPI_INTEGER16
                                        ADD(MPI_INTEGER16, 'i')
#endif
#ifdef MPI_REAL2
                                            ADD(MPI_REAL2,
                                                'n') /* the host's own float16: moved, never combined here */
#endif
#ifdef MPI_REAL4
        ADD(MPI_REAL4, 'f')
#endif
#ifdef MPI_REAL8
            ADD(MPI_REAL8, 'f')
#endif
#ifdef MPI_REAL16
                ADD(MPI_REAL16, 'f')
#endif
#ifdef MPI_COMPLEX8
                    ADD(MPI_COMPLEX8, 'c')
#endif
#ifdef MPI_COMPLEX16
                        ADD(MPI_COMPLEX16, 'c')
#endif
#ifdef MPI_COMPLEX32
                            ADD(MPI_COMPLEX32, 'c')
#endif
#ifdef MPI_LOGICAL1
                                ADD(MPI_LOGICAL1, 'l')
#endif
#ifdef MPI_LOGICAL2
                                    ADD(MPI_LOGICAL2, 'l')
#endif
#ifdef MPI_LOGICAL4
                                        ADD(MPI_LOGICAL4, 'l')
#endif
#ifdef MPI_LOGICAL8
                                            ADD(MPI_LOGICAL8, 'l')
#endif
#undef ADD
}

void ek_types_open(void)
{
    /* To ask for a type that the library has not may be an error there: it must come back, not end the
     * program. */
    const MPI_Comm comms[2] = {ek_handles.world, ek_handles.self};
    MPI_Errhandler handlers[2];
    for (int i = 0; i < 2; i++)
        if (!ek_host.Comm_get_errhandler(comms[i], &handlers[i]))
            ek_host.Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    add_c_types();
    add_other_types();
    for (int i = 0; i < 2; i++) {
        ek_host.Comm_set_errhandler(comms[i], handlers[i]);
        ek_host.Errhandler_free(&handlers[i]);
    }
    const MPI_Op handles[EK_OPS] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
                                    MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    for (int op = 0; op < EK_OPS; op++)
        add_op(handles[op], op);
    add_op(MPI_REPLACE, -2);
    add_op(MPI_NO_OP, -2);
}

/* Is a type's map one run of bytes in ascending order? Equal size and extent do not prove it (a permutation
 * has them too), its construction does. Anything but these constructors counts as "no": it is only slower. */
static bool provably_dense(MPI_Datatype type, int depth)
{
    const ek_type *known = &types[slot_of((uintptr_t)type)];
    if (known->handle)
        return known->dense;
    int combiner;
    MPI_Datatype inner[1];
#ifdef EK_HAS_Pack_c
    MPI_Count ints, addresses, counts, inners;
    if (depth > 8 || ek_host.Type_get_envelope_c(type, &ints, &addresses, &counts, &inners, &combiner))
        return false;
    if ((combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) || inners != 1 || ints > 1 ||
        counts > 1)
        return false;
    int a_int[1];
    MPI_Aint an_address[1];
    MPI_Count a_count[1];
    if (ek_host.Type_get_contents_c(type, ints, 0, counts, 1, a_int, an_address, a_count, inner))
        return false;
    MPI_Count below_ints, below_addresses, below_counts, below_inners;
    int below;
    bool named = ek_host.Type_get_envelope_c(inner[0], &below_ints, &below_addresses, &below_counts,
                                             &below_inners, &below) ||
                 below == MPI_COMBINER_NAMED;
#else
    int ints, addresses, inners;
    if (depth > 8 || ek_host.Type_get_envelope(type, &ints, &addresses, &inners, &combiner))
        return false;
    if ((combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) || inners != 1 || ints > 1)
        return false;
    int a_int[1];
    MPI_Aint an_address[1];
    if (ek_host.Type_get_contents(type, ints, 0, 1, a_int, an_address, inner))
        return false;
    int below_ints, below_addresses, below_inners, below;
    bool named = ek_host.Type_get_envelope(inner[0], &below_ints, &below_addresses, &below_inners, &below) ||
                 below == MPI_COMBINER_NAMED;
#endif
    bool dense = provably_dense(inner[0], depth + 1);
    if (!named)
        ek_host.Type_free(&inner[0]);
    return dense;
}

const ek_type *ek_type_of(MPI_Datatype type, ek_type *scratch)
{
    uintptr_t key = (uintptr_t)type;
    const ek_type *known = &types[ek_hash(key, TYPE_BITS)];
    if (EK_LIKELY(known->handle == key && key))
        return known;
    if (!key || type == ek_handles.type_null)
        return NULL;
    known = &types[slot_of(key)];
    if (known->handle)
        return known;
    MPI_Count lb;
    memset(scratch, 0, sizeof *scratch);
    if (ek_host.Type_size_x(type, &scratch->size) || ek_host.Type_get_extent_x(type, &lb, &scratch->extent) ||
        scratch->size < 0)
        return NULL;
    scratch->handle = key;
    scratch->dense =
        lb == 0 && scratch->size == scratch->extent && scratch->size > 0 && provably_dense(type, 0);
    return scratch;
}
