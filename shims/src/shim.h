/* What the shim's files share. The shim stands between a program and its MPI library ("the host"): it knows
 * MPI and evenkeel.h, nothing of segments or waiting. It may call the host only through ek_host (PMPI
 * functions found at run time, see host.c), never by name: a program may load its MPI library late and
 * privately, as Python does. */
#ifndef EVENKEEL_SHIM_H
#define EVENKEEL_SHIM_H
#include "declared.h" /* generated: EK_HAS_X for every PMPI_X that the host's mpi.h declares */
#include EK_MPI_H

#include "evenkeel.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EK_LIKELY(x) __builtin_expect(!!(x), 1)
#define EK_UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef OMPI_PREDEFINED_GLOBAL
/* Open MPI's handles are addresses of variables in its library. A reference by name would have to be resolved
 * when the shim is loaded, when there may be no library yet. So MPI_INT and its like are looked up, and not
 * for use in hot paths. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)ek_host_object(#global))
#endif

/* ---- host.c: the host library ---- */

/* The functions of the host that the shim itself uses, as ek_host.Comm_rank(…). */
#define EK_HOST_FUNCTIONS(X)                                                                                 \
    X(Allgather)                                                                                             \
    X(Allgatherv) X(Bcast) X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_dup) X(Comm_free)            \
        X(Comm_free_keyval) X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_group) X(Comm_rank)               \
            X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) X(Comm_test_inter) X(Errhandler_free)       \
                X(Gather) X(Gatherv) X(Get_library_version) X(Grequest_complete) X(Grequest_start)           \
                    X(Group_free) X(Group_translate_ranks) X(Improbe) X(Imrecv) X(Iprobe) X(Irecv) X(Irsend) \
                        X(Isend) X(Issend) X(Mrecv) X(Op_free) X(Pack) X(Query_thread) X(Recv_init)          \
                            X(Reduce_local) X(Request_free) X(Request_get_status) X(Start)                   \
                                X(Status_set_cancelled) X(Status_set_elements) X(Status_set_elements_x)      \
                                    X(Type_dup) X(Test) X(Testall) X(Testany) X(Testsome) X(Type_commit)     \
                                        X(Type_create_hindexed) X(Type_free) X(Type_get_extent_x)            \
                                            X(Type_get_true_extent_x) X(Type_size_x) X(Unpack)
#ifdef EK_HAS_Pack_c
#define EK_HOST_LARGE(X)                                                                             \
    X(Imrecv_c)                                                                                      \
    X(Irecv_c) X(Irsend_c) X(Isend_c) X(Issend_c) X(Pack_c) X(Reduce_local_c) X(Type_get_contents_c) \
        X(Type_get_envelope_c) X(Unpack_c)
#else
#define EK_HOST_LARGE(X) X(Type_get_contents) X(Type_get_envelope)
#endif

struct ek_host {
#define EK_MEMBER(name) __typeof__(PMPI_##name) *name;
    EK_HOST_FUNCTIONS(EK_MEMBER)
    EK_HOST_LARGE(EK_MEMBER)
#undef EK_MEMBER
};
extern struct ek_host ek_host;

/* Handles that hot paths compare with. */
struct ek_handles {
    MPI_Comm world, self, comm_null;
    MPI_Datatype type_null, byte;
    MPI_Op op_null;
    MPI_Request request_null;
};
extern struct ek_handles ek_handles;

void ek_resolve(void); /* finds the host; cheap when it has been found */
void ek_missing(const char *name) __attribute__((noreturn));
void *ek_host_function(const char *name); /* next definition after the shim's */
void *ek_host_object(const char *name);
void ek_resolve_wrapped(void); /* generated: points every wrapper at the next definition */

/* ---- world.c: where this process stands ---- */

extern int ek_active; /* between MPI_Init and MPI_Finalize, evenkeel not switched off */
/* > 0: this thread is inside the host; what arrives here then comes from the host, or a tool below, and goes
 * back. */
extern _Thread_local int ek_depth __attribute__((tls_model("initial-exec")));
extern _Atomic int ek_outstanding; /* nonblocking operations of ours that are not complete */

void ek_opened(void);
void ek_closing(void);
void ek_host_progress(void);

