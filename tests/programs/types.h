/* Every predefined datatype and operator, with a serial oracle.
 *
 * The oracle keeps an element as its `value`, a pair of small integers. `encode` writes it as its datatype
 * stores it. Values are chosen so that every result is exact in every type. So results depend on the order in
 * which a library combines only for operators that do not commute, and there the order is what is tested. */
#ifndef EVENKEEL_TESTS_TYPES_H
#define EVENKEEL_TESTS_TYPES_H
#include "check.h"
#include <float.h>

typedef struct value {
    int64_t a, b;
} value; /* complex number: a + ib; pair: a with index b; affine map: x -> ax + b */

enum family {
    SIGNED = 1,
    UNSIGNED = 2,
    REAL = 4,
    COMPLEX = 8,
    LOGICAL = 16,
    BYTES = 32,
    PAIR = 64,
    AFFINE = 128,
    MOVED = 256
};
enum storage { INTEGER, FLOAT, X87, QUAD, OF_LONG_DOUBLE = LDBL_MANT_DIG == 113 ? QUAD : X87 };

typedef struct type {
    const char *name;
    MPI_Datatype mpi;
    int family;
    int storage, bytes;   /* of the first part, and of both parts of a complex number */
    int storage2, bytes2; /* of the second part */
    int offset2, extent;
    unsigned char mask[32]; /* 255 where a byte of the extent is data (or must stay as it was) */
} type;

typedef struct operation {
    const char *name;
    MPI_Op mpi;
    int families;
} operation;

enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, COMPOSE, MODADD, OPERATIONS };
enum { PRIME = 65521, TYPES_MAX = 80 };

static type types[TYPES_MAX];
static int types_count;
static operation operations[OPERATIONS];

#if LDBL_MANT_DIG == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

static void store(unsigned char *at, int storage, int bytes, int64_t v)
{
    if (storage == INTEGER) {
        memcpy(at, &v, (size_t)(bytes < 8 ? bytes : 8));
        if (bytes == 16)
            memset(at + 8, v < 0 ? 255 : 0, 8);
    } else if (storage == X87) {
        long double x = v;
        memcpy(at, &x, 10);
    } else if (storage == QUAD) {
        quad x = v;
        memcpy(at, &x, 16);
    } else if (bytes == 4) {
        float x = (float)v;
        memcpy(at, &x, 4);
    } else {
        double x = (double)v;
        memcpy(at, &x, 8);
    }
}

static void encode(const type *t, value v, unsigned char *at)
{
    store(at, t->storage, t->bytes, v.a);
    if (t->bytes2)
        store(at + t->offset2, t->storage2, t->bytes2, v.b);
}

/* Products of complex numbers may be -0 or 0, depending on how ranks are grouped: makes them 0. */
static void clear_negative_zeros(const type *t, unsigned char *at, size_t count)
{
    if (t->family != COMPLEX)
        return;
    for (size_t i = 0; i < 2 * count; i++, at += t->bytes) {
        int zero = 1;
        for (int b = 0; b < (t->storage == X87 ? 10 : t->bytes); b++)
            zero &= (at[b] & (b == (t->storage == X87 ? 9 : t->bytes - 1) ? 0x7f : 0xff)) == 0;
        if (zero)
            at[t->storage == X87 ? 9 : t->bytes - 1] = 0;
    }
}

