/* When the program calls MPI (--trace-level times).
 *
 * A call that is timed is carried out by the wrapper of the same function, which this thread enters a second
 * time, so the times are those that the program sees: with all that evenkeel does, and the trace. What is
 * known of the call beside its times is gathered here; the engine writes the file. */
#ifndef EK_TRACE_TIMES_H
#define EK_TRACE_TIMES_H
#include "evenkeel.h"
#include "host/library.h"
#include "process/state.h"
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

typedef struct ek_timed_process {
    bool is_on;
    bool uses_counter;
    bool has_cancelled; /* the program has called MPI_Cancel */
    ek_open_call *open; /* which call the first thread is in */
} ek_timed_process;
extern EK_HIDDEN ek_timed_process ek_times;

struct ek_timed;

/* What else is to be done with calls that are timed. */
typedef struct ek_times_observer {
    void (*init_over)(struct ek_timed *, const char *name);
    void (*call_over)(uint32_t thread, bool has_failed); /* by the thread whose turn it is */
    void (*end)(void);
    void (*stop)(void);
} ek_times_observer;
extern EK_HIDDEN const ek_times_observer *ek_times_observed_by; /* NULL: nothing */

/* Of this thread: it is within a call that is timed; and its number, from 1, or 0 before its first call. */
typedef struct ek_timed_thread {
    int depth;
    uint32_t number;
} ek_timed_thread;
extern EK_HIDDEN _Thread_local ek_timed_thread ek_times_thread __attribute__((tls_model("initial-exec")));

uint32_t ek_times_number_thread(void);

static inline bool ek_times_takes_call(void)
{
    return ek_times.is_on && ek_depth == 0 && ek_times_thread.depth == 0;
}

/* Whether this call is to be timed. The wrappers that trace read the flag anyway. */
#define EK_TIMES_CALL (EK_UNLIKELY(ek_process.records_messages) && ek_times_takes_call())

