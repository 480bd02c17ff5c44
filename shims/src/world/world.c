/* The life of the process as MPI sees it: MPI_Init, MPI_Finalize, fork. */
#define _GNU_SOURCE
#include "shim.h"
#include "message/message.h"
#include <pthread.h>
#include <stdio.h>

int ek_active;
_Atomic int ek_ran;
_Thread_local int ek_depth __attribute__((tls_model("initial-exec")));

/* Weak, so that the shim also links with an engine that never waits. */
#pragma weak ek_world_host

/* Here and not when the system call is caught: by then the C library holds the allocator's locks. */
static void before_fork(void) { EK_OBSERVE("fork"); }

static void forget(void)
{
    if (ek_active) {
        ek_active = 0;
        ek_outstanding = 0;
        ek_defers = 0;
        ek_messages = 0;
        ek_world_forget();
    }
}

/* To test a request that cannot complete makes the host look after everything else it has to do. (A probe
 * does not: in MPICH it leaves the schedules of nonblocking collectives alone.) One thread at a time; the
 * others have it done. */
static MPI_Request never;
static pthread_mutex_t never_lock = PTHREAD_MUTEX_INITIALIZER;

void ek_host_progress(void)
{
    if (ek_depth || pthread_mutex_trylock(&never_lock))
        return;
    int flag;
    ek_depth++;
    if (ek_active)
        ek_host.Test(&never, &flag, MPI_STATUS_IGNORE);
    ek_depth--;
    pthread_mutex_unlock(&never_lock);
}

static int open_never(void) { return ek_request_unbound(&never, NULL); }

static void close_never(void)
{
    int flag;
    pthread_mutex_lock(&never_lock);
    ek_host.Grequest_complete(never);
    ek_host.Test(&never, &flag, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&never_lock);
}

