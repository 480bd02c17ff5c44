#define _GNU_SOURCE
#include "trace/times.h"
#include "process/communicator.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unwind.h>

ek_timed_process ek_times;
const ek_times_observer *ek_times_observed_by;
_Thread_local ek_timed_thread ek_times_thread;

uint32_t ek_times_number_thread(void)
{
    static _Atomic uint32_t threads;
    return ek_times_thread.number = atomic_fetch_add(&threads, 1) + 1;
}

int ek_times_special_peer(int peer)
{
    if (peer == MPI_PROC_NULL)
        return EK_TIMES_PROC_NULL;
    if (peer == MPI_ANY_SOURCE)
        return EK_TIMES_ANY;
    return peer == MPI_ROOT ? EK_TIMES_ROOT : EK_TIMES_NO_PEER;
}

/* ---- turns of threads ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ek_times_take_turn(void)
{
    if (EK_UNLIKELY(ek_process.is_threaded))
        pthread_mutex_lock(&lock);
}

void ek_times_leave_turn(void)
{
    if (EK_UNLIKELY(ek_process.is_threaded))
        pthread_mutex_unlock(&lock);
}

/* ---- where the call comes from ---- */

uint64_t ek_times_sites[EK_SITES];

static bool is_of_mpi(const void *address)
{
    Dl_info found;
    if (!dladdr(address, &found) || !found.dli_fname)
        return false;
    const char *name = strrchr(found.dli_fname, '/');
    name = name ? name + 1 : found.dli_fname;
    return !strncmp(name, "libmpi", 6) || !strncmp(name, "libpmpi", 7) || !strncmp(name, "libevenkeel-", 12);
}

struct search {
    const void *address; /* outside MPI; NULL: not found */
    const char *place;   /* where it lies on the stack */
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *given)
{
    struct search *search = given;
    const void *address = (const void *)_Unwind_GetIP(context);
    if (!address || is_of_mpi(address))
        return _URC_NO_REASON;
    search->address = address;
    search->place = (const char *)_Unwind_GetCFA(context) - sizeof(void *);
    return _URC_NORMAL_STOP;
}

const void *ek_times_site_slowly(const void *address, const char *frame)
{
    uint64_t words = 0;
    const void *site = address;
    if (is_of_mpi(address)) {
        struct search search = {NULL, NULL};
        _Unwind_Backtrace(look_at, &search);
        ptrdiff_t above = search.address ? search.place - frame : 0;
        if (above <= 0)
            return search.address ? search.address : address;
        site = search.address;
        words = (uint64_t)above / sizeof(void *);
        /* Functions of MPI's Fortran libraries have frames of fixed size, so the next call finds the address
         * without unwinding. */
        if (words > 0xffff || *(const void *const *)search.place != site)
            return site;
    }
    __atomic_store_n(&ek_times_sites[((uintptr_t)address >> 1) % EK_SITES], (uintptr_t)address << 16 | words,
                     __ATOMIC_RELAXED);
    return site;
}

/* ---- communicators ---- */

int *ek_times_world_ranks(MPI_Group group, int *count)
{
    MPI_Group world;
    ek_host.Group_size(group, count);
    int *ranks = malloc((size_t)*count * 2 * sizeof *ranks + 1), *own = ranks + *count;
    if (ranks) {
        for (int i = 0; i < *count; i++)
            own[i] = i;
        ek_host.Comm_group(ek_handles.world, &world);
        ek_host.Group_translate_ranks(group, *count, own, world, ranks);
        ek_host.Group_free(&world);
        for (int i = 0; i < *count; i++)
            ranks[i] = ranks[i] < 0 ? EK_TIMES_NO_PEER : ranks[i];
    } else {
        *count = 0;
    }
    ek_host.Group_free(&group);
    return ranks;
}

/* The number of a communicator, which gets one if it has none; 0: it is none. */
static uint32_t number_of(MPI_Comm comm)
{
    uintptr_t handle = (uintptr_t)comm;
    uint32_t number = handle && comm != ek_handles.comm_null ? ek_times_comm(handle) : 0;
    if (number || !handle || comm == ek_handles.comm_null)
        return number;
    int is_inter = 0, count, remote_count = 0, *remote = NULL;
    MPI_Group group;
    ek_depth++;
    ek_host.Comm_test_inter(comm, &is_inter);
    ek_host.Comm_group(comm, &group);
    int *members = ek_times_world_ranks(group, &count);
    if (is_inter) {
        ek_host.Comm_remote_group(comm, &group);
        remote = ek_times_world_ranks(group, &remote_count);
    }
    ek_depth--;
    number = ek_times_define_comm(handle, members, count, remote, remote_count);
    free(members);
    free(remote);
    return number;
}