static inline uint64_t ek_times_now(void)
{
#ifdef __x86_64__
    if (EK_LIKELY(ek_times.uses_counter))
        return __rdtsc();
#endif
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef struct ek_timed {
    ek_timed_call call;
    bool frees_handle; /* the communicator of the call, or a datatype if it has none */
    bool is_checked;   /* its beginning is recorded for checks, and so its end is */
    MPI_Status status; /* if the program wants none */
} ek_timed;

/* MPI's special ranks and tags have other numbers in each library. */
int ek_times_special_peer(int peer);
static inline int ek_times_peer(int peer)
{
    return EK_LIKELY(peer >= 0) ? peer : ek_times_special_peer(peer);
}
static inline int ek_times_tag(int tag) { return tag == MPI_ANY_TAG ? EK_TIMES_ANY : tag; }

/* ---- where the call comes from ---- */

/* Returns the first address outside MPI that the call returns to. Fortran programs call a library of MPI's.
 */
enum { EK_SITES = 256 };
extern EK_HIDDEN uint64_t ek_times_sites[EK_SITES];
const void *ek_times_site_slowly(const void *address, const char *frame);

/* `frame`: the stack pointer before the call. A word of the table has an address in its upper 48 bits, and
 * how far above the frame the address outside MPI lies, in words; 0: it is the address itself. */
static inline const void *ek_times_site(const void *address, const char *frame)
{
    uint64_t known = __atomic_load_n(&ek_times_sites[((uintptr_t)address >> 1) % EK_SITES], __ATOMIC_RELAXED);
    if (EK_UNLIKELY(known >> 16 != (uintptr_t)address))
        return ek_times_site_slowly(address, frame);
    size_t words = known & 0xffff;
    return EK_LIKELY(words == 0) ? address : *(const void *const *)(frame + words * sizeof(void *));
}

/* ---- a call ---- */

static inline void ek_timed_call_begin(ek_timed *t, const ek_timed_function *function, const void *site,
                                       uintptr_t comm, int peer, int tag, uint32_t role)
{
    ek_times_thread.depth++;
    uint32_t thread = ek_times_thread.number;
    if (EK_UNLIKELY(thread == 0))
        thread = ek_times_number_thread();
    t->frees_handle = false;
    t->is_checked = false;
    t->call = (ek_timed_call){.function = function,
                              .site = (uintptr_t)site,
                              .comm = comm,
                              .count = -1,
                              .second_bytes = -1,
                              .peer = peer,
                              .tag = tag,
                              .second_peer = EK_TIMES_NO_PEER,
                              .second_tag = EK_TIMES_NO_TAG,
                              .role = role,
                              .marks = EK_TIMES_FAILED, /* until it is over; it may end by an exception */
                              .thread = thread - 1};
    t->call.entry = ek_times_now();
    if (EK_LIKELY(thread == 1)) {
        memcpy(ek_times.open->name, function->name, sizeof function->name);
        ek_times.open->peer = peer;
        ek_times.open->tag = tag;
        __atomic_store_n(&ek_times.open->entry, t->call.entry, __ATOMIC_RELEASE);
    }
}

void ek_timed_call_end(ek_timed *);

/* The block is a call that is timed. */
#define EK_TIMED_CALL(function, comm, peer, tag, role)                                                       \
    ek_timed timed __attribute__((cleanup(ek_timed_call_end)));                                              \
    ek_timed_call_begin(&timed, function, ek_times_site(__builtin_return_address(0), __builtin_dwarf_cfa()), \
                        (uintptr_t)(comm), peer, tag, role)

static inline void ek_timed_data(ek_timed *t, MPI_Count count, MPI_Datatype type)
{
    t->call.count = count;
    t->call.datatype = (uintptr_t)type;
}

/* The call has returned this. */
static inline void ek_timed_over(ek_timed *t, int code)
{
    if (EK_LIKELY(code == MPI_SUCCESS))
        t->call.marks &= ~(uint32_t)EK_TIMES_FAILED;
    else
        t->call.request_count = 0;
}

/* ---- receives ---- */

/* Before a receive: what it names, and a status that can be read. */
static inline void ek_timed_receive(ek_timed *t, int source, int tag, MPI_Status **status)
{
    t->call.marks |=
        (source == MPI_ANY_SOURCE ? EK_TIMES_ANY_SOURCE : 0) | (tag == MPI_ANY_TAG ? EK_TIMES_ANY_TAG : 0);
    if (*status == MPI_STATUS_IGNORE)
        *status = &t->status;
}

/* It has succeeded. */
void ek_timed_received(ek_timed *, const MPI_Status *);

/* The same of a call that has sent, too. */
void ek_timed_received_second(ek_timed *, const MPI_Status *);

/* A call that posts a receive and sends: the receive. */
void ek_timed_second(ek_timed *, int source, int tag, MPI_Count count, MPI_Datatype);

/* A persistent request was made by the call. */
void ek_timed_persistent(ek_timed *, MPI_Request, bool sends);

/* ---- requests ---- */

/* Before a call that may complete or start requests. Statuses become ones that can be read, if one of the
 * requests is a receive. */
void ek_timed_await(ek_timed *, int count, const MPI_Request *, MPI_Status **statuses);
void ek_timed_start(ek_timed *, int count, const MPI_Request *);

/* After one that has succeeded: these are complete. */
void ek_timed_all_complete(ek_timed *, const MPI_Status *statuses);
void ek_timed_one_complete(ek_timed *, int index, const MPI_Status *);
void ek_timed_some_complete(ek_timed *, int count, const int *indices, const MPI_Status *statuses);

void ek_timed_forget_request(MPI_Request);

/* ---- communicators ---- */

void ek_timed_comm_made(MPI_Comm);
void ek_timed_comm_named(MPI_Comm, const char *name);
void ek_timed_comm_freed(ek_timed *, MPI_Comm); /* before it is */

/* World ranks of a group's members, to be freed; EK_TIMES_NO_PEER for those of other worlds. The group is
 * freed. Within the host. */
int *ek_times_world_ranks(MPI_Group, int *count);

/* ---- turns of threads ---- */

void ek_times_take_turn(void);
void ek_times_leave_turn(void);

/* ---- start and end ---- */

/* Before MPI_Init. Returns the time, or 0. */
uint64_t ek_times_before_init(void);

/* When MPI_Init is over: the file is made. */
void ek_times_start(int rank, int size, uint64_t run);
void ek_times_init_over(const ek_timed_function *, const void *site, uint64_t entry);

/* After MPI_Finalize; and in a child that was forked. */
void ek_times_end(void);
void ek_times_stop(void);

#endif
