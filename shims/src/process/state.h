/* The state of this process and this thread that hot paths ask for first. MPI is one per process, and so is
 * this. */
#ifndef EK_PROCESS_STATE_H
#define EK_PROCESS_STATE_H
#include "evenkeel.h"
#include "host/hints.h"
#include <stdatomic.h>

typedef struct ek_process_state {
    /* evenkeel is at work: between MPI_Init and MPI_Finalize, and not switched off. */
    bool active;
    /* Point-to-point messages are evenkeel's. */
    bool carries_messages;
    /* Point-to-point calls are recorded: for a report, or in a trace. */
    bool records_messages;
    /* For a report. */
    bool reports_messages;
    /* Barriers may be deferred, so the shim looks out for what must complete them. */
    bool may_defer;
    /* The program has given MPI a function that may be called from within any call. */
    bool calls_back;
    /* Buffers may be in device memory, so the host carries out all calls that have some. */
    bool has_devices;
    /* Reading a clock completes nothing (--clock free). */
    bool clock_is_free;
    /* The value of ek_gate while barriers are pending: 1, or 0 for --gate off. */
    uint8_t closed_gate;
    /* Nonblocking collectives of evenkeel's that are not complete. */
    _Atomic int collectives;
    /* The program was given MPI_THREAD_MULTIPLE. */
    bool is_threaded;
    /* About how many nonblocking operations of the host's are not complete; 0 where that is not counted, see
     * host_requests.h. A strict barrier moves them on while it waits. A deferred one does not, and another
     * rank may wait for them. */
    int host_requests;
    /* How many more strict barriers make progress on what the host may have left to do: see ek_host_used. */
    int host_barriers;
    /* How many more long waits assume that the host has something to do: see ek_host_used. */
    int host_waits;
    /* One-sided windows that exist. */
    _Atomic int windows;
    /* A collective has been carried out since the host was last polled for tests (EK_BEHIND_FOR_TESTS, see
     * ek_polls_due) and for buffered sends (EK_BEHIND_FOR_SENDS). */
    _Atomic int host_is_behind;
} ek_process_state;
extern EK_HIDDEN ek_process_state ek_process;

/* > 0: this thread is inside the host. What it calls then comes from the host, or from a tool below the shim,
 * and is passed through. */
extern EK_HIDDEN _Thread_local int ek_depth __attribute__((tls_model("initial-exec")));

/* Whether evenkeel is at work and it is the program that calls, not the host. */
static inline bool ek_serves_caller(void) { return EK_LIKELY(ek_process.active) && EK_LIKELY(ek_depth == 0); }

/* Whether other ranks may wait for this one to move something on: collectives, or messages. */
static inline bool ek_must_progress(void)
{
    return EK_UNLIKELY(ek_process.collectives > 0) ||
           (EK_UNLIKELY(ek_process.carries_messages) && ek_messages_need_progress());
}

enum { EK_BEHIND_FOR_TESTS = 1, EK_BEHIND_FOR_SENDS = 2 };

/* Notes that evenkeel has carried out a collective. The host's would have taken in the messages that had
 * arrived, and programs rely on that: they send, enter a barrier, and probe until nothing is found. */
static inline void ek_note_collective(void)
{
    atomic_store_explicit(&ek_process.host_is_behind, EK_BEHIND_FOR_TESTS | EK_BEHIND_FOR_SENDS,
                          memory_order_relaxed);
}

/* Whether a collective has been carried out since the last question by the same `asker`. */
static inline bool ek_host_is_behind(int asker)
{
    if (EK_LIKELY(!(atomic_load_explicit(&ek_process.host_is_behind, memory_order_relaxed) & asker)))
        return false;
    atomic_fetch_and_explicit(&ek_process.host_is_behind, ~asker, memory_order_relaxed);
    return true;
}

/* Returns how often a test or probe of the host that has found nothing is to be repeated. */
static inline int ek_polls_due(void)
{
    enum { POLLS_AFTER_A_COLLECTIVE = 4 };
    return !ek_depth && ek_host_is_behind(EK_BEHIND_FOR_TESTS) ? POLLS_AFTER_A_COLLECTIVE : 0;
}

#endif