/* Set by every collective that we carried out. The host's would have taken in what has arrived; programs rely
 * on that (send, barrier, then probe until nothing is found). So the first look afterwards that finds nothing
 * looks again. */
extern _Atomic int ek_ran;
static inline void ek_note_ran(void) { atomic_store_explicit(&ek_ran, 1, memory_order_relaxed); }
/* How often to look again. */
static inline int ek_behind(void)
{
    if (EK_LIKELY(!atomic_load_explicit(&ek_ran, memory_order_relaxed)) || ek_depth)
        return 0;
    atomic_store_explicit(&ek_ran, 0, memory_order_relaxed);
    return 4;
}

static inline bool ek_mine(void) { return EK_LIKELY(ek_active) && EK_LIKELY(ek_depth == 0); }

extern int ek_messages; /* point-to-point messages are evenkeel's, see message.h */

/* Whether something of ours is under way that others may be waiting for: operations, or messages. */
static inline bool ek_under_way(void)
{
    return EK_UNLIKELY(ek_outstanding > 0) || (EK_UNLIKELY(ek_messages) && ek_messages_incomplete());
}

/* A stay inside the host. `ek_stay stay EK_STAY = ek_enter(1)`; ends with the block, also by a C++ exception.
 */
typedef struct ek_stay {
    void *escort;
} ek_stay;
void *ek_escort_begin(void);
void ek_escort_end(void *);
static inline ek_stay ek_enter(int blocking)
{
    ek_stay stay = {NULL};
    if (blocking && ek_depth == 0 && ek_under_way())
        stay.escort = ek_escort_begin();
    ek_depth++;
    return stay;
}
static inline void ek_return(ek_stay *stay)
{
    ek_depth--;
    if (EK_UNLIKELY(stay->escort != NULL))
        ek_escort_end(stay->escort);
}
#define EK_STAY __attribute__((cleanup(ek_return)))

/* > 0: this thread is in a call whose new communicator will be adopted. Some hosts (Open MPI's
 * MPI_Comm_create_group) copy the parent's attributes to it, on its members only: that must not count as a
 * duplicate. */
extern _Thread_local int ek_creating __attribute__((tls_model("initial-exec")));
static inline void ek_created(int *unused) { (void)unused, ek_creating--; }
#define EK_CREATING __attribute__((cleanup(ek_created)))

/* ---- gate.c, channels.c: deferred barriers ---- */

extern int ek_defers; /* barriers may be deferred in this process, and what observes them is looked out for */
extern uint8_t ek_gate_closed; /* what a closed gate shows: 1, but for --gate off */
extern int ek_host_requests;   /* nonblocking operations of the host that are not complete, about */

void ek_gate_open_world(void);
void ek_gate_close_world(void);
bool ek_gate_owns(int signal);
struct sigaction;
int ek_gate_sigaction(const struct sigaction *, struct sigaction *old);
void ek_channels_forbid(void); /* tells the engine of the channels there are already */
void ek_window_made(void);
void ek_window_freed(void);
void ek_observe_wtime(void);
bool ek_handles_faults(void); /* revoke.c */

/* The gate is closed only while the program itself runs: then a wrapper has been called by the program. */
#define EK_OBSERVE(name)          \
    do {                          \
        if (EK_UNLIKELY(ek_gate)) \
            ek_observed(name, 0); \
    } while (0)

/* Into the host with barriers pending, for what is no observation. */
static inline uint8_t ek_gate_pass(void)
{
    uint8_t was = ek_gate;
    if (EK_UNLIKELY(was))
        ek_gate = 0;
    return was;
}
static inline void ek_gate_back(uint8_t *was)
{
    if (EK_UNLIKELY(*was) && ek_deferred)
        ek_gate = *was;
}
#define EK_PASS uint8_t gate __attribute__((cleanup(ek_gate_back), unused)) = ek_gate_pass()

/* After the engine has been called for the program. */
static inline void ek_gate_settle(void) { ek_gate = ek_deferred ? ek_gate_closed : 0; }

/* How many of these requests may still become complete. */
static inline int ek_live(int count, const MPI_Request *requests)
{
    int live = 0;
    for (int i = 0; ek_defers && i < count; i++)
        live += requests[i] != ek_handles.request_null;
    return live;
}
static inline void ek_completed(int count)
{
    if (ek_defers)
        ek_host_requests = ek_host_requests > count ? ek_host_requests - count : 0;
}