void ek_timed_comm_made(MPI_Comm comm)
{
    ek_times_take_turn();
    number_of(comm);
    ek_times_leave_turn();
}

void ek_timed_comm_named(MPI_Comm comm, const char *name)
{
    ek_times_take_turn();
    ek_times_name_comm(number_of(comm), name);
    ek_times_leave_turn();
}

void ek_timed_comm_freed(ek_timed *t, MPI_Comm comm)
{
    t->call.comm = (uintptr_t)comm;
    t->frees_handle = true;
    ek_timed_comm_made(comm);
}

/* ---- a call ---- */

static int64_t bytes_of(const ek_timed_call *call)
{
    if (call->count <= 0 || !call->datatype)
        return call->count;
    /* Arguments of calls that have failed, or whose peer is MPI_PROC_NULL, need not be valid. */
    if (call->marks & EK_TIMES_FAILED || call->peer == EK_TIMES_PROC_NULL ||
        (MPI_Datatype)call->datatype == ek_handles.type_null)
        return -1;
    MPI_Count size = -1;
    ek_depth++;
    ek_host.Type_size_x((MPI_Datatype)call->datatype, &size);
    ek_depth--;
    return size < 0 ? -1 : call->count * (int64_t)size;
}

static __attribute__((noinline, cold)) void describe(const ek_timed_call *call, uint64_t exit)
{
    bool has_comm = call->comm && !(call->marks & EK_TIMES_FAILED);
    ek_timed_shape shape = {
        .comm = has_comm ? number_of((MPI_Comm)call->comm) : ek_times_comm(call->comm),
        .bytes = bytes_of(call),
    };
    ek_times_describe(call, exit, &shape);
}

void ek_timed_call_end(ek_timed *t)
{
    uint64_t exit = ek_times_now();
    if (EK_LIKELY(t->call.thread == 0))
        __atomic_store_n(&ek_times.open->entry, 0, __ATOMIC_RELEASE);
    ek_times_take_turn();
    if (EK_LIKELY(ek_times.is_on)) {
        if (EK_UNLIKELY(!ek_times_call(&t->call, exit)))
            describe(&t->call, exit);
        if (EK_UNLIKELY(t->frees_handle))
            ek_times_forget_handle(t->call.comm);
        if (EK_UNLIKELY(t->is_checked))
            ek_times_observed_by->call_over(t->call.thread, t->call.marks & EK_TIMES_FAILED);
    }
    ek_times_leave_turn();
    ek_times_thread.depth--;
}

/* ---- receives ---- */

static int64_t bytes_received(const MPI_Status *status)
{
    int count = 0;
    ek_depth++;
    int code = ek_host.Get_count((MPI_Status *)status, ek_handles.byte, &count);
    ek_depth--;
    return code || count < 0 ? -1 : count;
}

void ek_timed_received(ek_timed *t, const MPI_Status *status)
{
    t->call.peer = ek_times_peer(status->MPI_SOURCE);
    t->call.tag = ek_times_tag(status->MPI_TAG);
    t->call.count = bytes_received(status);
    t->call.datatype = 0;
}

void ek_timed_received_second(ek_timed *t, const MPI_Status *status)
{
    t->call.second_peer = ek_times_peer(status->MPI_SOURCE);
    t->call.second_tag = ek_times_tag(status->MPI_TAG);
    t->call.second_bytes = bytes_received(status);
}

void ek_timed_second(ek_timed *t, int source, int tag, MPI_Count count, MPI_Datatype type)
{
    ek_timed_call capacity = {.count = count, .datatype = (uintptr_t)type, .peer = ek_times_peer(source)};
    t->call.second_peer = capacity.peer;
    t->call.second_tag = ek_times_tag(tag);
    t->call.second_bytes = bytes_of(&capacity);
}

void ek_timed_persistent(ek_timed *t, MPI_Request request, bool sends)
{
    ek_times_take_turn();
    ek_times_persistent((uintptr_t)request, number_of((MPI_Comm)t->call.comm), sends, t->call.peer,
                        t->call.tag, bytes_of(&t->call));
    ek_times_leave_turn();
}

/* ---- requests ---- */

/* Requests of the call that this thread is in, and statuses in place of those that the program does not want.
 */
static _Thread_local struct {
    int room;
    ek_timed_request *requests;
    MPI_Status *statuses;
} waited __attribute__((tls_model("initial-exec")));

enum { NOT_COMPLETE = INT32_MIN };

static bool make_room(int count)
{
    if (EK_LIKELY(count <= waited.room))
        return true;
    int room = count < 64 ? 64 : 2 * count;
    free(waited.requests);
    free(waited.statuses);
    waited.requests = malloc((size_t)room * sizeof *waited.requests);
    waited.statuses = malloc((size_t)room * sizeof *waited.statuses);
    waited.room = waited.requests && waited.statuses ? room : 0;
    return waited.room != 0;
}

