/* Wrappers of MPIX_Comm_revoke and MPIX_Comm_shrink, which some libraries have for programs that survive
 * faults. They are not generated, as they are not in the standard. After a revocation the host refuses calls
 * on the communicator; what is under way in evenkeel is ended here. */
#include "process/communicator.h"
#include "process/state.h"

#if defined(MPI_ERR_REVOKED) || defined(MPIX_ERR_REVOKED)

typedef int revoke_function(MPI_Comm);

static int revoke(MPI_Comm comm, const char *name)
{
    revoke_function *next = (revoke_function *)ek_host_definition(name);
    const ek_comm_entry *e = ek_serves_caller() ? ek_comm_find(comm) : NULL;
    ek_depth++;
    int code = next(comm);
    ek_depth--;
    if (code == MPI_SUCCESS && e && e->engine)
        ek_comm_revoke(e->engine);
    return code;
}

#define REVOKE(name)                  \
    EK_ENTRY int name(MPI_Comm comm); \
    EK_ENTRY int name(MPI_Comm comm) { return revoke(comm, #name); }
REVOKE(MPIX_Comm_revoke)
REVOKE(PMPIX_Comm_revoke)
#ifdef EK_HAS_Comm_revoke
REVOKE(MPI_Comm_revoke)
REVOKE(PMPI_Comm_revoke)
#endif

typedef int shrink_function(MPI_Comm, MPI_Comm *);

/* Open MPI copies attributes to a shrunk communicator, as to a duplicate; but a duplicate has all members.
 * Collectives on a shrunk communicator are the host's. */
static int shrink(MPI_Comm comm, MPI_Comm *rest, const char *name)
{
    shrink_function *next = (shrink_function *)ek_host_definition(name);
    ek_depth++;
    ek_creating++;
    int code = next(comm, rest);
    ek_creating--;
    ek_depth--;
    return code;
}

#define SHRINK(name)                                  \
    EK_ENTRY int name(MPI_Comm comm, MPI_Comm *rest); \
    EK_ENTRY int name(MPI_Comm comm, MPI_Comm *rest) { return shrink(comm, rest, #name); }
SHRINK(MPIX_Comm_shrink)
SHRINK(PMPIX_Comm_shrink)
#ifdef EK_HAS_Comm_shrink
SHRINK(MPI_Comm_shrink)
SHRINK(PMPI_Comm_shrink)
#endif

#endif
