#include "process/faults.h"
#include "evenkeel.h"
#include "host/library.h"
#include "process/host_progress.h"
#include "process/state.h"
#include <stdlib.h>
#include <string.h>
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

typedef int get_failed_function(MPI_Comm, MPI_Group *);

/* Whether the host knows of all ranks of this node that have died. */
static bool host_knows_the_dead(get_failed_function *get_failed)
{
    MPI_Group failed, world;
    int size, there;
    bool knows = true;
    ek_host.Comm_size(ek_handles.world, &size);
    if (get_failed(ek_handles.world, &failed))
        return true;
    if (!ek_host.Comm_group(ek_handles.world, &world)) {
        for (int rank = 0; knows && rank < size; rank++)
            knows =
                !ek_rank_has_died(rank) ||
                (!ek_host.Group_translate_ranks(world, 1, &rank, failed, &there) && there != MPI_UNDEFINED);
        ek_host.Group_free(&world);
    }
    ek_host.Group_free(&failed);
    return knows;
}

/* The kernel tells evenkeel of a death before the launcher tells the host. A program that has been told
 * shrinks its communicators by what the host knows, so it is told when the host knows, too. */
static void wait_for_the_host(void)
{
    get_failed_function *get_failed = (get_failed_function *)ek_host_function("PMPIX_Comm_get_failed");
    if (!get_failed)
        return;
    for (int ms = 0; ms < KNOWN_WITHIN_MS; ms++) {
        ek_depth++;
        bool known = host_knows_the_dead(get_failed);
        ek_depth--;
        if (known)
            return;
        ek_host_progress();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
#endif

bool ek_host_reports_faults(void)
{
    const char *enabled = getenv("OMPI_MCA_mpi_ft_enable");
    return enabled && *enabled && strcmp(enabled, "0") && strcmp(enabled, "false");
}

int ek_error_class(int code)
{
#ifdef REVOKED
    if (code == EK_REVOKED)
        return REVOKED;
#endif
#ifdef LOST_MEMBER
    if (code == EK_LOST_MEMBER) {
        wait_for_the_host();
        return LOST_MEMBER;
    }
#endif
    (void)code;
    return MPI_ERR_OTHER;
}
