#define _DEFAULT_SOURCE /* explicit_bzero */
#include "world/start.h"
#include "gate/deferral.h"
#include "gate/gate.h"
#include "host/datatype.h"
#include "host/known_types.h"
#include "message/start.h"
#include "process/call_line.h"
#include "process/communicator.h"
#include "process/faults.h"
#include "process/host_progress.h"
#include "process/host_waits.h"
#include "process/start_exchange.h"
#include "process/state.h"
#include "trace/start.h"
#include "world/devices.h"
#include "world/ending.h"
#include "world/launcher_end.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- fork ---- */

/* Barriers are completed here and not when the system call is caught: by then the C library holds the
 * allocator's locks. */
static void before_fork(void) { EK_COMPLETE_DEFERRED("fork"); }

static void forget_in_child(void)
{
    ek_traces_forget();
    if (!ek_process.active)
        return;
    ek_process.active = false;
    ek_process.collectives = 0;
    ek_process.may_defer = false;
    ek_process.carries_messages = false;
    ek_process.records_messages = ek_process.reports_messages = false;
    ek_call_line_close();
    ek_world_forget();
}

/* ---- nodes ---- */

/* Gathers `bytes` of the first rank of each node in `all`, in the order of the nodes. */
static int gather_from_nodes(int size, int rank, const void *mine, int bytes, void *all)
{
    int *counts = calloc(2 * (size_t)size, sizeof *counts), *starts = counts + size;
    if (!counts)
        return MPI_ERR_NO_MEM;
    for (int r = 0, node = 0; r < size; r++) {
        counts[r] = ek_is_first_of_node(r) ? bytes : 0;
        starts[r] = node * bytes;
        node += counts[r] != 0;
    }
    MPI_Request request = ek_handles.request_null;
    int code = ek_host.Iallgatherv(mine, counts[rank], ek_handles.byte, all, counts, starts, ek_handles.byte,
                                   ek_handles.world, &request);
    code = ek_start_await(code, &request);
    free(counts);
    return code;
}

/* The hosts of all nodes, for those who look from outside; NULL if there is one node. */
static char *host_names;

static int exchange_host_names(int size, int rank)
{
    int nodes = ek_nodes_count();
    if (nodes < 2)
        return MPI_SUCCESS;
    enum { HOST_NAME_BYTES = 65 };
    char mine[HOST_NAME_BYTES] = "";
    gethostname(mine, sizeof mine - 1);
    host_names = calloc((size_t)nodes, sizeof mine);
    return host_names ? gather_from_nodes(size, rank, mine, sizeof mine, host_names) : MPI_ERR_NO_MEM;
}

/* Starts this node's agent, if this rank is the first of its node, and gathers what all agents tell about
 * themselves. */
static int exchange_agent_infos(int size, int rank, ek_agent_info *infos)
{
    ek_agent_info mine;
    ek_nodes_start_agent(&mine);
    int code = gather_from_nodes(size, rank, &mine, sizeof mine, infos);
    explicit_bzero(&mine, sizeof mine);
    return code;
}

/* If there are several nodes, their first ranks start the agents, and all ranks are told of them. */
static int start_agents(int size, int rank)
{
    int nodes = ek_agents_count(), code;
    if (!nodes)
        return MPI_SUCCESS;
    if (ek_host_reports_faults()) {
        /* Agents end all ranks when a node or rank is lost. The host can go on without it. */
        if (rank == 0)
            ek_note("this job's library reports faults to the program (--with-ft), so communicators that "
                    "span nodes are the library's, without agents");
        return MPI_SUCCESS;
    }
    ek_agent_info *infos = calloc((size_t)nodes, sizeof *infos);
    uint8_t *joined = calloc((size_t)size, 1);
    code = infos && joined ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!code)
        code = exchange_agent_infos(size, rank, infos);
    if (!code) {
        uint8_t mine = ek_nodes_join(infos, nodes);
        code = ek_start_exchange(&mine, 1, joined);
    }
    if (!code)
        ek_nodes_agree(joined, size);
    if (infos) /* the job's secret is among them */
        explicit_bzero(infos, (size_t)nodes * sizeof *infos);
    free(infos);
    free(joined);
    return code;
}

/* ---- the world ---- */

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

enum { HAS_DRIVER = 0x80 }; /* beside the bits of ek_world_join */

/* A pointer may be a device's on some ranks only, so they could not agree call by call which of them are the
 * host's. */
