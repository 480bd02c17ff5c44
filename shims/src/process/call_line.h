/* Says in this process's line of the segment which MPI call it is in, and counts the point-to-point messages
 * that the host carries, for those who look from outside (`evenkeel where`).
 *
 * A sequence lock of one writer, as in crates/runtime/segment/src/call_line.rs: the version is odd while the
 * line is written, then 2 modulo 4, and 0 modulo 4 outside MPI. Nothing here waits or looks at a reader. The
 * engine writes the line when a rank begins to wait in a call that evenkeel carries out; the wrappers write
 * it around the calls that the host carries out. */
#ifndef EK_PROCESS_CALL_LINE_H
#define EK_PROCESS_CALL_LINE_H
#include "host/library.h"
#include "process/host_threads.h"
#include "process/state.h"
#include <stdatomic.h>

/* This process's line; another one, which is not read, where it takes no part. Never NULL. */
extern EK_HIDDEN ek_call_line *ek_line;

/* At the start and, in a child after fork, at the end. `host_names`: see ek_inspection. */
void ek_call_line_open(const ek_host_threads *, const char *host_names);
void ek_call_line_close(void);

/* No rank or no tag; in place of a tag: the collective moves data, so it needs the ranks that the standard
 * says. */
enum { EK_NONE = INT32_MIN, EK_NEEDS_OTHERS };

/* A word of the line. Others may read it at any time. */
#define EK_LINE_STORE(line, field, value) __atomic_store_n(&(line)->field, value, __ATOMIC_RELAXED)
#define EK_LINE_LOAD(line, field) __atomic_load_n(&(line)->field, __ATOMIC_RELAXED)

/* ---- the call ---- */

/* Something has called MPI from within the host since this was reset: the host itself, or what it calls
 * back. */
extern EK_HIDDEN _Atomic bool ek_calls_within_host;

/* Where several threads may be in MPI: notes that this one has been. */
void ek_note_calling_thread(void);

static inline bool ek_is_called_by_program(void)
{
    if (EK_LIKELY(ek_depth == 0)) {
        if (EK_UNLIKELY(ek_process.is_threaded))
            ek_note_calling_thread();
        return true;
    }
    atomic_store_explicit(&ek_calls_within_host, true, memory_order_relaxed);
    return false;
}

/* Where several threads may be in MPI: how many are in a call in which they may wait. */
extern EK_HIDDEN _Atomic int ek_threads_in_calls;

/* A call that the line tells of, until the block ends. */
typedef struct ek_call_scope {
    ek_call_line *line; /* NULL: it does not */
    uint64_t outside;   /* the version afterwards */
    bool is_counted;    /* in ek_threads_in_calls */
} ek_call_scope;

/* Where several threads may be in MPI. */
bool ek_call_takes_line(ek_call_line *line, uint64_t was);

/* The line tells of no call that the host makes itself, nor of one while another thread's call stands there.
 */
static inline __attribute__((always_inline)) ek_call_scope ek_call_begin(const char *name, uintptr_t comm,
                                                                         int peer, int tag)
{
    enum { PLACE = 3 };
    ek_call_line *const line = ek_line;
    uint64_t was = EK_LINE_LOAD(line, version);
    if (EK_UNLIKELY(!ek_is_called_by_program()))
        return (ek_call_scope){0};
    const bool is_threaded = EK_UNLIKELY(ek_process.is_threaded);
    if (is_threaded)
        ek_threads_in_calls++;
    if (EK_UNLIKELY(was & PLACE))
        return (ek_call_scope){.is_counted = is_threaded};
    if (!is_threaded)
        EK_LINE_STORE(line, version, was + 1);
    else if (!ek_call_takes_line(line, was))
        return (ek_call_scope){.is_counted = true};
    __atomic_thread_fence(
        __ATOMIC_RELEASE); /* a reader that finds a word of what follows finds the version */
    EK_LINE_STORE(line, name, (uintptr_t)name);
    EK_LINE_STORE(line, comm, comm);
    EK_LINE_STORE(line, peer, peer);
    EK_LINE_STORE(line, tag, tag);
    __atomic_store_n(&line->version, was + 2, __ATOMIC_RELEASE);
    return (ek_call_scope){line, was + 4, is_threaded};
}