/* ---- comm.c: which communicators evenkeel knows ---- */

typedef struct ek_entry {
    _Atomic uintptr_t handle; /* the MPI_Comm, once seen */
    ek_comm *ek;              /* NULL: the host's without a word (one member) */
    int size, rank;
    int *members;
    int pending; /* nonblocking operations under way, under the lock of request.c */
    bool doomed; /* freed while operations were under way */
    struct ek_entry *next_free;
} ek_entry;

#define EK_SLOTS 1024
extern _Atomic(ek_entry *) ek_slots[EK_SLOTS];

static inline size_t ek_hash(uintptr_t key, unsigned bits)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

ek_entry *ek_find_slowly(MPI_Comm);
/* NULL: not known. Entries are never given back to the allocator, so a stale one may be looked at. */
static inline ek_entry *ek_find(MPI_Comm comm)
{
    uintptr_t key = (uintptr_t)comm;
    ek_entry *e = atomic_load_explicit(&ek_slots[ek_hash(key, 10)], memory_order_acquire);
    if (EK_LIKELY(e && atomic_load_explicit(&e->handle, memory_order_relaxed) == key))
        return e;
    return ek_find_slowly(comm);
}

int ek_comms_open(int size, int rank); /* 0 or an MPI error */
void ek_comms_close(void);
void ek_adopt(MPI_Comm); /* a new communicator, from every member */
void ek_named(MPI_Comm, const char *name);
void ek_entry_release(ek_entry *);
bool ek_entry_forsake(
    ek_entry *); /* request.c: true if nothing is under way on it; else it is released afterwards */

/* ---- types.c: datatypes and operators ---- */

enum { EK_OPS = 12 };
typedef struct ek_type {
    uintptr_t handle;
    MPI_Count size, extent;
    bool named; /* predefined, in the table */
    bool dense; /* n elements are n*size bytes from the buffer's address on */
    char class; /* i u f c l b p n, see types.c; 0 for what the program made */
    ek_combine builtin[EK_OPS];
} ek_type;

void ek_types_open(void);
/* The table's entry, or `scratch` filled in; NULL if there is something wrong with it. */
const ek_type *ek_type_of(MPI_Datatype, ek_type *scratch);
/* Number of a predefined operator (below EK_OPS), -1 the program's own, -2 none evenkeel serves. */
int ek_op_of(MPI_Op);
bool ek_op_fits(int op, char class);

/* ---- pack.c: elements with holes, to bytes and back ---- */

int ek_pack(const void *from, MPI_Count count, MPI_Datatype, const ek_type *, char *to);
int ek_unpack(const char *from, MPI_Count count, MPI_Datatype, MPI_Count size, MPI_Count extent, void *to);

/* An operator applied by the host's MPI_Reduce_local. */
typedef struct ek_fold {
    MPI_Datatype type;
    MPI_Op op;
    MPI_Count size, extent;
    MPI_Count low, high; /* an element's true bounds, of derived types only */
} ek_fold;
void ek_fold_laid_out(void *fold, const void *in, void *inout,
                      size_t count); /* elements as in the program's memory */
void ek_fold_packed(void *fold, const void *in, void *inout, size_t count); /* elements packed */

/* ---- collective.c ---- */

/* The arguments of any collective call. The wrapper fills in what its function has; names as in the standard,
 * except: a lone `count`/`datatype` is sendcount/sendtype, MPI_Bcast's buffer is recvbuf. */
typedef struct ek_args {
    uint32_t kind;
    bool wide; /* counts and displacements are MPI_Count and MPI_Aint, not int */
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    const void *sendcounts, *sdispls, *recvcounts, *rdispls;
    MPI_Datatype sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Request *request; /* NULL: blocking */
} ek_args;

#define EK_HOST_SHALL -1                        /* no MPI error code: the host has to carry out the call */
int ek_collective(ek_entry *, const ek_args *); /* of a communicator that is not the host's alone */

/* The communicator of the last barrier. */
extern struct ek_last {
    MPI_Comm comm;
    ek_comm *ek;
} ek_last_barrier;

