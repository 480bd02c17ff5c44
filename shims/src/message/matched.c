#include "message/matched.h"
#include "process/state.h"
#include "process/host_looks.h"
#include <stdlib.h>

static ek_matched *all;
static char nothing;
static MPI_Comm own_comm; /* where the genuine messages are sent */
static bool has_own_comm;

/* A handle that is free. */
static ek_matched *obtain(void)
{
    ek_matched *m = all;
    while (m && m->message)
        m = m->next;
    if (m || !(m = calloc(1, sizeof *m)))
        return m;
    int found = 0, code = has_own_comm ? MPI_SUCCESS : ek_host.Comm_dup(ek_handles.self, &own_comm);
    has_own_comm = has_own_comm || !code;
    if (!code)
        code = ek_host.Isend(&nothing, 0, ek_handles.byte, 0, 0, own_comm, &m->sent);
    while (!code && !found)
        code = ek_host.Improbe(0, 0, own_comm, &found, &m->handle, MPI_STATUS_IGNORE);
    if (code) {
        free(m);
        return NULL;
    }
    m->next = all;
    all = m;
    return m;
}

int ek_matched_hand_out(void *message, ek_comm_entry *e, MPI_Comm comm, MPI_Message *handle)
{
    ek_depth++;
    ek_matched *m = obtain();
    ek_depth--;
    if (!m)
        return MPI_ERR_NO_MEM;
    m->message = message;
    m->comm = comm;
    m->entry = e;
    *handle = m->handle;
    return MPI_SUCCESS;
}

ek_matched *ek_matched_of(MPI_Message handle)
{
    ek_matched *m = all;
    while (m && (m->handle != handle || !m->message))
        m = m->next;
    return m;
}

void ek_matched_release(ek_matched *m, MPI_Message *handle)
{
    m->message = NULL;
    *handle = MPI_MESSAGE_NULL;
}

void ek_matched_close(void)
{
    while (all) {
        ek_matched *m = all;
        int done = 0;
        all = m->next;
        EK_HOST_TESTS_SCOPE;
        ek_host.Mrecv(&nothing, 0, ek_handles.byte, &m->handle, MPI_STATUS_IGNORE);
        while (!done && !ek_host.Test(&m->sent, &done, MPI_STATUS_IGNORE))
            ;
        free(m);
    }
    if (has_own_comm)
        ek_host.Comm_free(&own_comm);
    has_own_comm = false;
}
