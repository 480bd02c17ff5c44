/* What a shim may ask of the engine. The engine knows no MPI: handles, datatypes and operators are the
 * shim's; here there are bytes, ranks and functions. Implemented by mpi/src (Rust, linked statically).
 * Not a public API. All functions are callable from any thread unless said otherwise. */
#ifndef EVENKEEL_H
#define EVENKEEL_H
#include <stddef.h>
#include <stdint.h>

#define EK_INTERFACE 4 /* travels in the card: shims of different builds do not talk to each other */

/* ---- the world: called once, from the wrapper of MPI_Init, in this order ---- */

typedef struct ek_card {
    uint8_t bytes[96];
} ek_card; /* what a rank tells the others; plain bytes */

/* Fills in this process's card. `threaded`: the program was granted MPI_THREAD_MULTIPLE.
 * Returns 0 if evenkeel is switched off or cannot work here: the card then says so to the others. */
int ek_world_begin(ek_card *mine, const char *mpi_version, const char *shim, int threaded);
/* All cards, in the order of MPI_COMM_WORLD. Opens this node's segment; 1 if that worked. */
int ek_world_join(const ek_card *cards, int ranks, int me);
/* Everybody's answer to ek_world_join, in order. From here on communicators can be attached. */
void ek_world_agree(const uint8_t *joined, int ranks);
/* The host reports deaths of ranks to the program: evenkeel ends nobody because of them. After
 * ek_world_agree, by all ranks or none. */
void ek_world_reports_faults(void);
/* Whether a rank of this node has died. */
int ek_world_has_died(int rank);
/* Then, where that says that there are several nodes: each node's first rank starts its agent, and all ranks
 * are told of all agents. ek_nodes_count   how many nodes' agents are to be started; 0: none. The same at all
 * ranks ek_nodes_leads   whether a rank is its node's first; leaders in rank order are the nodes in order
 *   ek_nodes_start   by every rank, the first of each node fills in its agent's offer
 *   ek_nodes_join    all offers, in the order of the nodes; 1 if this rank can speak to its agent
 *   ek_nodes_agree   everybody's answer to that, one byte a rank */
typedef struct ek_agent_offer {
    uint8_t bytes[4096];
} ek_agent_offer;
int ek_nodes_count(void);
int ek_nodes_leads(int rank);
void ek_nodes_start(ek_agent_offer *mine);
int ek_nodes_join(const ek_agent_offer *offers, int nodes);
void ek_nodes_agree(const uint8_t *joined, int ranks);
/* From the wrapper of MPI_Finalize, after the last collective and after ek_record_json. */
void ek_world_leave(void);
/* In a child after fork(): forget everything, quietly; every later call is left to the host. */
void ek_world_forget(void);

/* ---- communicators ---- */

typedef struct ek_comm ek_comm;

/* A communicator's id names its block of shared memory, so one rank draws it and the others are told:
 *   MPI_COMM_WORLD          ek_world_comm_id, the same everywhere
 *   a duplicate (dup, idup) ek_comm_duplicate of the parent, by every member, in the same order; never waits
 * for them every other new one     rank 0 of the new communicator calls ek_fresh_id, the host broadcasts the
 * answer. Id 0 means: the host serves this communicator (strangers, one member, no room), for all members
 * alike. One whose members ek_spans says to be on several nodes has a block on each: every member calls
 * ek_across_offer, the host gathers the offers for all, and ek_across_attach takes them, in rank order. For
 * COMM_WORLD too. `members`: world ranks in rank order (-1: not in this world). ek_comm_attach never returns
 * NULL; a communicator that the host serves is kept for the record, and ek_serves says 0. */
uint64_t ek_world_comm_id(void);
uint64_t ek_fresh_id(const int *members, int ranks);
ek_comm *ek_comm_duplicate(ek_comm *parent, const int *members, int ranks, int me);
typedef struct ek_offer {
    uint64_t words[2];
} ek_offer;
int ek_spans(const int *members, int ranks);
ek_offer ek_across_offer(const int *members, int ranks, int me);
ek_comm *ek_across_attach(const ek_offer *offers, const int *members, int ranks, int me);
ek_comm *ek_comm_attach(uint64_t id, const int *members, int ranks, int me);
void ek_comm_detach(ek_comm *);
int ek_serves(const ek_comm *);
void ek_comm_name(ek_comm *, const char *name);
/* Ends what is under way on it, for all members: they get EK_REVOKED, then ek_takes says 0 to them. */
#define EK_REVOKED 125
/* Likewise where a member has died, once ek_world_reports_faults has been called: otherwise that ends the
 * job. */
#define EK_LOST_MEMBER 124
void ek_comm_revoke(ek_comm *);
int ek_is_revoked(const ek_comm *);
/* ---- collectives ---- */

