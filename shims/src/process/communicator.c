#include "process/communicator.h"
#include "process/state.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic(ek_comm_entry *) ek_comm_table[EK_COMM_TABLE_SIZE];
_Thread_local int ek_creating;
_Thread_local bool ek_duplicates_later;
_Atomic uint64_t ek_comm_count;

static int keyval = MPI_KEYVAL_INVALID;
static int world_size;
static MPI_Group world_group;

/* ---- entries ---- */

static ek_comm_entry *free_entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of free_entries */

static ek_comm_entry *new_entry(int size, int rank, const int *members)
{
    pthread_mutex_lock(&lock);
    ek_comm_entry *e = free_entries;
    if (e)
        free_entries = e->next_free;
    pthread_mutex_unlock(&lock);
    if (!e && !(e = calloc(1, sizeof *e)))
        return NULL;
    atomic_fetch_add(&ek_comm_count, 1);
    atomic_store(&e->handle, 0);
    atomic_store(&e->users, 1);
    e->engine = NULL;
    e->block = e->host_collectives = 0;
    e->served = e->on_one_node = false;
    e->duplicated_later = 0;
    e->size = size;
    e->rank = rank;
    e->name[0] = 0;
    e->members = malloc(sizeof(int) * (size_t)(size + !size));
    if (!e->members) {
        ek_comm_entry_drop(e);
        return NULL;
    }
    memcpy(e->members, members, sizeof(int) * (size_t)size);
    return e;
}

void ek_comm_entry_hold(ek_comm_entry *e) { atomic_fetch_add(&e->users, 1); }

void ek_comm_entry_drop(ek_comm_entry *e)
{
    if (atomic_fetch_sub(&e->users, 1) > 1)
        return;
    atomic_fetch_sub(&ek_comm_count, 1);
    if (e->engine && ek_process.active)
        ek_comm_detach(e->engine);
    free(e->members);
    e->members = NULL;
    e->engine = NULL;
    pthread_mutex_lock(&lock);
    e->next_free = free_entries;
    free_entries = e;
    pthread_mutex_unlock(&lock);
}

static void set_engine(ek_comm_entry *e, ek_comm *engine)
{
    e->engine = engine;
    e->block = engine ? ek_comm_block(engine) : 0;
    e->served = engine && !ek_process.has_devices && ek_comm_is_served(engine);
    e->on_one_node = engine && ek_comm_is_on_one_node(engine);
}

/* ---- the table ---- */

/* Each handle has two places, so that two communicators in use at once seldom drive each other out. */
static void enter(MPI_Comm comm, ek_comm_entry *e)
{
    uintptr_t handle = (uintptr_t)comm;
    size_t place = ek_hash(handle, EK_COMM_TABLE_BITS);
    if (atomic_load(&ek_comm_table[place]))
        place ^= 1;
    atomic_store(&e->handle, handle);
    atomic_store_explicit(&ek_comm_table[place], e, memory_order_release);
}

static void strike(MPI_Comm comm, ek_comm_entry *e)
{
    size_t place = ek_hash((uintptr_t)comm, EK_COMM_TABLE_BITS);
    for (size_t other = 0; other < 2; other++) {
        ek_comm_entry *expected = e;
        atomic_compare_exchange_strong(&ek_comm_table[place ^ other], &expected, NULL);
    }
    atomic_store(&e->handle, 0);
}

ek_comm_entry *ek_comm_find_slowly(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    uintptr_t handle = (uintptr_t)comm;
    size_t second = ek_hash(handle, EK_COMM_TABLE_BITS) ^ 1;
    ek_comm_entry *e = atomic_load_explicit(&ek_comm_table[second], memory_order_acquire);
    if (e && atomic_load(&e->handle) == handle)
        return e;
    /* Before the start, a tool may already call. In Open MPI, 0 is the key of MPI_TAG_UB. */
    if (keyval == MPI_KEYVAL_INVALID || comm == ek_handles.comm_null ||
        ek_host.Comm_get_attr(comm, keyval, &value, &found) || !found)
        return NULL;
    enter(comm, value);
    return value;
}

/* ---- the attribute ---- */

static void (*on_deletion)(MPI_Comm);

/* The segment has room for the ids of 64 duplicates that not all members have made. A rank that made more of
 * them ahead of the others would wait in MPI_Comm_idup, where MPI allows no waiting: what comes after so many
 * since the last MPI_Comm_dup, in which the ranks have met, is the host's. All members count alike. */
enum { MOST_DUPLICATED_LATER = 48 };

static bool may_be_served(ek_comm_entry *parent)
{
    if (ek_duplicates_later)
        return parent->duplicated_later < MOST_DUPLICATED_LATER && ++parent->duplicated_later;
    parent->duplicated_later = 0;
    return true;
}

