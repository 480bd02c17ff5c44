/* Marks that this thread is inside the host, until the end of a block. */
#ifndef EK_PROCESS_HOST_SCOPE_H
#define EK_PROCESS_HOST_SCOPE_H
#include "process/progress_thread.h"
#include "process/state.h"

typedef struct ek_host_scope {
    ek_progress_thread *helper;
} ek_host_scope;

static inline ek_host_scope ek_host_enter(bool blocks)
{
    ek_host_scope scope = {NULL};
    if (blocks && ek_depth == 0 && ek_must_progress())
        scope.helper = ek_progress_thread_start();
    ek_depth++;
    return scope;
}

static inline void ek_host_leave(ek_host_scope *scope)
{
    ek_depth--;
    if (EK_UNLIKELY(scope->helper != NULL))
        ek_progress_thread_stop(scope->helper);
}

/* This thread is inside the host until the block ends, also by a C++ exception. `blocks`: it may wait there
 * for other ranks, so a helper thread moves evenkeel's operations on. */
#define EK_HOST_SCOPE(blocks) \
    ek_host_scope host_scope __attribute__((cleanup(ek_host_leave), unused)) = ek_host_enter(blocks)

#endif