enum ek_kind {
    EK_BARRIER,
    EK_BCAST,
    EK_REDUCE,
    EK_ALLREDUCE,
    EK_GATHER,
    EK_GATHERV,
    EK_SCATTER,
    EK_SCATTERV,
    EK_ALLGATHER,
    EK_ALLGATHERV,
    EK_ALLTOALL,
    EK_ALLTOALLV,
    EK_ALLTOALLW,
    EK_REDUCE_SCATTER,
    EK_REDUCE_SCATTER_BLOCK,
    EK_SCAN,
    EK_EXSCAN,
    EK_KINDS
};

/* inout[i] = in[i] op inout[i] for i < count elements, as MPI_Reduce_local does. */
typedef void (*ek_combine)(void *ctx, const void *in, void *inout, size_t count);

typedef struct ek_span {
    ptrdiff_t offset;
    size_t bytes;
} ek_span; /* relative to the buffer */

/* One collective call. All data is contiguous bytes: whoever has holes packs first and unpacks afterwards.
 *
 *   kind                 bytes                  send                        recv
 *   BARRIER              0                      -                           -
 *   BCAST                message                root: message               others: message
 *   REDUCE               vector                 vector                      root: vector
 *   ALLREDUCE SCAN EXSCAN vector                vector                      vector (EXSCAN: rank 0 untouched)
 *   GATHER               one block              own block                   root: ranks × block
 *   SCATTER              one block              root: ranks × block         own block
 *   ALLGATHER            one block              own block                   ranks × block
 *   ALLTOALL             one block              ranks × block               ranks × block
 *   GATHERV              own block              own block                   root: recv + recv_spans[rank]
 *   SCATTERV             own block              root: send + send_spans[r]  own block
 *   ALLGATHERV           own block              own block                   recv + recv_spans[rank], same
 * sizes everywhere ALLTOALLV/W          0                      send + send_spans[r]        recv +
 * recv_spans[r] REDUCE_SCATTER       whole vector           whole vector                own part;
 * recv_spans[r] = part r within the vector REDUCE_SCATTER_BLOCK one block              ranks × block own
 * block
 *
 * In place: send may equal the place in recv where this rank's own data goes (all reductions: send == recv;
 * REDUCE_SCATTER*: recv may be the start of send), never overlap otherwise. ALLTOALL*: send and recv are
 * distinct. */
typedef struct ek_call {
    uint32_t kind; /* enum ek_kind */
    int32_t root;
    size_t bytes;
    const void *send;
    void *recv;
    const ek_span *send_spans; /* arrays of one span per rank; must live until the operation is complete */
    const ek_span *recv_spans;
    ek_combine combine; /* reductions */
    void *combine_ctx;
    size_t elem_bytes; /* size of one element */
} ek_call;

/* Whether evenkeel carries out such a call, decided from what all members know to be equal: kind, `bytes` as
 * in the table (0 for GATHERV, SCATTERV, ALLTOALLV/W; for ALLGATHERV the largest block), whether it is
 * nonblocking, whether the elements can be divided (elem_bytes; 0 if not a reduction), and across nodes the
 * function that combines them (NULL if not a reduction). Counts the call as the host's if not. */
int ek_takes(ek_comm *, uint32_t kind, size_t bytes, size_t elem_bytes, ek_combine, int nonblocking);
/* Carries it out; returns when this rank's part is done. 0, or EK_REVOKED. */
int ek_run(ek_comm *, const ek_call *);
/* A barrier: 0 done, 1 not served, or EK_REVOKED. `may_defer`: it may return before it is complete (see
 * below). */
int ek_barrier(ek_comm *, int may_defer);
/* 1: the barrier is entered and left pending, as one before it; 0: nothing was done. Only if it may be
 * deferred. ek_again is the communicator for which that may be so, or NULL. */
int ek_barrier_again(const ek_comm *);
extern ek_comm *volatile ek_again __attribute__((visibility("hidden")));

typedef struct ek_request ek_request;
ek_request *ek_start(ek_comm *, const ek_call *); /* *call is copied, the spans are not */
int ek_done(ek_request *);                        /* progresses it; 1 when complete */
int ek_request_free(ek_request *);                /* complete ones only; 0, or EK_REVOKED */
int ek_pending(void);                             /* requests of this process that are not complete yet */
void ek_progress(void);                           /* moves all of them on */

/* A built-in combine function, or NULL. `type`: 'i' signed, 'u' unsigned, 'f' floating; `op`: "sum" "prod"
 * "max" "min" "band" "bor" "bxor" "land" "lor" "lxor". */
ek_combine ek_builtin_combine(const char *op, char type, size_t elem_bytes);

/* ---- deferred barriers ---- */

/* A barrier that is deferred has been entered, not waited for: it is pending. Before the program does
 * anything that others could notice, or looks at anything that others may have done, the shim calls
 * ek_observed. For programs with one thread. */
extern volatile uint8_t ek_gate
    __attribute__((visibility("hidden"))); /* the byte for Syscall User Dispatch: 1 = caught */
extern volatile uint32_t ek_deferred
    __attribute__((visibility("hidden"))); /* communicators with pending barriers */