void ek_timed_await(ek_timed *t, int count, const MPI_Request *requests, MPI_Status **statuses)
{
    if (count <= 0 || !requests || !make_room(count))
        return;
    bool has_receives = false;
    ek_times_take_turn();
    for (int i = 0; i < count; i++) {
        uintptr_t handle = (uintptr_t)requests[i];
        uint64_t receive = ek_times_receive_of(handle);
        has_receives |= receive != 0;
        waited.requests[i] = (ek_timed_request){
            .handle = receive ? handle : 0, .receive = receive, .bytes = -1, .source = NOT_COMPLETE};
    }
    ek_times_leave_turn();
    if (!has_receives)
        return;
    t->call.requests = waited.requests;
    t->call.request_count = count;
    if (*statuses == MPI_STATUSES_IGNORE || *statuses == MPI_STATUS_IGNORE)
        *statuses = waited.statuses;
}

void ek_timed_start(ek_timed *t, int count, const MPI_Request *requests)
{
    if (count <= 0 || !requests || !make_room(count))
        return;
    for (int i = 0; i < count; i++)
        waited.requests[i] =
            (ek_timed_request){.handle = (uintptr_t)requests[i], .bytes = -1, .source = NOT_COMPLETE};
    t->call.requests = waited.requests;
    t->call.request_count = count;
    t->call.starts = true;
}

static void complete(ek_timed_request *request, const MPI_Status *status)
{
    if (!request->handle)
        return;
    int was_cancelled = 0;
    if (EK_UNLIKELY(ek_times.has_cancelled))
        ek_host.Test_cancelled((MPI_Status *)status, &was_cancelled);
    request->source = was_cancelled ? EK_TIMES_NO_PEER : ek_times_peer(status->MPI_SOURCE);
    request->tag = ek_times_tag(status->MPI_TAG);
    request->bytes = was_cancelled ? -1 : bytes_received(status);
}

void ek_timed_all_complete(ek_timed *t, const MPI_Status *statuses)
{
    for (int i = 0; i < t->call.request_count; i++)
        complete(&waited.requests[i], &statuses[i]);
}

void ek_timed_one_complete(ek_timed *t, int index, const MPI_Status *status)
{
    if (index < 0 || index >= t->call.request_count) {
        t->call.request_count = 0;
        return;
    }
    complete(&waited.requests[index], status);
    t->call.requests = &waited.requests[index];
    t->call.request_count = 1;
}

void ek_timed_some_complete(ek_timed *t, int count, const int *indices, const MPI_Status *statuses)
{
    if (!t->call.request_count)
        return;
    for (int i = 0; i < count; i++)
        complete(&waited.requests[indices[i]], &statuses[i]);
    for (int i = 0; i < t->call.request_count; i++)
        if (waited.requests[i].source == NOT_COMPLETE)
            waited.requests[i].handle = 0;
}

void ek_timed_forget_request(MPI_Request request)
{
    ek_times_take_turn();
    ek_times_forget_request((uintptr_t)request);
    ek_times_leave_turn();
}

/* ---- start and end ---- */

uint64_t ek_times_before_init(void)
{
    if (!ek_times_wanted())
        return 0;
    ek_times.uses_counter = ek_times_use_counter();
    return ek_times_now();
}

void ek_times_start(int rank, int size, uint64_t run)
{
    ek_times.open = ek_times_open((uint32_t)rank, (uint32_t)size, run);
    if (!ek_times.open)
        return;
    ek_times_number_thread();
    number_of(ek_handles.world);
    number_of(ek_handles.self);
    ek_times.is_on = true;
    ek_process.records_messages = true;
}

void ek_times_init_over(const ek_timed_function *function, const void *site, uint64_t entry)
{
    if (!ek_times.is_on)
        return;
    ek_timed t;
    ek_timed_call_begin(&t, function, site, 0, EK_TIMES_NO_PEER, EK_TIMES_NO_TAG, EK_TIMES_OTHER);
    t.call.entry = entry;
    if (ek_times_observed_by)
        ek_times_observed_by->init_over(&t, function->name);
    ek_timed_over(&t, MPI_SUCCESS);
    ek_timed_call_end(&t);
}

void ek_times_end(void)
{
    if (!ek_times.is_on)
        return;
    ek_times_take_turn();
    ek_times.is_on = false;
    if (ek_times_observed_by)
        ek_times_observed_by->end();
    ek_times_finish();
    ek_times_leave_turn();
}

void ek_times_stop(void)
{
    ek_times.is_on = false;
    if (ek_times_observed_by)
        ek_times_observed_by->stop();
    ek_times_forget();
}
