/* Tests and probes of the host's that have found nothing. */
#ifndef EK_WRAPPERS_LOOK_AGAIN_H
#define EK_WRAPPERS_LOOK_AGAIN_H
#include "gate/deferral.h"
#include "process/host_progress.h"

/* Repeats a call while it finds nothing. That something is not there tells the program about others, so
 * pending barriers are completed before that is the answer (`gate_was`: some are pending). And a collective
 * of evenkeel's may have left the host behind. `code` is the call's error code, `found` its answer. */
#define EK_LOOK_AGAIN(name, gate_was, code, found, call)                    \
    do {                                                                    \
        if (EK_UNLIKELY(gate_was) && (code) == MPI_SUCCESS && !(found)) {   \
            ek_complete_deferred(name, false);                              \
            (code) = (call);                                                \
        }                                                                   \
        int polls = (code) == MPI_SUCCESS && !(found) ? ek_polls_due() : 0; \
        for (; polls > 0 && (code) == MPI_SUCCESS && !(found); polls--) {   \
            ek_host_progress();                                             \
            (code) = (call);                                                \
        }                                                                   \
    } while (0)

#endif
