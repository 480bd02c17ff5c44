/* What the program passes to MPI, and what it gets (--trace-level checks).
 *
 * A call is recorded when it begins and when it ends, as words that the generated wrappers note one after the
 * other; what they mean stands in the function's description. Handles are written as they are, so a call that
 * is wrong is recorded without asking the host about its arguments. What handles stand for is asked when a
 * call that has succeeded has made them. */
#ifndef EK_TRACE_CHECKS_H
#define EK_TRACE_CHECKS_H
#include "trace/times.h"

typedef struct ek_checked_process {
    bool is_on;
} ek_checked_process;
extern EK_HIDDEN ek_checked_process ek_checks;

/* For functions that are timed only if calls are recorded for checks. */
#define EK_CHECKS_CALL (EK_UNLIKELY(ek_checks.is_on) && ek_times_takes_call())

/* Not a part of the wrappers' hot paths. */
#define EK_CHECKED __attribute__((noinline, cold, unused))

/* ---- words of this thread's call ---- */

void ek_check_no_words(void);
void ek_check_word(int64_t);
void ek_check_buffer(const void *);
void ek_check_request(const MPI_Request *);
void ek_check_requests(int64_t count, const MPI_Request *);
void ek_check_status(int count, const MPI_Status *);

/* An array of numbers of any type; none if there is no array. */
#define EK_CHECK_NUMBERS(count, numbers)                                  \
    do {                                                                  \
        int64_t count_ = (numbers) && (count) > 0 ? (int64_t)(count) : 0; \
        ek_check_word(count_);                                            \
        for (int64_t i_ = 0; i_ < count_; i_++)                           \
            ek_check_word((int64_t)(numbers)[i_]);                        \
    } while (0)
#define EK_CHECK_HANDLES(count, handles)                                  \
    do {                                                                  \
        int64_t count_ = (handles) && (count) > 0 ? (int64_t)(count) : 0; \
        ek_check_word(count_);                                            \
        for (int64_t i_ = 0; i_ < count_; i_++)                           \
            ek_check_word((int64_t)(uintptr_t)(handles)[i_]);             \
    } while (0)

/* How many ranks a communicator has, or its remote group; 0: not known. And that at the root, elsewhere 0. */
int ek_check_comm_size(MPI_Comm);
int ek_check_root_size(MPI_Comm, int root);

/* ---- the beginning and the end of a call ---- */

void ek_check_begin(ek_timed *, const ek_checked_function *);

/* Callbacks of the program's, such as one for an attribute that is deleted, free objects within other calls.
 * A wrapper that is about to enter itself says so. */
void ek_check_reenters(void);
void ek_check_freed_within(const ek_checked_function *, int64_t handle);
#define EK_CHECK_FREED_WITHIN(function, handle)                             \
    do {                                                                    \
        if (EK_UNLIKELY(ek_checks.is_on) && (handle))                       \
            ek_check_freed_within(function, (int64_t)(uintptr_t)*(handle)); \
    } while (0)

/* Statuses that can be read, in place of those that the program does not want. */
void ek_check_own_statuses(int count, MPI_Status **);

/* Whether the error means that a message was longer than its buffer. */
bool ek_check_is_truncated(int code);

/* ---- what a call that has succeeded has done ---- */

/* The request of the call with this index is complete; or all of them are. */
void ek_check_complete(int index);
void ek_check_complete_all(void);
void ek_check_started(void);
void ek_check_request_freed(void);
void ek_check_sends(MPI_Request, const void *buf, MPI_Count count, MPI_Datatype, int dest,
                    bool is_persistent);

void ek_check_comm_usable(MPI_Comm);
void ek_check_type_usable(MPI_Datatype);

/* ---- start ---- */

/* After ek_times_start. */
void ek_check_start(int rank, int size, uint64_t run);

#endif
