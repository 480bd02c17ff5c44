/* Tests and probes: what happens between two looks at what is not there. */
#ifndef EK_MESSAGE_POLL_H
#define EK_MESSAGE_POLL_H
#include "gate/deferral.h"
#include "process/host_progress.h"

/* Before the first look. */
enum { EK_POLL_FIRST = -1 };

/* To be called when the MPI function `name` has looked and found nothing. Returns whether it is to look
 * again. That nothing is there tells the program about other processes, so pending barriers are completed
 * before that is the answer. `rounds` starts as EK_POLL_FIRST. */
static inline bool ek_poll_again(const char *name, int *rounds)
{
    if (ek_messages_progress())
        return true;
    if (ek_deferred) {
        ek_complete_deferred(name, false);
        return true;
    }
    if (*rounds == EK_POLL_FIRST)
        *rounds = ek_polls_due();
    if ((*rounds)-- <= 0) {
        ek_messages_found_nothing();
        return false;
    }
    ek_host_progress();
    return true;
}

#endif
