#define _GNU_SOURCE
#include "gate/origin.h"
#include "process/state.h"
#include <string.h>

/* Beginnings of the names of objects that belong to MPI: what they make is theirs. */
static const char *const mpi_objects[] = {
    "libevenkeel-", "libmpi", "libopen-", "libpmix",   "libprrte",   "libevent",  "libhwloc", "libucp",
    "libuct",       "libucs", "libucm",   "libfabric", "libpsm",     "libxpmem",  "libmunge", "mca_",
    "pmix_",        "prte_",  "ld-linux", "libcuda",   "libibverbs", "librdmacm", "libpmi",   NULL};

/* Whether the code at this address is the program's. */
bool ek_is_program(const void *address)
{
    Dl_info object;
    if (ek_depth)
        return false;
    if (!dladdr(address, &object) || !object.dli_fname)
        return true;
    const char *slash = strrchr(object.dli_fname, '/'), *name = slash ? slash + 1 : object.dli_fname;
    for (const char *const *prefix = mpi_objects; *prefix; prefix++)
        if (!strncmp(name, *prefix, strlen(*prefix)))
            return false;
    return true;
}
