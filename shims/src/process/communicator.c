/* Communicators: an attribute on each tells evenkeel's name for it; a table from handle to entry saves the
 * look-up.
 *
 * The attribute's callbacks see duplicates and deaths however they come about. All other new communicators
 * are adopted by the wrapper of the call that made them. */
#include "shim.h"
#include <pthread.h>

_Atomic(ek_entry *) ek_slots[EK_SLOTS];

_Thread_local int ek_creating;

static int keyval;
static int world_size;
static MPI_Group world_group;
static ek_entry *free_entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ek_entry *new_entry(int size, int rank, const int *members)
{
    pthread_mutex_lock(&lock);
    ek_entry *e = free_entries;
    if (e)
        free_entries = e->next_free;
    pthread_mutex_unlock(&lock);
    if (!e && !(e = calloc(1, sizeof *e)))
        return NULL;
    e->members = malloc(sizeof(int) * (size_t)(size + !size));
    if (!e->members) {
        ek_entry_release(e);
        return NULL;
    }
    memcpy(e->members, members, sizeof(int) * (size_t)size);
    e->size = size;
    e->rank = rank;
    e->ek = NULL;
    e->pending = 0;
    e->doomed = false;
    atomic_store(&e->handle, 0);
    return e;
}

void ek_entry_release(ek_entry *e)
{
    if (e->ek && ek_active)
        ek_comm_detach(e->ek);
    free(e->members);
    e->members = NULL;
    e->ek = NULL;
    pthread_mutex_lock(&lock);
    e->next_free = free_entries;
    free_entries = e;
    pthread_mutex_unlock(&lock);
}

static void enter(MPI_Comm comm, ek_entry *e)
{
    /* Two places for each handle, so that two communicators in use at once seldom drive each other out. */
    uintptr_t key = (uintptr_t)comm;
    size_t place = ek_hash(key, 10);
    if (atomic_load(&ek_slots[place]))
        place ^= 1;
    atomic_store(&e->handle, key);
    atomic_store_explicit(&ek_slots[place], e, memory_order_release);
}

ek_entry *ek_find_slowly(MPI_Comm comm)
{
    void *value = NULL;
    int flag = 0;
    uintptr_t key = (uintptr_t)comm;
    ek_entry *e = atomic_load_explicit(&ek_slots[ek_hash(key, 10) ^ 1], memory_order_acquire);
    if (e && atomic_load(&e->handle) == key)
        return e;
    if (comm == ek_handles.comm_null || ek_host.Comm_get_attr(comm, keyval, &value, &flag) || !flag)
        return NULL;
    enter(comm, value);
    return value;
}

/* A duplicate has the same members in the same order: every one of them derives its id from the parent's. */
static int copied(MPI_Comm old, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)old, (void)key, (void)extra;
    const ek_entry *parent = value;
    ek_entry *e = ek_active && !ek_creating ? new_entry(parent->size, parent->rank, parent->members) : NULL;
    *flag = e != NULL;
    if (!e)
        return MPI_SUCCESS;
    if (parent->ek)
        e->ek = ek_comm_duplicate(parent->ek, e->members, e->size, e->rank);
    *(void **)copy = e;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    ek_entry *e = value;
    size_t place = ek_hash((uintptr_t)comm, 10);
    for (int way = 0; way < 2; way++) {
        ek_entry *expected = e;
        atomic_compare_exchange_strong(&ek_slots[place ^ (size_t)way], &expected, NULL);
    }
    atomic_store(&e->handle, 0);
    if (ek_entry_forsake(e))
        ek_entry_release(e);
    return MPI_SUCCESS;
}

/* The engine's part of a communicator across nodes, from what all its members offer. */
static ek_comm *attach_across(MPI_Comm comm, const int *members, int size, int rank)
{
    ek_offer mine = ek_across_offer(members, size, rank), *offers = calloc((size_t)size, sizeof *offers);
    ek_comm *made = NULL;
    if (offers &&
        !ek_host.Allgather(&mine, sizeof mine, ek_handles.byte, offers, sizeof mine, ek_handles.byte, comm))
        made = ek_across_attach(offers, members, size, rank);
    free(offers);
    return made;
}

static int attach(MPI_Comm comm, uint64_t id, const int *members, int size, int rank, bool known)
{
    ek_entry *e = new_entry(size, rank, members);
    if (!e)
        return MPI_ERR_NO_MEM;
    if (known && !id && ek_spans(e->members, size))
        e->ek = attach_across(comm, e->members, size, rank);
    else if (known)
        e->ek = ek_comm_attach(id, e->members, size, rank);
    int code = ek_host.Comm_set_attr(comm, keyval, e);
    if (code)
        ek_entry_release(e);
    else
        enter(comm, e);
    return code;
}

int ek_comms_open(int size, int rank)
{
    int code = ek_host.Comm_create_keyval(copied, deleted, &keyval, NULL);
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
        ek_named(ek_handles.world, "MPI_COMM_WORLD");
    free(members);
    return code;
}

void ek_comms_close(void)
{
    for (size_t i = 0; i < EK_SLOTS; i++)
        atomic_store(&ek_slots[i], NULL);
    ek_host.Group_free(&world_group);
    ek_host.Comm_free_keyval(&keyval);
}

/* World ranks of the members; false if one of them is not of this world (spawned, connected). */
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

void ek_adopt(MPI_Comm comm)
{
    int inter = 1, size = 0, rank = 0;
    if (!ek_mine() || comm == ek_handles.comm_null)
        return;
    ek_depth++;
    if (!ek_host.Comm_test_inter(comm, &inter) && !inter && !ek_host.Comm_size(comm, &size) &&
        !ek_host.Comm_rank(comm, &rank)) {
        int *members = malloc(2 * sizeof(int) * (size_t)size);
        if (members) {
            /* Strangers may not have evenkeel: they cannot be asked. All members see that there are some. */
            bool one_world = members_of(comm, members, members + size, size);
            uint64_t id = 0;
            if (one_world && size > 1 && !ek_spans(members, size)) {
                if (rank == 0)
                    id = ek_fresh_id(members, size);
                if (ek_host.Bcast(&id, sizeof id, ek_handles.byte, 0, comm))
                    id = 0;
            }
            attach(comm, id, members, size, rank, one_world && size > 1);
            free(members);
        }
    }
    ek_depth--;
}

void ek_named(MPI_Comm comm, const char *name)
{
    ek_entry *e = ek_find(comm);
    if (e && e->ek)
        ek_comm_name(e->ek, name);
}
