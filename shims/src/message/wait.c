#include "message/wait.h"
#include "collective/nonblocking.h"
#include "message/arguments.h"
#include "process/call_line.h"
#include "process/faults.h"

static void pause_once(const ek_transfer *t)
{
    bool has_come = t->message && t->message->done;
    ek_message_wait_pause(has_come ? EK_ALSO_AWAITED_BARRIER : EK_ALSO_AWAITED_NOTHING);
    ek_collectives_poll();
}

int ek_transfer_await(ek_transfer *t, const ek_comm_entry *e, const char *name, MPI_Comm comm, int peer,
                      int tag)
{
    EK_IN_CALL(name, comm, peer, tag);
    ek_message_wait_begin();
    while (!ek_transfer_is_complete(t, false)) {
        if (EK_UNLIKELY(ek_message_is_revoked(e))) {
            ek_transfer_cancel(t);
            return ek_error_class(EK_REVOKED);
        }
        pause_once(t);
    }
    ek_message_wait_end();
    return MPI_SUCCESS;
}
