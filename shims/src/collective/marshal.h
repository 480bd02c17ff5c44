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
    bool laid_out; /* they lie there as in the program's memory, holes among them */
    void *elements;
    MPI_Count count;
    ek_layout layout;
} ek_unpacking;

/* One rank's blocks for, or from, all ranks: as the program describes them. */
typedef struct ek_blocks {
    const void *buffer, *counts, *displacements;
    const MPI_Datatype *types; /* one per rank, displacements are in bytes; NULL: all are `type`,
                                  displacements are in extents */
    MPI_Datatype type;
    bool large_counts;
    /* Found out from these: */
    char *base;      /* what spans are relative to: the buffer, or if that is MPI_BOTTOM the first block */
    bool contiguous; /* no block needs packing */
    size_t bytes;    /* of all blocks */
} ek_blocks;

enum { EK_FEW_RANKS = 16, EK_MOST_ALLOCATIONS = 6 };

typedef struct ek_marshal ek_marshal;

/* A step of marshalling. It returns MPI_SUCCESS, EK_DECLINED or an MPI error code. One that the engine calls
 * back must not decline because of what this rank alone knows: the others are in the call. */
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

/* Ends a call that is complete: unpacks what was received and frees what was allocated. Returns MPI_SUCCESS
 * or MPI_ERR_TYPE. */
int ek_marshal_end(ek_marshal *);

/* Ends a call that was declined or has no result: frees what was allocated. */
void ek_marshal_discard(ek_marshal *);

/* The last thing in describing a call. Takes the step that materializes it, now if the data are contiguous,
 * else when the engine calls back. Returns what the step returns. */
int ek_marshal_data(ek_marshal *, bool contiguous, ek_marshal_step *step);

/* Takes that step if it is still to be taken. Returns what the step returns, and keeps it in `failure`. */
int ek_marshal_materialize(ek_marshal *);

/* ---- for the steps ---- */

/* Allocates memory that is freed when the call ends; NULL if there is none. */
void *ek_marshal_allocate(ek_marshal *, size_t bytes);

/* Finds the bytes of elements that are sent: in the program's buffer, or packed, into `place` if that is not
 * NULL. */
int ek_marshal_send(ek_marshal *, const ek_elements *, const void *buffer, MPI_Count count, char *place,
                    const uint8_t **bytes);

/* Finds a place for elements that are received: the program's buffer, or memory that is unpacked when the
 * call ends. */
int ek_marshal_receive(ek_marshal *, const ek_elements *, void *buffer, MPI_Count count, uint8_t **bytes);

/* Has these bytes unpacked when the call ends. */
void ek_marshal_unpack_later(ek_marshal *, const ek_elements *, void *buffer, MPI_Count count,
                             const void *bytes);

#endif