enum ek_channel { EK_THREADS, EK_SHARED_MEMORY, EK_SIGNALS, EK_WINDOWS, EK_FAULTS, EK_CHANNELS };

int ek_deferral_wanted(
    void); /* 0 no (also: several threads in MPI), 1 if system calls can be caught, 2 in any case */
int ek_gate_wanted(void); /* 0: nothing is ever observed (--gate off) */
/* From now on. `arm`: called with 1 before the first barrier is left
 * pending and with 0 when nothing is deferred for a time; answers whether that is done. NULL if nothing is to
 * be caught. */
void ek_deferral_open(int (*arm)(int));
void ek_deferral_close(void);
void ek_deferral_forbid(
    uint32_t channel); /* strict from here on; what is pending must have been completed. Async-signal-safe */
void ek_deferral_permit(uint32_t channel);
/* Completes what is pending and opens the gate. `name` is kept: a literal. Async-signal-safe where the code
 * that was interrupted holds no lock of the allocator. */
void ek_observed(const char *name, int is_system_call);
int ek_free_clock(void); /* whether MPI_Wtime is no observation */

/* ---- messages ---- */

/* Point-to-point messages on communicators for which ek_serves says 1, of contiguous bytes. A message that
 * follows a pending barrier goes at once; the receiver decides when it may be seen
 * (crates/runtime/engine/src/message/stamp.rs). For programs with one thread in MPI. */
typedef struct ek_message {
    size_t bytes; /* sent; of these no more than the buffer's capacity were received */
    int32_t source, tag;
    uint8_t truncated, cancelled;
    uint8_t done;  /* 0: not complete, whoever asks */
    uint8_t plain; /* done, and complete whoever asks */
} ek_message;

int ek_messages_wanted(void); /* whether this rank would carry messages; all must agree before anybody does */
void ek_messages_open(void);
void ek_messages_close(void);

/* NULL: complete already; else `data` must stay until it is. `synchronous`: complete when it has been
 * received. */
ek_message *ek_message_send(const ek_comm *, int dest, int tag, int synchronous, const void *data,
                            size_t bytes);
/* Of source and tag -1 means any. */
ek_message *ek_message_receive(const ek_comm *, int source, int tag, void *buffer, size_t capacity);
typedef struct ek_probed {
    int source, tag;
    size_t bytes;
    void *matched;
} ek_probed;
/* 1 if there is a message that such a receive would get; `take`: it is taken out, for
 * ek_message_receive_matched alone. */
int ek_message_probe(const ek_comm *, int source, int tag, int take, ek_probed *);
ek_message *ek_message_receive_matched(const ek_comm *, void *matched, void *buffer, size_t capacity);
/* Whether a message that is `done` may be seen to be complete. `choose`: the program asks whether it is, or
 * which of several is; otherwise it waits for this one. */
int ek_message_complete(const ek_message *, int choose);
int ek_message_cancel(ek_message *); /* of a receive: 1 if nothing had been received by it */
void ek_message_free(
    ek_message *); /* once; also before it is complete: then nobody is told of its completion */
size_t ek_messages_progress(void); /* moves all on; how much happened */
int ek_messages_incomplete(
    void); /* whether this rank has something to do now and then, for others to go on */
/* For how many of its messages others may wait for this rank until it looks again. */
extern volatile size_t ek_messages_needing __attribute__((visibility("hidden")));
int ek_messages_sending(void); /* whether something it has sent is not complete */
void ek_message_idle(void);    /* a test or probe has found nothing: programs loop over such */
/* A wait: begin, then look and pause by turns (pausing moves messages on), then end. */
enum ek_beside { EK_BESIDE_NOTHING, EK_BESIDE_BARRIER, EK_BESIDE_HOST }; /* what else it is for */
void ek_message_wait_begin(void);
void ek_message_pause(int beside);
void ek_message_wait_end(void);

/* ---- waiting (for loops in the shim that also wait for the host) ---- */

typedef struct ek_pause {
    uint64_t state[4];
} ek_pause; /* zero it before the first use */
void ek_pause_once(ek_pause *);

/* MPI promises progress inside every call: a rank that waits here for others must still answer for the host
 * (a large MPI_Isend under way, a window its peers access), or the others never come. The shim hands over
 * `progress`, about 0.2 us a call; the engine calls it from the thread that waits, from every wait in
 * ek_barrier and ek_run that has lasted 100 us, then at least once a millisecond (also between sleeps), never
 * while it holds a lock. */
void ek_world_host(void (*progress)(void));

/* ---- the record ---- */

/* This rank's record as JSON; the caller hands it back to ek_string_free. NULL if recording is off. */
char *ek_record_json(size_t *bytes);
void ek_string_free(char *);
/* On rank 0, with everybody's records one after another: writes the report file, prints the summary. */
void ek_report(const char *const *json, const size_t *bytes, int ranks);
/* A sentence for the record and, once per process, for standard error ("evenkeel: …"). */
void ek_note(const char *sentence);
#endif