static void agree_on_devices(uint8_t *answers, int size, int rank)
{
    for (int r = 0; r < size; r++) {
        ek_process.has_devices |= (answers[r] & HAS_DRIVER) != 0;
        answers[r] &= (uint8_t)~HAS_DRIVER;
    }
    if (ek_process.has_devices && rank == 0)
        ek_note(
            "the driver of an accelerator is loaded (CUDA, HIP or Level Zero), so the program may pass "
            "device memory: the MPI library carries out all calls that have data, and barriers are strict");
}

/* Tells all ranks about this one, and asks the engine to join the others on this node. `joined`: every rank's
 * answer. */
static int join(bool threaded, int size, int rank, uint8_t *joined)
{
    char version[128];
    ek_process_info mine, *infos = calloc((size_t)size, sizeof *infos);
    if (!infos)
        return MPI_ERR_NO_MEM;
    host_version(version, sizeof version);
    memset(&mine, 0, sizeof mine);
    ek_world_begin(&mine, version, EK_SHIM, threaded);
    /* Ranks do not know each other's processes before this exchange. */
    int code = ek_start_exchange(&mine, sizeof mine, infos);
    if (!code) {
        uint8_t answer = ek_world_join(infos, size, rank);
        answer |= ek_driver_is_loaded() ? HAS_DRIVER : 0;
        code = ek_start_exchange(&answer, 1, joined);
        if (!code)
            agree_on_devices(joined, size, rank);
    }
    free(infos);
    return code;
}

static bool any(const uint8_t *joined, int size)
{
    for (int r = 0; r < size; r++)
        if (joined[r])
            return true;
    return false;
}

static const ek_host_threads *host_threads;

/* Starts evenkeel in a world in which some rank has joined. */
static int open(const uint8_t *joined, int size, int rank)
{
    ek_world_agree(joined, size);
    if (ek_host_reports_faults())
        ek_world_report_faults();
    ek_world_set_end_hook(ek_launcher_end);
    ek_types_open();
    if (!ek_process.is_threaded)
        ek_known_types_open(&ek_process.collectives);
    ek_operators_open();
    int code = ek_host_progress_open();
    if (!code)
        code = exchange_host_names(size, rank);
    if (!code)
        code = start_agents(size, rank);
    if (!code)
        code = ek_comms_open(size, rank);
    if (!code) {
        ek_set_host_progress(ek_host_progress, ek_host_activity);
        ek_call_line_open(host_threads, host_names);
        ek_process.active = true;
    }
    return code;
}

/* To be called by every rank of MPI_COMM_WORLD. Ranks on which evenkeel is off take part in the exchange and
 * say so. */
static int open_world(bool threaded)
{
    int size, rank, code;
    if ((code = ek_host.Comm_size(ek_handles.world, &size)) ||
        (code = ek_host.Comm_rank(ek_handles.world, &rank)))
        return code;
    ek_ending_check_size(size);
    uint8_t *joined = calloc((size_t)size, 1);
    if (!joined)
        return MPI_ERR_NO_MEM;
    code = join(threaded, size, rank, joined);
    if (!code && any(joined, size))
        code = open(joined, size, rank);
    free(joined);
    return code;
}

void ek_before_init(void)
{
    ek_ending_watch();
    ek_host_threads_before();
    ek_host_waits_begin();
}

static void start(void)
{
    static _Atomic bool once;
    if (atomic_exchange(&once, true))
        return;
    host_threads = ek_host_threads_after();
    ek_host_resolve();
    int provided = MPI_THREAD_SINGLE;
    ek_host.Query_thread(&provided);
    ek_depth++;
    ek_process.is_threaded = provided == MPI_THREAD_MULTIPLE;
    int code = open_world(ek_process.is_threaded);
    ek_depth--;
    if (code)
        fprintf(stderr,
                "evenkeel: the MPI library refused what evenkeel needs at MPI_Init (error %d); it serves "
                "this program alone.\n",
                code);
    pthread_atfork(before_fork, NULL, forget_in_child);
    ek_host_waits_start();
    if (!ek_process.active)
        return;
    ek_deferral_start();
    ek_depth++;
    ek_messages_start();
    if (ek_process.carries_messages)
        ek_count_uncountable(); /* the host does not see them all */
    ek_depth--;
    ek_process.reports_messages = ek_message_calls_are_recorded();
    ek_process.records_messages |= ek_process.reports_messages;
}

void ek_after_init(bool succeeded)
{
    if (succeeded) {
        start();
        ek_traces_start();
    }
    ek_ending_forget();
}
