/* Derived datatypes of MPI_INT whose layout in memory the program itself knows. */
#ifndef EVENKEEL_TESTS_LAYOUTS_H
#define EVENKEEL_TESTS_LAYOUTS_H
#include "check.h"

/* One instance holds `per` ints; int j of instance i lies at i * extent + offset[j]. */
typedef struct layout {
    MPI_Datatype type;
    int per, is_predefined;
    MPI_Aint extent, offset[6];
} layout;

enum { LAYOUTS = 9, UNIT = 12 /* every layout's `per` divides it */, MARGIN = 256 };

/* Three pairs, with a hole after each. */
static void make_pairs(layout *l)
{
    MPI_Datatype inner;
    MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 48, &l->type);
    MPI_Type_free(&inner);
    l->per = 6, l->extent = 48;
    for (int i = 0; i < 6; i++)
        l->offset[i] = i / 2 * 16 + i % 2 * 4;
}

/* A structure whose lower bound is above zero. */
static void make_structure(layout *l)
{
    int lengths[2] = {1, 2};
    MPI_Aint bytes[2] = {4, 12};
    MPI_Datatype inner, ints[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, bytes, ints, &inner);
    MPI_Type_dup(inner, &l->type);
    MPI_Type_free(&inner);
    l->per = 3, l->extent = 16, l->offset[0] = 4, l->offset[1] = 12, l->offset[2] = 16;
}

/* A 2 x 2 patch of a 3 x 4 array. */
static void make_patch(layout *l)
{
    int sizes[2] = {3, 4}, patch[2] = {2, 2}, starts[2] = {1, 1};
    MPI_Type_create_subarray(2, sizes, patch, starts, MPI_ORDER_C, MPI_INT, &l->type);
    l->per = 4, l->extent = 48, l->offset[0] = 20, l->offset[1] = 24, l->offset[2] = 36, l->offset[3] = 40;
}

static layout make_layout(int which)
{
    layout l = {.per = 1, .extent = 4};
    int lengths[2] = {1, 2}, places[2] = {4, 0};
    MPI_Aint bytes[2] = {-8, 4};
    switch (which) {
    case 0: l.type = MPI_INT, l.is_predefined = 1; return l;
    case 1: /* contiguous */
        MPI_Type_contiguous(3, MPI_INT, &l.type);
        l.per = 3, l.extent = 12, l.offset[1] = 4, l.offset[2] = 8;
        break;
    case 2: /* every third int */
        MPI_Type_vector(2, 1, 3, MPI_INT, &l.type);
        l.per = 2, l.extent = 16, l.offset[1] = 12;
        break;
    case 3: make_pairs(&l); break;
    case 4: /* the first int comes last in memory */
        MPI_Type_indexed(2, lengths, places, MPI_INT, &l.type);
        l.per = 3, l.extent = 20, l.offset[0] = 16, l.offset[1] = 0, l.offset[2] = 4;
        break;
    case 5: /* the lower bound is below zero */
        MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &l.type);
        l.per = 2, l.extent = 16, l.offset[0] = -8, l.offset[1] = 4;
        break;
    case 6: /* the lower bound is set below the data, the upper bound above */
        MPI_Type_create_resized(MPI_INT, -4, 12, &l.type);
        l.extent = 12;
        break;
    case 7: make_structure(&l); break;
    default: make_patch(&l);
    }
    MPI_Type_commit(&l.type);
    return l;
}

static void free_layout(layout *l)
{
    if (!l->is_predefined)
        MPI_Type_free(&l->type);
}

static int content(uint64_t step, int src, int dst, int k)
{
    return (int)(mix3(step, (uint64_t)(src * 64 + dst), (uint64_t)k) >> 33);
}

/* Writes the n ints that `src` sends to `dst` in `step`. */
static void write_ints(unsigned char *at, const layout *l, int n, uint64_t step, int src, int dst)
{
    for (int k = 0; k < n; k++) {
        int v = content(step, src, dst, k % 1009);
        memcpy(at + k / l->per * l->extent + l->offset[k % l->per], &v, 4);
    }
}
#endif
