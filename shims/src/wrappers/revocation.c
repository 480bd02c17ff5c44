/* Communicators that the program revokes, by the calls that some libraries have for programs that survive
 * faults, and members that die. The library refuses what is called on such a communicator afterwards; what is
 * under way in evenkeel's hands is ended here. */
#include "shim.h"
#include <time.h>

#if defined(MPI_ERR_REVOKED)
#define REVOKED MPI_ERR_REVOKED
#elif defined(MPIX_ERR_REVOKED)
#define REVOKED MPIX_ERR_REVOKED
#endif
#if defined(MPI_ERR_PROC_FAILED)
#define LOST_MEMBER MPI_ERR_PROC_FAILED
#elif defined(MPIX_ERR_PROC_FAILED)
#define LOST_MEMBER MPIX_ERR_PROC_FAILED
#endif

#ifdef LOST_MEMBER
enum { KNOWN_WITHIN_MS = 2000 };

/* Whether the library knows of all ranks of this host that have died. */
static bool all_known(int (*get_failed)(MPI_Comm, MPI_Group *))
{
    MPI_Group failed, world;
    int size;
    bool known = true;
    ek_host.Comm_size(ek_handles.world, &size);
    if (get_failed(ek_handles.world, &failed))
        return true;
    if (!ek_host.Comm_group(ek_handles.world, &world)) {
        for (int rank = 0, there; known && rank < size; rank++)
            known =
                !ek_world_has_died(rank) ||
                (!ek_host.Group_translate_ranks(world, 1, &rank, failed, &there) && there != MPI_UNDEFINED);
        ek_host.Group_free(&world);
    }
    ek_host.Group_free(&failed);
    return known;
}

/* The kernel tells evenkeel of a death before the launcher tells the library. A program that has been told
 * shrinks its communicators by what the library knows, so it is told when the library knows, too. */
static void await_knowledge(void)
{
    int (*get_failed)(MPI_Comm, MPI_Group *) =
        (int (*)(MPI_Comm, MPI_Group *))ek_host_function("PMPIX_Comm_get_failed");
    if (!get_failed)
        return;
    for (int ms = 0; ms < KNOWN_WITHIN_MS; ms++) {
        ek_depth++;
        bool known = all_known(get_failed);
        ek_depth--;
        if (known)
            return;
        ek_host_progress();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
#endif

int ek_error_class(int error)
{
#ifdef REVOKED
    if (error == EK_REVOKED)
        return REVOKED;
#endif
#ifdef LOST_MEMBER
    if (error == EK_LOST_MEMBER) {
        await_knowledge();
        return LOST_MEMBER;
    }
#endif
    (void)error;
    return MPI_ERR_OTHER;
}

/* Whether the library reports faults to this program: then it must be able to report them in a barrier too.
 * Open MPI does so when its launcher was told --with-ft. */
bool ek_handles_faults(void)
{
    const char *told = getenv("OMPI_MCA_mpi_ft_enable");
    return told && *told && strcmp(told, "0") && strcmp(told, "false");
}

#ifdef REVOKED
typedef int revocation(MPI_Comm);

static int revoke(MPI_Comm comm, const char *name)
{
    revocation *next = (revocation *)ek_host_function(name);
    if (!next)
        ek_missing(name);
    ek_entry *e = ek_mine() ? ek_find(comm) : NULL;
    ek_depth++;
    int code = next(comm);
    ek_depth--;
    if (code == MPI_SUCCESS && e && e->ek)
        ek_comm_revoke(e->ek);
    return code;
}

/* Generated wrappers are of the standard's functions, which these are not. */
#define REVOKES(name)                                               \
    __attribute__((visibility("default"))) int name(MPI_Comm comm); \
    __attribute__((visibility("default"))) int name(MPI_Comm comm) { return revoke(comm, #name); }
REVOKES(MPIX_Comm_revoke)
REVOKES(PMPIX_Comm_revoke)
#ifdef EK_HAS_Comm_revoke
REVOKES(MPI_Comm_revoke)
REVOKES(PMPI_Comm_revoke)
#endif

/* Open MPI copies attributes to what is left of a communicator, as to a duplicate; but a duplicate has all
 * members. What is left is the library's. */
static int shrink(MPI_Comm comm, MPI_Comm *rest, const char *name)
{
    int (*next)(MPI_Comm, MPI_Comm *) = (int (*)(MPI_Comm, MPI_Comm *))ek_host_function(name);
    if (!next)
        ek_missing(name);
    ek_depth++;
    ek_creating++;
    int code = next(comm, rest);
    ek_creating--;
    ek_depth--;
    return code;
}

#define SHRINKS(name)                                                               \
    __attribute__((visibility("default"))) int name(MPI_Comm comm, MPI_Comm *rest); \
    __attribute__((visibility("default"))) int name(MPI_Comm comm, MPI_Comm *rest)  \
    {                                                                               \
        return shrink(comm, rest, #name);                                           \
    }
SHRINKS(MPIX_Comm_shrink)
SHRINKS(PMPIX_Comm_shrink)
#ifdef EK_HAS_Comm_shrink
SHRINKS(MPI_Comm_shrink)
SHRINKS(PMPI_Comm_shrink)
#endif
#endif