static inline void ek_call_end(const ek_call_scope *scope)
{
    if (EK_LIKELY(scope->line != NULL))
        __atomic_store_n(&scope->line->version, scope->outside, __ATOMIC_RELEASE);
    if (EK_UNLIKELY(scope->is_counted))
        ek_threads_in_calls--;
}

/* The line says so until the block ends, also by a C++ exception. */
#define EK_IN_CALL(name, comm, peer, tag)                                 \
    ek_call_scope in_call __attribute__((cleanup(ek_call_end), unused)) = \
        ek_call_begin(name, (uintptr_t)(comm), peer, tag)

/* ---- messages that the host carries ----
 *
 * `where` proves by these numbers that nothing is under way. So a message is counted before it is sent and
 * after it has been received, and a nonblocking receive when it is started, for as long as none is pending.
 * What cannot be counted so makes all of it uncountable. */

enum {
    EK_UNCOUNTABLE = 1,
    EK_UNPROVABLE = 2,
    EK_SENDS_NO_MORE = 4,
    EK_THREADED = 8,
    EK_WAITS_FOR_ALL = 16, /* to come to MPI_Finalize */
    EK_IS_ENDING = 32      /* what follows with other ranks is evenkeel's own, in MPI_Finalize */
};

static inline void ek_mark_traffic(uint64_t mark)
{
    if ((EK_LINE_LOAD(ek_line, traffic_marks) & mark) != mark)
        __atomic_fetch_or(&ek_line->traffic_marks, mark, __ATOMIC_RELAXED);
}

static inline void ek_unmark_traffic(uint64_t mark)
{
    __atomic_fetch_and(&ek_line->traffic_marks, ~mark, __ATOMIC_RELAXED);
}

static inline void ek_count_uncountable(void) { ek_mark_traffic(EK_UNCOUNTABLE); }

/* Whether the program makes the call. What the host sends by MPI itself it also receives itself. */
static inline bool ek_counts(void) { return ek_is_called_by_program(); }

/* Release: the numbers are raised in the order of the program. */
#define EK_LINE_ADD(line, field, count) \
    __atomic_store_n(&(line)->field, (line)->field + (count), __ATOMIC_RELEASE)

static inline void ek_count_sent(int dest)
{
    ek_call_line *const line = ek_line;
    if (ek_counts() && dest != MPI_PROC_NULL)
        EK_LINE_ADD(line, sends, 1);
}

static inline void ek_count_received(int code, bool from_a_rank)
{
    ek_call_line *const line = ek_line;
    if (!ek_counts())
        return;
    if (EK_UNLIKELY(code))
        ek_count_uncountable();
    else if (from_a_rank)
        EK_LINE_ADD(line, receives, 1);
}

static inline void ek_count_result(int code)
{
    if (EK_UNLIKELY(code))
        ek_count_uncountable();
}

/* A collective that the host has refused has been counted, though others may not have called it. */
static inline void ek_note_result_of_collective(int code)
{
    if (EK_UNLIKELY(code))
        ek_mark_traffic(EK_UNPROVABLE);
}

/* Before a nonblocking call of the host's: first the request, so that it is never missing. */
static inline void ek_count_started(void)
{
    ek_call_line *const line = ek_line;
    if (ek_counts())
        EK_LINE_ADD(line, pending, 1);
}

static inline void ek_count_receive_started(bool from_a_rank)
{
    ek_call_line *const line = ek_line;
    if (!ek_counts())
        return;
    EK_LINE_ADD(line, pending, 1);
    if (from_a_rank)
        EK_LINE_ADD(line, receives, 1);
}

static inline void ek_count_completed(int code, int count)
{
    ek_call_line *const line = ek_line;
    if (!ek_counts())
        return;
    uint64_t pending = line->pending;
    if (EK_UNLIKELY(code) || EK_UNLIKELY((uint64_t)count > pending))
        ek_count_uncountable();
    else if (count)
        __atomic_store_n(&line->pending, pending - (uint64_t)count, __ATOMIC_RELEASE);
}

#endif
