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
#include "process/state.h"

/* This process's line; another one, which is not read, where it takes no part. Never NULL. */
extern EK_HIDDEN ek_call_line *ek_line;

/* At the start and, in a child after fork, at the end. */
void ek_call_line_open(void);
void ek_call_line_close(void);

/* No rank or no tag. */
enum { EK_NONE = INT32_MIN };

#define EK_LINE_STORE(field, value) __atomic_store_n(&ek_line->field, value, __ATOMIC_RELAXED)
#define EK_LINE_LOAD(field) __atomic_load_n(&ek_line->field, __ATOMIC_RELAXED)

/* ---- the call ---- */

/* Returns whether the line says it now: not for a call that the host makes itself, nor while another thread's
 * call stands there. */
static inline bool ek_call_begin(const char *name, uintptr_t comm, int peer, int tag)
{
    enum { PLACE = 3 };
    uint64_t was = EK_LINE_LOAD(version);
    if (EK_UNLIKELY(ek_depth > 0) || EK_UNLIKELY(was & PLACE))
        return false;
    if (EK_LIKELY(!ek_process.is_threaded))
        EK_LINE_STORE(version, was + 1);
    else if (!__atomic_compare_exchange_n(&ek_line->version, &was, was + 1, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED))
        return false;
    __atomic_thread_fence(
        __ATOMIC_RELEASE); /* a reader that finds a word of what follows finds the version */
    EK_LINE_STORE(name, (uintptr_t)name);
    EK_LINE_STORE(comm, comm);
    EK_LINE_STORE(peer, peer);
    EK_LINE_STORE(tag, tag);
    __atomic_store_n(&ek_line->version, was + 2, __ATOMIC_RELEASE);
    return true;
}

static inline void ek_call_end(const bool *begun)
{
    if (EK_LIKELY(*begun))
        __atomic_store_n(&ek_line->version, EK_LINE_LOAD(version) + 2, __ATOMIC_RELEASE);
}

/* The line says so until the block ends, also by a C++ exception. */
#define EK_IN_CALL(name, comm, peer, tag)                        \
    bool in_call __attribute__((cleanup(ek_call_end), unused)) = \
        ek_call_begin(name, (uintptr_t)(comm), peer, tag)

/* ---- messages that the host carries ----
 *
 * `where` proves by these numbers that nothing is under way. So a message is counted before it is sent and
 * after it has been received, and a nonblocking receive when it is started, for as long as none is pending.
 * What cannot be counted so makes all of it uncountable. */

enum { EK_UNCOUNTABLE = 1, EK_UNPROVABLE = 2 };

static inline void ek_count_uncountable(void)
{
    EK_LINE_STORE(uncountable, EK_LINE_LOAD(uncountable) | EK_UNCOUNTABLE);
}

/* Whether the program makes the call. What the host sends by MPI itself it also receives itself. */
static inline bool ek_counts(void) { return EK_LIKELY(ek_depth == 0); }

static inline void ek_count_sent(int dest)
{
    if (ek_counts() && dest != MPI_PROC_NULL)
        __atomic_store_n(&ek_line->sends, ek_line->sends + 1, __ATOMIC_RELEASE);
}

static inline void ek_count_received(int code, bool from_a_rank)
{
    if (!ek_counts())
        return;
    if (EK_UNLIKELY(code))
        ek_count_uncountable();
    else if (from_a_rank)
        __atomic_store_n(&ek_line->receives, ek_line->receives + 1, __ATOMIC_RELEASE);
}

static inline void ek_count_result(int code)
{
    if (EK_UNLIKELY(code))
        ek_count_uncountable();
}

/* Before a nonblocking call of the host's: first the request, so that it is never missing. */
static inline void ek_count_started(void)
{
    if (ek_counts())
        __atomic_store_n(&ek_line->pending, ek_line->pending + 1, __ATOMIC_RELEASE);
}

static inline void ek_count_receive_started(bool from_a_rank)
{
    ek_count_started();
    ek_count_received(MPI_SUCCESS, from_a_rank);
}

static inline void ek_count_completed(int code, int count)
{
    if (!ek_counts())
        return;
    if (EK_UNLIKELY(code) || EK_UNLIKELY((uint64_t)count > ek_line->pending))
        ek_count_uncountable();
    else if (count)
        __atomic_store_n(&ek_line->pending, ek_line->pending - (uint64_t)count, __ATOMIC_RELEASE);
}

#endif
