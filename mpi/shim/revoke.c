/* Communicators that the program revokes, by the calls that some libraries have for programs that survive faults. The
 * library refuses what is called on such a communicator afterwards; what is under way in evenkeel's hands is ended here. */
#include "shim.h"

#if defined(MPI_ERR_REVOKED)
#define REVOKED MPI_ERR_REVOKED
#elif defined(MPIX_ERR_REVOKED)
#define REVOKED MPIX_ERR_REVOKED
#endif

int ek_error_class(int error)
{
#ifdef REVOKED
    if (error == EK_REVOKED)
        return REVOKED;
#endif
    (void)error;
    return MPI_ERR_OTHER;
}

/* Whether the library reports faults to this program: then it must be able to report them in a barrier too. Open MPI does so
 * when its launcher was told --with-ft. */
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
#define REVOKES(name) \
    __attribute__((visibility("default"))) int name(MPI_Comm comm); \
    __attribute__((visibility("default"))) int name(MPI_Comm comm) { return revoke(comm, #name); }
REVOKES(MPIX_Comm_revoke)
REVOKES(PMPIX_Comm_revoke)
#ifdef EK_HAS_Comm_revoke
REVOKES(MPI_Comm_revoke)
REVOKES(PMPI_Comm_revoke)
#endif
#endif
