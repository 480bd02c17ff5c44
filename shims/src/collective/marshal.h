/* Marshalling: an MPI collective becomes an ek_call, in two steps.
 *
 * To describe a call is to say what all ranks know alike (bytes, spans, how to combine), so that the engine
 * can accept or decline it. To materialize it is to make its data contiguous: to pack what is sent, and to
 * allocate what is received into. Contiguous data need no memory and are materialized at once; for others the
 * engine calls back when it has accepted the call. */
#ifndef EK_COLLECTIVE_MARSHAL_H
#define EK_COLLECTIVE_MARSHAL_H
#include "collective/arguments.h"
#include "evenkeel.h"
#include "host/datatype.h"
#include "host/reduce_local.h"
#include "process/communicator.h"

/* Bytes to be unpacked when the call is complete. */
typedef struct ek_unpacking {
    const char *bytes;
    void *elements;
    MPI_Count count;
    ek_layout layout;
} ek_unpacking;

/* One rank's blocks for, or from, all ranks: as the program describes them. */
typedef struct ek_blocks {
    const void *buffer, *counts, *displacements;
    const MPI_Datatype *types; /* one per rank, with displacements in bytes; NULL: `type`, and in extents */
    MPI_Datatype type;
    bool large_counts;
    /* Found out from these: */
    char *base;      /* what spans are relative to: the buffer, or if that is MPI_BOTTOM the first block */
    bool contiguous; /* no block needs packing */
    size_t bytes;    /* of all blocks */
} ek_blocks;

enum { EK_FEW_RANKS = 16, EK_MOST_ALLOCATIONS = 6 };

typedef struct ek_marshal ek_marshal;

/* A step of marshalling: MPI_SUCCESS, EK_DECLINED, or an MPI error code. */
typedef int ek_marshal_step(ek_marshal *);

struct ek_marshal {
    ek_call call;
    ek_comm_entry *entry;
    const ek_arguments *arguments; /* until the engine has the call */
    ek_marshal_step *materialize;  /* NULL: the data are there */
    int failure;                   /* what the step has returned */
    ek_elements sent, received;    /* of one block */
    ek_blocks sent_blocks, received_blocks;
    ek_host_operator host_operator;
    /* Set up by the steps: */
    ek_span *spans; /* few_spans, or allocated */
    ek_span few_spans[2 * EK_FEW_RANKS];
    ek_unpacking *unpackings, one_unpacking; /* &one_unpacking, or allocated */
    int unpackings_used;
    void *allocations[EK_MOST_ALLOCATIONS];
    int allocations_used;
};

void ek_marshal_begin(ek_marshal *, ek_comm_entry *, const ek_arguments *);

/* When the call is complete: unpacks what was received, and frees what was allocated. */
void ek_marshal_end(ek_marshal *);

/* When there is nothing to unpack: the call was declined, or ended without a result. */
void ek_marshal_discard(ek_marshal *);

/* The last step of describing a call: `step` is taken now if the data are contiguous, else when the engine
 * asks for it. */
int ek_marshal_data(ek_marshal *, bool contiguous, ek_marshal_step *step);

/* Takes the step that is left, if any. Nonzero: it failed, and `failure` says how. */
int ek_marshal_materialize(ek_marshal *);

/* ---- for the steps ---- */

/* Memory that is freed at the end; NULL: there is none. */
void *ek_marshal_allocate(ek_marshal *, size_t bytes);

/* Where the bytes of the program's elements are: in its buffer, or packed, into `place` if that is given. */
int ek_marshal_send(ek_marshal *, const ek_elements *, const void *buffer, MPI_Count count, char *place,
                    const uint8_t **bytes);

/* Where bytes for the program may be put: in its buffer, or in memory that is unpacked at the end. */
int ek_marshal_receive(ek_marshal *, const ek_elements *, void *buffer, MPI_Count count, uint8_t **bytes);

/* These bytes are to be unpacked at the end. */
void ek_marshal_unpack_later(ek_marshal *, const ek_elements *, void *buffer, MPI_Count count,
                             const void *bytes);

#endif
