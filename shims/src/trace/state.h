/* Whether calls of this process are recorded in a trace, or repeat one (--trace, `evenkeel replay`).
 *
 * A call that is traced is carried out by the wrapper of the same function, which this thread enters a second
 * time: so it makes no difference who carries out the call. */
#ifndef EK_TRACE_STATE_H
#define EK_TRACE_STATE_H
#include "evenkeel.h"
#include "host/library.h"
#include "process/state.h"
#include <pthread.h>

typedef struct ek_traced_process {
    ek_trace_mode mode;
    pthread_t thread; /* the one whose calls are traced */
    bool is_started;  /* MPI_Init has returned */
    bool has_missed;  /* the call under way has tested or probed, and found nothing */
    bool was_shared;  /* another thread has called, too */
    MPI_Comm nowhere; /* a communicator on which nothing is ever sent; valid if has_nowhere */
    bool has_nowhere;
} ek_traced_process;
extern EK_HIDDEN ek_traced_process ek_trace;

/* > 0: this thread is within a call that is traced. */
extern EK_HIDDEN _Thread_local int ek_trace_depth __attribute__((tls_model("initial-exec")));

/* The slow part of EK_TRACES_CALL. */
bool ek_trace_takes_call(void);

/* Whether this call is to be traced. The wrappers read the flag anyway. */
#define EK_TRACES_CALL (EK_UNLIKELY(ek_process.records_messages) && ek_trace_takes_call())

void ek_traced_call_end(const char *const *name);

/* The block is a call that is traced. `asks`: it may find nothing. */
#define EK_TRACED_CALL(name, asks)                                                       \
    const char *traced_call __attribute__((cleanup(ek_traced_call_end), unused)) = name; \
    ek_trace_depth++;                                                                    \
    ek_trace_call_begins(name, asks)

static inline bool ek_trace_replays(void) { return ek_trace.mode == EK_TRACE_MODE_REPLAYS; }

/* Notes, while a trace is written, that the program calls a function after which equality is not promised. */
void ek_trace_note_unpromised(const char *name);

/* Notes that a call has failed: the result of an error is not recorded. */
void ek_trace_note_failure(void);

/* The ranks of the trace and of this library: MPI_PROC_NULL has another number in each. */
static inline int ek_trace_rank_of(int source) { return source == MPI_PROC_NULL ? EK_TRACE_NO_RANK : source; }
static inline int ek_trace_source_of(int rank) { return rank == EK_TRACE_NO_RANK ? MPI_PROC_NULL : rank; }

#endif
