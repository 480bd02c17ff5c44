/* What a wrapper does when a test or probe of the host has found nothing. */
#ifndef EK_WRAPPERS_LOOK_AGAIN_H
#define EK_WRAPPERS_LOOK_AGAIN_H
#include "gate/deferral.h"
#include "process/host_progress.h"
#include "process/host_looks.h"

/* Repeats a call that has found nothing. That nothing is there tells the program about other processes, so
 * pending barriers are completed before that is the answer (`gate_was`: some are pending). And the host may
 * not have looked at its messages during a collective that evenkeel carried out (ek_polls_due). `code` is the
 * call's error code, `found` its answer. */
#define EK_LOOK_AGAIN(name, gate_was, code, found, call)                    \
    do {                                                                    \
        if (EK_UNLIKELY(gate_was) && (code) == MPI_SUCCESS && !(found)) {   \
            ek_complete_deferred(name, false);                              \
            (code) = (call);                                                \
        }                                                                   \
        int polls = (code) == MPI_SUCCESS && !(found) ? ek_polls_due() : 0; \
        for (; polls > 0 && (code) == MPI_SUCCESS && !(found); polls--) {   \
            EK_HOST_TESTS_SCOPE;                                            \
            ek_host_progress();                                             \
            (code) = (call);                                                \
        }                                                                   \
    } while (0)

#endif
