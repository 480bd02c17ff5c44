#include "message/arguments.h"

static int tag_limit = 32767; /* what every library must allow */

ek_comm_entry *ek_message_comm(MPI_Comm comm)
{
    ek_comm_entry *e = ek_comm_find(comm);
    return e && e->on_one_node && !ek_comm_is_revoked(e->engine) ? e : NULL;
}

bool ek_message_is_revoked(const ek_comm_entry *e) { return e && e->engine && ek_comm_is_revoked(e->engine); }

bool ek_message_rank_is_valid(const ek_comm_entry *e, int rank, bool wildcard)
{
    return (rank >= 0 && rank < e->size) || (wildcard && rank == MPI_ANY_SOURCE);
}

bool ek_message_tag_is_valid(int tag, bool wildcard)
{
    return (tag >= 0 && tag <= tag_limit) || (wildcard && tag == MPI_ANY_TAG);
}

void ek_message_read_tag_limit(void)
{
    void *limit;
    int found = 0;
    if (!ek_host.Comm_get_attr(ek_handles.world, MPI_TAG_UB, &limit, &found) && found)
        tag_limit = *(int *)limit;
}
