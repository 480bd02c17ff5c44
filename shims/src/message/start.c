#include "message/start.h"
#include "message/abandoned.h"
#include "message/arguments.h"
#include "message/buffered.h"
#include "message/matched.h"
#include "message/request.h"
#include "process/faults.h"
#include "process/start_exchange.h"
#include "process/state.h"
#include <stdlib.h>

/* Whether all ranks carry messages. That is agreed once, when all other facts of the start are known. */
static bool agree(void)
{
    const ek_comm_entry *e = ek_comm_find(ek_handles.world);
    int size;
    char mine = ek_process.may_defer && !ek_process.has_devices && !ek_host_reports_faults() && e &&
                e->on_one_node && ek_messages_are_wanted();
    ek_host.Comm_size(ek_handles.world, &size);
    char *all = calloc((size_t)size, 1);
    bool agreed = all && !ek_start_exchange(&mine, 1, all);
    for (int r = 0; agreed && r < size; r++)
        agreed = all[r];
    free(all);
    return agreed;
}

void ek_messages_start(void)
{
    if (!agree())
        return;
    ek_message_read_tag_limit();
    ek_messages_open();
    ek_process.carries_messages = true;
}

/* Waits until this rank's messages have been received, and until all ranks have come as far. */
void ek_messages_stop(void)
{
    if (!ek_process.carries_messages)
        return;
    ek_message_wait_begin();
    while (ek_messages_are_sending())
        ek_message_wait_pause(EK_ALSO_AWAITED_NOTHING);
    const ek_comm_entry *e = ek_comm_find(ek_handles.world);
    if (e && e->engine && !ek_comm_is_revoked(e->engine) && ek_barrier(e->engine, false) == EK_DECLINED)
        ek_host.Barrier(ek_handles.world);
    ek_buffered_wait();
    ek_abandoned_reap();
    ek_message_requests_close();
    ek_matched_close();
    ek_process.carries_messages = false;
    ek_messages_close();
}