/* Whether a barrier may be deferred: nothing is under way that others may wait for. */
static inline int ek_may_defer(void)
{
    return ek_host_requests == 0 && ek_outstanding == 0 && ek_messages_needing == 0;
}

static inline int ek_barrier_here(MPI_Comm comm)
{
    ek_note_ran();
    const ek_comm *again = ek_again;
    if (again && comm == ek_last_barrier.comm && again == ek_last_barrier.ek && ek_may_defer() &&
        ek_barrier_again(again))
        return 0; /* the gate was closed and is */
    ek_entry *e = ek_find(comm);
    if (EK_UNLIKELY(!e || !e->ek)) {
        EK_OBSERVE("MPI_Barrier");
        return 1;
    }
    ek_gate = 0;
    ek_last_barrier = (struct ek_last){comm, e->ek};
    int code = ek_barrier(e->ek, ek_may_defer());
    ek_gate_settle();
    return code;
}
int ek_failed(MPI_Comm, int error); /* the engine's error, as MPI's, to the communicator's error handler */
int ek_error_class(int error);      /* revoke.c: MPI's name for it */

/* Where data goes when an operation is complete. */
typedef struct ek_piece {
    const char *packed;
    void *user;
    MPI_Count count, size, extent;
    MPI_Datatype type;
} ek_piece;

enum { EK_FEW = 16 };
typedef struct ek_job {
    ek_call call;
    ek_entry *entry;
    ek_fold fold;
    int pieces_used;
    ek_piece *pieces, piece; /* `pieces` is &piece or an allocation */
    void *owned[6];          /* freed with the job */
    int owned_used;
    ek_span *spans; /* few_spans or owned */
    ek_span few_spans[2 * EK_FEW];
    ek_request *request;
    MPI_Request handle;
    int outcome; /* the handle's, an MPI error code */
    struct ek_job *next, *previous;
} ek_job;

/* These return MPI_SUCCESS, EK_HOST_SHALL, or an MPI error code. */
int ek_prepare(ek_job *, ek_entry *, const ek_args *);
int ek_prepare_reduction(ek_job *, const ek_args *); /* reduction.c */
int ek_prepare_even(ek_job *, const ek_args *);      /* even.c */
int ek_prepare_uneven(ek_job *, const ek_args *);    /* uneven.c */
void ek_job_settle(ek_job *);                        /* unpacks, and frees what the job owns */

/* ---- job.c: steps that the three share ---- */

/* So many elements of a type. */
typedef struct ek_side {
    const ek_type *type;
    ek_type scratch;
    MPI_Datatype handle;
    MPI_Count count;
    size_t bytes;
} ek_side;

bool ek_measure(ek_side *, MPI_Count count, MPI_Datatype); /* false: not to be served */
bool ek_granted(const ek_job *, const ek_args *, size_t bytes);
void *ek_job_alloc(ek_job *, size_t bytes);
/* The program's data as bytes: where they are, or packed (into `place` if given). */
int ek_hand_over(ek_job *, const ek_side *, const void *user, MPI_Count elements, char *place,
                 const void **bytes);
/* Where bytes for the program may go: to their place, or into memory that ek_job_settle unpacks. */
int ek_expect(ek_job *, const ek_side *, void *user, MPI_Count elements, void **bytes);
void ek_add_piece(ek_job *, const ek_side *, void *user, MPI_Count elements, const char *packed);
/* Element of an array of counts or displacements. */
static inline MPI_Count ek_number(const void *array, bool wide, int i)
{
    _Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8,
                   "one width for large counts and addresses");
    return wide ? (MPI_Count)((const int64_t *)array)[i] : ((const int *)array)[i];
}

/* ---- request.c ---- */

int ek_launch(ek_job *, MPI_Request *); /* starts a job on the heap and hands out its request */
void ek_poll(void);                     /* moves ours on and completes what is done */
/* A request that only MPI_Grequest_complete completes, with the outcome of `job` (which it frees at last), if
 * any. */
int ek_request_unbound(MPI_Request *, ek_job *);
int ek_op_free_later(MPI_Op); /* 1: done, or will be */
int ek_type_free_later(MPI_Datatype);

#endif