/* A duplicate has the same members in the same order: every one of them derives its id from the parent's. */
static int copy_attribute(MPI_Comm old, int key, void *extra, void *value, void *copy, int *copied)
{
    (void)old, (void)key, (void)extra;
    ek_comm_entry *parent = value;
    ek_comm_entry *e =
        ek_process.active && !ek_creating ? new_entry(parent->size, parent->rank, parent->members) : NULL;
    *copied = e != NULL;
    if (!e)
        return MPI_SUCCESS;
    if (parent->engine)
        set_engine(e, may_be_served(parent) ? ek_comm_duplicate(parent->engine, e->members, e->size, e->rank)
                                            : ek_comm_attach(0, e->members, e->size, e->rank));
    *(void **)copy = e;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    strike(comm, value);
    ek_comm_entry_drop(value);
    if (on_deletion)
        on_deletion(comm);
    return MPI_SUCCESS;
}

/* ---- new communicators ---- */

/* The engine's part of a communicator on several nodes, from what all its members have reserved. */
static ek_comm *attach_spanning(MPI_Comm comm, const int *members, int size, int rank)
{
    ek_spanning_reservation mine = ek_comm_reserve_spanning(members, size, rank);
    ek_spanning_reservation *reserved = calloc((size_t)size, sizeof *reserved);
    ek_comm *engine = NULL;
    if (reserved &&
        !ek_host.Allgather(&mine, sizeof mine, ek_handles.byte, reserved, sizeof mine, ek_handles.byte, comm))
        engine = ek_comm_attach_spanning(reserved, members, size, rank);
    free(reserved);
    return engine;
}

/* `kept`: the engine keeps it, for the record at least. */
static int attach(MPI_Comm comm, uint64_t id, const int *members, int size, int rank, bool kept)
{
    ek_comm_entry *e = new_entry(size, rank, members);
    if (!e)
        return MPI_ERR_NO_MEM;
    if (kept && !id && ek_members_span_nodes(e->members, size))
        set_engine(e, attach_spanning(comm, e->members, size, rank));
    else if (kept)
        set_engine(e, ek_comm_attach(id, e->members, size, rank));
    int code = ek_host.Comm_set_attr(comm, keyval, e);
    if (code)
        ek_comm_entry_drop(e);
    else
        enter(comm, e);
    return code;
}

int ek_comms_open(int size, int rank)
{
    int code = ek_host.Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
    int *members = malloc(sizeof(int) * (size_t)size), zero = 0;
    if (!members)
        code = MPI_ERR_NO_MEM;
    for (int r = 0; !code && r < size; r++)
        members[r] = r;
    world_size = size;
    if (!code)
        code = ek_host.Comm_group(ek_handles.world, &world_group);
    if (!code)
        code = attach(ek_handles.world, ek_world_comm_id(), members, size, rank, size > 1);
    if (!code)
        code = attach(ek_handles.self, 0, &zero, 1, 0, false);
    if (!code)
        ek_comm_note_name(ek_handles.world, "MPI_COMM_WORLD");
    free(members);
    return code;
}

void ek_comms_on_deletion(void (*deleted)(MPI_Comm)) { on_deletion = deleted; }

void ek_comms_close(void)
{
    for (size_t place = 0; place < EK_COMM_TABLE_SIZE; place++)
        atomic_store(&ek_comm_table[place], NULL);
    ek_host.Group_free(&world_group);
    ek_host.Comm_free_keyval(&keyval);
}

/* World ranks of the members; false if one of them is of another world (spawned, connected). */
static bool members_of(MPI_Comm comm, int *members, int *ranks, int size)
{
    MPI_Group group;
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    if (ek_host.Comm_group(comm, &group))
        return false;
    bool all = !ek_host.Group_translate_ranks(group, size, ranks, world_group, members);
    ek_host.Group_free(&group);
    for (int r = 0; all && r < size; r++)
        all = members[r] >= 0 && members[r] < world_size;
    return all;
}

static void adopt(MPI_Comm comm, int size, int rank)
{
    int *members = malloc(2 * sizeof(int) * (size_t)size);
    if (!members)
        return;
    /* Processes of another world may not have evenkeel and cannot be asked. All members see that there are
     * some. */
    bool kept = members_of(comm, members, members + size, size) && size > 1;
    uint64_t id = 0;
    if (kept && !ek_members_span_nodes(members, size)) {
        if (rank == 0)
            id = ek_reserve_comm_id(members, size);
        if (ek_host.Bcast(&id, sizeof id, ek_handles.byte, 0, comm))
            id = 0;
    }
    attach(comm, id, members, size, rank, kept);
    free(members);
}

void ek_comm_adopt(MPI_Comm comm)
{
    int is_inter = 1, size = 0, rank = 0;
    if (!ek_serves_caller() || comm == ek_handles.comm_null)
        return;
    ek_depth++;
    if (!ek_host.Comm_test_inter(comm, &is_inter) && !is_inter && !ek_host.Comm_size(comm, &size) &&
        !ek_host.Comm_rank(comm, &rank))
        adopt(comm, size, rank);
    ek_depth--;
}

void ek_comm_note_name(MPI_Comm comm, const char *name)
{
    ek_comm_entry *e = ek_comm_find(comm);
    if (e)
        snprintf(e->name, sizeof e->name, "%s", name);
    if (e && e->engine)
        ek_comm_set_name(e->engine, name);
}
