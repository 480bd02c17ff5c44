/* Which communicators evenkeel knows.
 *
 * An attribute on each communicator leads to its entry; a table from handle to entry saves the look-up. The
 * attribute's callbacks see duplicates and deletions however they come about. All other new communicators are
 * adopted by the wrapper of the call that made them. */
#ifndef EK_PROCESS_COMMUNICATOR_H
#define EK_PROCESS_COMMUNICATOR_H
#include "evenkeel.h"
#include "host/hash.h"
#include "host/library.h"
#include <stdatomic.h>

enum { EK_COMM_NAME_BYTES = 32 };

typedef struct ek_comm_entry {
    _Atomic uintptr_t handle; /* the MPI_Comm, once seen */
    ek_comm *engine;          /* NULL: it has one member, and all calls are the host's */
    bool served;              /* evenkeel carries out collectives on it */
    bool on_one_node;         /* that, and all members are on this node: evenkeel can carry messages, too */
    int size, rank;
    int *members;                  /* world ranks */
    uint64_t block;                /* of the segment, by its offset; 0: none */
    int duplicated_later;          /* by MPI_Comm_idup, since the last MPI_Comm_dup */
    uint64_t host_collectives;     /* blocking ones that were left to the host */
    char name[EK_COMM_NAME_BYTES]; /* as far as it fits, for those who look from outside */
    _Atomic int users; /* the communicator itself, and the nonblocking collectives under way on it */
    struct ek_comm_entry *next_free;
} ek_comm_entry;

int ek_comms_open(int size, int rank); /* an MPI error code */

/* From now on, `deleted` is called when the host deletes the shim's attribute of a communicator. */
void ek_comms_on_deletion(void (*deleted)(MPI_Comm));
void ek_comms_close(void);

enum { EK_COMM_TABLE_BITS = 10, EK_COMM_TABLE_SIZE = 1 << EK_COMM_TABLE_BITS };
extern EK_HIDDEN _Atomic(ek_comm_entry *) ek_comm_table[EK_COMM_TABLE_SIZE];

/* How many communicators have an entry, in the table or not. */
extern EK_HIDDEN _Atomic uint64_t ek_comm_count;

/* The slow part of ek_comm_find. */
ek_comm_entry *ek_comm_find_slowly(MPI_Comm);

/* Returns a communicator's entry; NULL if evenkeel does not know it. Entries are never given back to the
 * allocator, so a stale one may be read. */
static inline ek_comm_entry *ek_comm_find(MPI_Comm comm)
{
    uintptr_t handle = (uintptr_t)comm;
    size_t place = ek_hash(handle, EK_COMM_TABLE_BITS);
    ek_comm_entry *e = atomic_load_explicit(&ek_comm_table[place], memory_order_acquire);
    if (EK_LIKELY(e && atomic_load_explicit(&e->handle, memory_order_relaxed) == handle))
        return e;
    return ek_comm_find_slowly(comm);
}

/* Before the host carries out a blocking collective, so that those who look from outside see who has come. */
static inline void ek_count_host_collective(ek_comm_entry *e)
{
    if (e)
        __atomic_store_n(&e->host_collectives, e->host_collectives + 1, __ATOMIC_RELEASE);
}

/* To be called by every member of a new communicator. */
void ek_comm_adopt(MPI_Comm);
void ek_comm_note_name(MPI_Comm, const char *name);

/* To be called when an operation on the communicator begins and ends: the entry then outlives the
 * communicator. */
void ek_comm_entry_hold(ek_comm_entry *);
void ek_comm_entry_drop(ek_comm_entry *);

/* > 0: this thread is in a call whose new communicator will be adopted. Some hosts (Open MPI's
 * MPI_Comm_create_group) copy the parent's attributes to it, on its members only: that must not count as a
 * duplicate. */
extern EK_HIDDEN _Thread_local int ek_creating __attribute__((tls_model("initial-exec")));

/* This thread is inside MPI_Comm_idup, which waits for no other rank. */
extern EK_HIDDEN _Thread_local bool ek_duplicates_later __attribute__((tls_model("initial-exec")));

static inline void ek_duplicating_end(const bool *before) { ek_duplicates_later = *before; }

/* Sets it to the end of the block, also if an exception of the program's passes through. */
#define EK_DUPLICATING_LATER_SCOPE                                                                    \
    bool duplicated_later __attribute__((cleanup(ek_duplicating_end), unused)) = ek_duplicates_later; \
    ek_duplicates_later = true

static inline void ek_creating_end(int *unused) { (void)unused, ek_creating--; }

/* That is so until the block ends. */
#define EK_CREATING_SCOPE int creating __attribute__((cleanup(ek_creating_end), unused)) = ek_creating++

#endif