/* Can the host library send this type? Some libraries name types that they then refuse. */
static int host_can_send(MPI_Datatype mpi)
{
    char out[64] = {1}, in[64] = {0};
    return MPI_Sendrecv(out, 1, mpi, 0, 1, in, 1, mpi, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS &&
           in[0] == 1;
}

static type *add(const char *name, MPI_Datatype mpi, int family, int storage, int bytes)
{
    int size;
    if (mpi == MPI_DATATYPE_NULL || types_count == TYPES_MAX)
        return NULL;
    if (MPI_Type_size(mpi, &size) != MPI_SUCCESS || size == 0 || !host_can_send(mpi))
        return NULL;
    type *t = &types[types_count++];
    memset(t, 0, sizeof *t);
    t->name = name, t->mpi = mpi, t->family = family, t->storage = storage;
    t->bytes = t->extent = bytes ? bytes : size;
    memset(t->mask, 255, (size_t)t->extent);
    if (storage == X87)
        memset(t->mask + 10, 0, 6);
    return t;
}

static void add_two(const char *name, MPI_Datatype mpi, int family, int storage, int bytes, int storage2,
                    int bytes2, int offset2, int extent)
{
    type *t = add(name, mpi, family, storage, bytes);
    if (!t)
        return;
    t->storage2 = storage2, t->bytes2 = bytes2, t->offset2 = offset2, t->extent = extent;
    memset(t->mask, 0, sizeof t->mask);
    memset(t->mask, 255, storage == X87 ? 10 : (size_t)bytes);
    memset(t->mask + offset2, 255, storage2 == X87 ? 10 : (size_t)bytes2);
}

/* ---- user-defined operations ---- */

static MPI_Datatype with_holes; /* two uint32 with a hole between and one behind them */
static int user_calls;

static value compose(value f, value g) { return (value){f.a * g.a % PRIME, (f.a * g.b + f.b) % PRIME}; }

static void user_compose(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    unsigned char *x = in, *y = inout;
    int extent = *datatype == with_holes ? 16 : 8, second = *datatype == with_holes ? 8 : 4;
    user_calls++;
    for (int i = 0; i < *count; i++, x += extent, y += extent) {
        uint32_t f[2], g[2];
        memcpy(&f[0], x, 4), memcpy(&f[1], x + second, 4);
        memcpy(&g[0], y, 4), memcpy(&g[1], y + second, 4);
        value h = compose((value){f[0], f[1]}, (value){g[0], g[1]});
        g[0] = (uint32_t)h.a, g[1] = (uint32_t)h.b;
        memcpy(y, &g[0], 4), memcpy(y + second, &g[1], 4);
    }
}

static void user_modadd(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    user_calls++;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = (((int *)in)[i] + ((int *)inout)[i]) % 101;
}

/* ---- the oracle ---- */

static value combine(int op, const type *t, value x, value y)
{
    switch (op) {
    case SUM: return (value){x.a + y.a, x.b + y.b};
    case PROD:
        if (t->family == COMPLEX)
            return (value){x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a};
        return (value){x.a * y.a, 0};
    case MAX: return x.a > y.a ? x : y;
    case MIN: return x.a < y.a ? x : y;
    case BAND: return (value){x.a & y.a, 0};
    case BOR: return (value){x.a | y.a, 0};
    case BXOR: return (value){x.a ^ y.a, 0};
    case LAND: return (value){x.a && y.a, 0};
    case LOR: return (value){x.a || y.a, 0};
    case LXOR: return (value){!x.a != !y.a, 0};
    case MINLOC: return x.a < y.a || (x.a == y.a && x.b < y.b) ? x : y;
    case MAXLOC: return x.a > y.a || (x.a == y.a && x.b < y.b) ? x : y;
    case COMPOSE: return compose(x, y);
    default: return (value){(x.a + y.a) % 101, 0};
    }
}

/* Element `i` of what `rank` of `ranks` contributes. */
static value generate(int op, const type *t, uint64_t seed, int rank, int ranks, uint64_t i)
{
    uint64_t h = mix3(seed, (uint64_t)rank, i);
    int64_t small = (int64_t)(h % 7) - 3, other = (int64_t)(h / 7 % 7) - 3;
    if (t->family == AFFINE || op == COMPOSE)
        return (value){(int64_t)(h % (PRIME - 1)) + 1, (int64_t)(h >> 20) % PRIME};
    if (t->family == UNSIGNED || t->family == BYTES)
        small = (int64_t)(h % 4);
    switch (op) {
    case SUM: return (value){small, t->family == COMPLEX ? other : 0};
    case PROD: { /* units, and one 2 among all ranks: every result fits into the smallest type */
        int64_t two = (uint64_t)rank == mix(seed ^ i) % (uint64_t)ranks ? 2 : 1,
                sign = h & 1 && t->family != UNSIGNED ? -1 : 1;
        if (t->family == COMPLEX)
            return h & 2 ? (value){two * sign, 0} : (value){0, two * sign};
        return (value){two * sign, 0};
    }
    case MAX:
    case MIN: return (value){t->family == UNSIGNED ? (int64_t)(h % 201) : (int64_t)(h % 201) - 100, 0};
    case BAND:
    case BOR:
    case BXOR: return (value){(int64_t)h, 0};
    case LAND: return (value){h % (uint64_t)(2 * ranks) != 0 ? 1 : 0, 0};
    case LOR: return (value){h % (uint64_t)(2 * ranks) == 0 ? 1 : 0, 0};
    case LXOR: return (value){(int64_t)(h & 1) * (t->family == LOGICAL ? 1 : 1 + (int64_t)(h >> 8) % 5), 0};
    case MINLOC:
    case MAXLOC: return (value){(int64_t)(h % 5), (int64_t)(h / 8 % 61)};
    case MODADD: return (value){(int64_t)(h % 101), 0};
    default:
        return t->family == LOGICAL ? (value){(int64_t)(h & 1), 0}
                                    : (value){(int64_t)(h % 120), (int64_t)(h / 256 % 120)};
    }
}

/* Does the host library's own MPI_Reduce_local support the operator for this type, and is its result right?
 */
static int host_reduces_correctly(int op, const type *t)
{
    enum { N = 24 };
    unsigned char in[N * 32] = {0}, inout[N * 32] = {0}, expected[N * 32] = {0};
    for (int i = 0; i < N; i++) {
        value x = generate(op, t, 7, 0, 2, (uint64_t)i), y = generate(op, t, 7, 1, 2, (uint64_t)i);
        encode(t, x, in + i * t->extent);
        encode(t, y, inout + i * t->extent);
        encode(t, combine(op, t, x, y), expected + i * t->extent);
    }
    if (MPI_Reduce_local(in, inout, N, t->mpi, operations[op].mpi) != MPI_SUCCESS)
        return 0;
    clear_negative_zeros(t, inout, N);
    for (int i = 0; i < N * t->extent; i++)
        if ((inout[i] ^ expected[i]) & t->mask[i % t->extent])
            return 0;
    return 1;
}

#define ADD(T, F, S) add(#T, T, F, S, 0)
#define ADD_COMPLEX(T, S, B) add_two(#T, T, COMPLEX, S, B, S, B, B, 2 * B)

static void add_c_types(void)
{
    ADD(MPI_SIGNED_CHAR, SIGNED, INTEGER);
    ADD(MPI_SHORT, SIGNED, INTEGER);
    ADD(MPI_INT, SIGNED, INTEGER);
    ADD(MPI_LONG, SIGNED, INTEGER);
    ADD(MPI_LONG_LONG, SIGNED, INTEGER);
    ADD(MPI_UNSIGNED_CHAR, UNSIGNED, INTEGER);
    ADD(MPI_UNSIGNED_SHORT, UNSIGNED, INTEGER);
    ADD(MPI_UNSIGNED, UNSIGNED, INTEGER);
    ADD(MPI_UNSIGNED_LONG, UNSIGNED, INTEGER);
    ADD(MPI_UNSIGNED_LONG_LONG, UNSIGNED, INTEGER);
    ADD(MPI_INT8_T, SIGNED, INTEGER);
    ADD(MPI_INT16_T, SIGNED, INTEGER);
    ADD(MPI_INT32_T, SIGNED, INTEGER);
    ADD(MPI_INT64_T, SIGNED, INTEGER);
    ADD(MPI_UINT8_T, UNSIGNED, INTEGER);
    ADD(MPI_UINT16_T, UNSIGNED, INTEGER);
    ADD(MPI_UINT32_T, UNSIGNED, INTEGER);
    ADD(MPI_UINT64_T, UNSIGNED, INTEGER);
    ADD(MPI_AINT, SIGNED, INTEGER);
    ADD(MPI_OFFSET, SIGNED, INTEGER);
    ADD(MPI_COUNT, SIGNED, INTEGER);
    ADD(MPI_FLOAT, REAL, FLOAT);
    ADD(MPI_DOUBLE, REAL, FLOAT);
    ADD(MPI_LONG_DOUBLE, REAL, OF_LONG_DOUBLE);
    ADD(MPI_C_BOOL, LOGICAL, INTEGER);
    ADD(MPI_CXX_BOOL, LOGICAL, INTEGER);
    ADD(MPI_BYTE, BYTES, INTEGER);
    ADD(MPI_CHAR, MOVED, INTEGER);
    ADD(MPI_WCHAR, MOVED, INTEGER);
}

static void add_complex_types_and_pairs(void)
{
    ADD_COMPLEX(MPI_C_FLOAT_COMPLEX, FLOAT, 4);
    ADD_COMPLEX(MPI_C_DOUBLE_COMPLEX, FLOAT, 8);
    ADD_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, OF_LONG_DOUBLE, 16);
    ADD_COMPLEX(MPI_CXX_FLOAT_COMPLEX, FLOAT, 4);
    ADD_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, FLOAT, 8);
    ADD_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, OF_LONG_DOUBLE, 16);
    add_two("MPI_FLOAT_INT", MPI_FLOAT_INT, PAIR, FLOAT, 4, INTEGER, 4, 4, 8);
    add_two("MPI_DOUBLE_INT", MPI_DOUBLE_INT, PAIR, FLOAT, 8, INTEGER, 4, 8, 16);
    add_two("MPI_LONG_INT", MPI_LONG_INT, PAIR, INTEGER, 8, INTEGER, 4, 8, 16);
    add_two("MPI_SHORT_INT", MPI_SHORT_INT, PAIR, INTEGER, 2, INTEGER, 4, 4, 8);
    add_two("MPI_2INT", MPI_2INT, PAIR, INTEGER, 4, INTEGER, 4, 4, 8);
    add_two("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, PAIR, OF_LONG_DOUBLE, 16, INTEGER, 4, 16, 32);
}