/* "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2\n…" in short. */
static void host_version(char *text, size_t bytes)
{
    char full[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    ek_host.Get_library_version(full, &length);
    full[MPI_MAX_LIBRARY_VERSION_STRING] = 0;
    full[strcspn(full, ",\n")] = 0;
    char *mark = strstr(full, " Version:");
    if (mark) {
        const char *number = mark + strlen(" Version:");
        *mark = 0;
        snprintf(text, bytes, "%.60s %.60s", full, number + strspn(number, " \t"));
    } else {
        snprintf(text, bytes, "%.120s", full);
    }
}

/* The nodes' agents, if there are several nodes: their first ranks start them, and everybody is told of them.
 */
static int open_nodes(int size, int rank)
{
    int nodes = ek_nodes_count(), code = MPI_SUCCESS;
    if (!nodes)
        return code;
    if (ek_handles_faults()) {
        /* Agents end all ranks with a node or rank that is lost; the library knows how to go on. */
        if (rank == 0)
            ek_note("this job's library reports faults to the program (--with-ft), so communicators that "
                    "span nodes are the library's, "
                    "without agents");
        return code;
    }
    ek_agent_offer mine, *offers = calloc((size_t)nodes, sizeof *offers);
    int *counts = calloc(2 * (size_t)size, sizeof *counts);
    uint8_t *joined = calloc((size_t)size, 1);
    if (!offers || !counts || !joined)
        code = MPI_ERR_NO_MEM;
    ek_nodes_start(&mine);
    for (int r = 0, node = 0; !code && r < size; r++) {
        counts[r] = ek_nodes_leads(r) ? (int)sizeof mine : 0;
        counts[size + r] = node * (int)sizeof mine;
        node += counts[r] != 0;
    }
    if (!code)
        code = ek_host.Allgatherv(&mine, counts[rank], ek_handles.byte, offers, counts, counts + size,
                                  ek_handles.byte, ek_handles.world);
    if (!code) {
        uint8_t ok = (uint8_t)ek_nodes_join(offers, nodes);
        code = ek_host.Allgather(&ok, 1, ek_handles.byte, joined, 1, ek_handles.byte, ek_handles.world);
    }
    if (!code)
        ek_nodes_agree(joined, size);
    free(offers);
    free(counts);
    free(joined);
    return code;
}

/* Every rank of MPI_COMM_WORLD, also those where evenkeel is off: they take part in the exchange and say so.
 */
static int open_world(int threaded)
{
    int size, rank, code;
    if ((code = ek_host.Comm_size(ek_handles.world, &size)) ||
        (code = ek_host.Comm_rank(ek_handles.world, &rank)))
        return code;
    char version[128];
    host_version(version, sizeof version);
    ek_card card;
    memset(&card, 0, sizeof card);
    int begun = ek_world_begin(&card, version, EK_SHIM, threaded);
    ek_card *cards = calloc((size_t)size, sizeof *cards);
    uint8_t *joined = calloc((size_t)size, 1);
    if (!cards || !joined)
        code = MPI_ERR_NO_MEM;
    if (!code)
        code = ek_host.Allgather(&card, sizeof card, ek_handles.byte, cards, sizeof card, ek_handles.byte,
                                 ek_handles.world);
    if (!code) {
        uint8_t mine = begun ? (uint8_t)ek_world_join(cards, size, rank) : 0; /* bit 1: direct reads work */
        code = ek_host.Allgather(&mine, 1, ek_handles.byte, joined, 1, ek_handles.byte, ek_handles.world);
    }
    int anyone = 0;
    for (int r = 0; !code && r < size; r++)
        anyone |= joined[r];
    if (!code && anyone) {
        ek_world_agree(joined, size);
        if (ek_handles_faults())
            ek_world_reports_faults();
        ek_types_open();
        code = open_never();
        if (!code)
            code = open_nodes(size, rank);
        if (!code)
            code = ek_comms_open(size, rank);
        if (!code) {
            if (ek_world_host)
                ek_world_host(ek_host_progress);
            ek_active = 1;
        }
    }
    free(cards);
    free(joined);
    return code;
}

void ek_opened(void)
{
    static _Atomic bool once;
    if (atomic_exchange(&once, true))
        return;
    ek_resolve();
    int provided = MPI_THREAD_SINGLE;
    ek_host.Query_thread(&provided);
    ek_depth++;
    int code = open_world(provided == MPI_THREAD_MULTIPLE);
    ek_depth--;
    if (code)
        fprintf(stderr,
                "evenkeel: the MPI library refused what evenkeel needs at MPI_Init (error %d); it serves "
                "this program alone.\n",
                code);
    if (ek_active) {
        pthread_atfork(before_fork, NULL, forget);
        ek_gate_open_world();
        ek_depth++;
        ek_messages_begin();
        ek_depth--;
    }
}

/* Everybody's record to rank 0 of the world; the last thing evenkeel asks of the host. */
static void gather_records(void)
{
    int size, rank;
    size_t bytes = 0;
    char *mine = ek_record_json(&bytes);
    ek_host.Comm_size(ek_handles.world, &size);
    ek_host.Comm_rank(ek_handles.world, &rank);
    int length = mine && bytes <= INT_MAX ? (int)bytes : 0;
    int *lengths = rank ? NULL : calloc(2 * (size_t)size, sizeof *lengths),
        *starts = lengths ? lengths + size : NULL;
    char *all = NULL;
    size_t total = 0;
    /* Evenkeel's own way where it serves MPI_COMM_WORLD: whoever waits here for a slow rank then leaves it
     * the core. */
    ek_entry *e = ek_find(ek_handles.world);
    if (e && e->ek && ek_is_revoked(e->ek))
        goto out; /* nothing can be gathered there any more */
    bool ours = e && e->ek && ek_serves(e->ek) && ek_takes(e->ek, EK_GATHERV, 0, 0, NULL, 0);
    const ek_call announce = {.kind = EK_GATHER, .bytes = sizeof length, .send = &length, .recv = lengths};
    if (ours ? ek_run(e->ek, &announce)
             : ek_host.Gather(&length, sizeof length, ek_handles.byte, lengths, sizeof length,
                              ek_handles.byte, 0, ek_handles.world))
        goto out;
    for (int r = 0; lengths && r < size; r++) {
        starts[r] = (int)total;
        if (total + (size_t)lengths[r] > INT_MAX)
            lengths[r] = 0;
        total += (size_t)lengths[r];
    }
    all = rank ? NULL : malloc(total + 1);
    if (ours) {
        ek_span *spans = rank ? NULL : calloc((size_t)size, sizeof *spans);
        for (int r = 0; spans && r < size; r++)
            spans[r] = (ek_span){.offset = starts[r], .bytes = (size_t)lengths[r]};
        const ek_call hand_over = {
            .kind = EK_GATHERV, .bytes = (size_t)length, .send = mine, .recv = all, .recv_spans = spans};
        int error = (rank || (spans && all)) ? ek_run(e->ek, &hand_over) : 1;
        free(spans);
        if (error)
            goto out;
    } else if (ek_host.Gatherv(mine, length, ek_handles.byte, all, lengths, starts, ek_handles.byte, 0,
                               ek_handles.world)) {
        goto out;
    }
    if (all && total) {
        const char **texts = calloc((size_t)size, sizeof *texts);
        size_t *sizes = calloc((size_t)size, sizeof *sizes);
        for (int r = 0; texts && sizes && r < size; r++) {
            texts[r] = all + starts[r];
            sizes[r] = (size_t)lengths[r];
        }
        if (texts && sizes)
            ek_report(texts, sizes, size);
        free(texts);
        free(sizes);
    }
out:
    free(all);
    free(lengths);
    if (mine)
        ek_string_free(mine);
}

/* MPICH closes its network connections in MPI_Finalize without answering for the other side any more. Under
 * evenkeel the host may have sent nothing since MPI_Init and a connection may still be half made: then one
 * rank waits for good for a peer that has gone on (seen with 4.0 over TCP, 5 times of 6). A few rounds of the
 * host's own messages complete it (one does not, two nearly always). On one machine there are connections
 * only where MPICH was told not to use shared memory. */
static void settle_connections(void)
{
#ifdef MPICH_VERSION
    ek_entry *e = ek_find(ek_handles.world);
    if (e && e->ek && ek_serves(e->ek) && !getenv("MPIR_CVAR_NOLOCAL") &&
        !getenv("MPIR_CVAR_ODD_EVEN_CLIQUES"))
        return;
    int size;
    ek_host.Comm_size(ek_handles.world, &size);
    char mine = 0, *all = malloc((size_t)size);
    for (int round = 0; all && round < 6; round++)
        ek_host.Allgather(&mine, 1, ek_handles.byte, all, 1, ek_handles.byte, ek_handles.world);
    free(all);
#endif
}

void ek_closing(void)
{
    if (!ek_active)
        return;
    EK_OBSERVE("MPI_Finalize");
    ek_depth++;
    gather_records();
    ek_gate_close_world();
    ek_messages_end();
    settle_connections();
    /* What the host calls back while it takes MPI down (attributes of MPI_COMM_SELF) is its own. */
    ek_active = 0;
    ek_comms_close();
    close_never();
    ek_world_leave();
    ek_depth--;
}