/* MPI_DATATYPE_NULL in a library built without Fortran: `add` leaves those out. */
static void add_fortran_types(void)
{
    ADD(MPI_INTEGER, SIGNED, INTEGER);
    ADD(MPI_REAL, REAL, FLOAT);
    ADD(MPI_DOUBLE_PRECISION, REAL, FLOAT);
    ADD(MPI_LOGICAL, LOGICAL, INTEGER);
    ADD(MPI_CHARACTER, MOVED, INTEGER);
    ADD_COMPLEX(MPI_COMPLEX, FLOAT, 4);
    ADD_COMPLEX(MPI_DOUBLE_COMPLEX, FLOAT, 8);
    add_two("MPI_2REAL", MPI_2REAL, PAIR, FLOAT, 4, FLOAT, 4, 4, 8);
    add_two("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, PAIR, FLOAT, 8, FLOAT, 8, 8, 16);
    add_two("MPI_2INTEGER", MPI_2INTEGER, PAIR, INTEGER, 4, INTEGER, 4, 4, 8);
    ADD(MPI_INTEGER1, SIGNED, INTEGER);
    ADD(MPI_INTEGER2, SIGNED, INTEGER);
    ADD(MPI_INTEGER4, SIGNED, INTEGER);
    ADD(MPI_INTEGER8, SIGNED, INTEGER);
    ADD(MPI_REAL4, REAL, FLOAT);
    ADD(MPI_REAL8, REAL, FLOAT);
#ifdef MPI_REAL16
    ADD(MPI_REAL16, REAL, QUAD);
#endif
    ADD_COMPLEX(MPI_COMPLEX8, FLOAT, 4);
    ADD_COMPLEX(MPI_COMPLEX16, FLOAT, 8);
#ifdef MPI_COMPLEX32
    ADD_COMPLEX(MPI_COMPLEX32, QUAD, 16);
#endif
}

/* Two numbers of 32 bits for the operator that composes maps: with holes, and without. */
static void add_types_of_maps(void)
{
    int lengths[2] = {1, 1};
    MPI_Aint offsets[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_UINT32_T, MPI_UINT32_T}, tight;
    MPI_Type_create_struct(2, lengths, offsets, parts, &tight);
    MPI_Type_create_resized(tight, 0, 16, &with_holes);
    MPI_Type_commit(&with_holes);
    MPI_Type_free(&tight);
    add_two("map with holes", with_holes, AFFINE, INTEGER, 4, INTEGER, 4, 8, 16);
    memset(types[types_count - 1].mask, 255, 16); /* the holes must stay as they were */
    add_two("packed map", MPI_UNSIGNED_LONG_LONG, AFFINE, INTEGER, 4, INTEGER, 4, 4, 8);
}

static void make_types(void)
{
    add_c_types();
    add_complex_types_and_pairs();
    add_fortran_types();
    add_types_of_maps();
}

static void make_operations(void)
{
    const int integers = SIGNED | UNSIGNED;
    operations[SUM] = (operation){"sum", MPI_SUM, integers | REAL | COMPLEX};
    operations[PROD] = (operation){"prod", MPI_PROD, integers | REAL | COMPLEX};
    operations[MAX] = (operation){"max", MPI_MAX, integers | REAL};
    operations[MIN] = (operation){"min", MPI_MIN, integers | REAL};
    operations[BAND] = (operation){"band", MPI_BAND, integers | BYTES};
    operations[BOR] = (operation){"bor", MPI_BOR, integers | BYTES};
    operations[BXOR] = (operation){"bxor", MPI_BXOR, integers | BYTES};
    operations[LAND] = (operation){"land", MPI_LAND, integers | LOGICAL};
    operations[LOR] = (operation){"lor", MPI_LOR, integers | LOGICAL};
    operations[LXOR] = (operation){"lxor", MPI_LXOR, integers | LOGICAL};
    operations[MINLOC] = (operation){"minloc", MPI_MINLOC, PAIR};
    operations[MAXLOC] = (operation){"maxloc", MPI_MAXLOC, PAIR};
    operations[COMPOSE] = (operation){"compose", MPI_OP_NULL, AFFINE};
    operations[MODADD] = (operation){"modadd", MPI_OP_NULL, SIGNED};
    MPI_Op_create(user_compose, 0, &operations[COMPOSE].mpi);
    MPI_Op_create(user_modadd, 1, &operations[MODADD].mpi);
}
#endif
