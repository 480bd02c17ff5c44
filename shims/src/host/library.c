/* Finding the host: the definition of each MPI function that comes after the shim's own.
 *
 * Usually the program is linked with its MPI library, which is then in the global scope: dlsym(RTLD_NEXT),
 * which also finds other preloaded tools. Python loads it later and privately: then it is found among the
 * loaded objects. */
#define _GNU_SOURCE
#include "host/library.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOT_FOUND_EXIT_CODE = 127 };

struct ek_host ek_host;
struct ek_handles ek_handles;
bool (*ek_host_set_yield)(bool yields);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool resolved;
static void *library; /* where to look when RTLD_NEXT has nothing */

EK_ENTRY const char evenkeel_shim_version[] = EK_VERSION " " EK_SHIM;

/* Libraries whose handles are laid out as in the mpi.h that this shim was made with; and all that are
 * known. */
static const char *const fitting[] = {EK_SONAMES, NULL};
static const char *const known[] = {"libmpi.so.40",    "libmpich.so.12",  "libmpi.so.12",
                                    "libmpi_abi.so.0", "libmpi_abi.so.1", NULL};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (!strncmp(name, *list, strlen(*list)))
            return true;
    return false;
}

/* Takes a loaded object that defines PMPI_Init and is not the shim. */
static int take_library(struct dl_phdr_info *object, size_t bytes, void *found)
{
    (void)bytes;
    if (!object->dlpi_name || !*object->dlpi_name)
        return 0;
    void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return 0;
    void *function = dlsym(handle, "PMPI_Init");
    Dl_info shim, definer;
    if (function && dladdr(evenkeel_shim_version, &shim) && dladdr(function, &definer) &&
        shim.dli_fbase != definer.dli_fbase) {
        *(void **)found = handle;
        return 1;
    }
    dlclose(handle);
    return 0;
}

static void find_library(void)
{
    for (const char *const *name = fitting; *name && !library; name++)
        library = dlopen(*name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        dl_iterate_phdr(take_library, &library);
}

void *ek_host_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found || !library ? found : dlsym(library, name);
}

void *ek_host_object(const char *name)
{
    /* From the start of the global scope: a program may hold the variable itself (copy relocation). */
    void *found = dlsym(RTLD_DEFAULT, name);
    return found || !library ? found : dlsym(library, name);
}

bool ek_host_is(const char *product)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    ek_host.Get_library_version(version, &length);
    return strstr(version, product);
}

void *ek_host_definition(const char *name)
{
    ek_host_resolve();
    void *found = ek_host_function(name);
    if (found)
        return found;
    fprintf(stderr,
            "evenkeel: %s was called, but no MPI library that has it is loaded in this process (looked for "
            "%s). The shim %s does not fit this program: start it with `evenkeel run`, which picks the right "
            "one.\n",
            name, fitting[0], EK_SHIM);
    _exit(NOT_FOUND_EXIT_CODE);
}

/* A shim made for another library would misread its handles. No call could be passed through either. */
static void check_library(void *init)
{
    Dl_info definer;
    if (!dladdr(init, &definer) || !definer.dli_fname)
        return;
    const char *name = base_name(definer.dli_fname);
    if (is_listed(known, name) && !is_listed(fitting, name)) {
        fprintf(stderr,
                "evenkeel: this program uses %s, but the preloaded shim (%s) is made for %s. "
                "Start it with `evenkeel run`, or preload the shim that `evenkeel doctor` names for it.\n",
                definer.dli_fname, EK_SHIM, fitting[0]);
        _exit(NOT_FOUND_EXIT_CODE);
    }
}

static void resolve_handles(void)
{
    ek_handles.world = MPI_COMM_WORLD;
    ek_handles.self = MPI_COMM_SELF;
    ek_handles.comm_null = MPI_COMM_NULL;
    ek_handles.type_null = MPI_DATATYPE_NULL;
    ek_handles.byte = MPI_BYTE;
    ek_handles.op_null = MPI_OP_NULL;
    ek_handles.request_null = MPI_REQUEST_NULL;
}

static void resolve(void)
{
    void *init = dlsym(RTLD_NEXT, "PMPI_Init");
    if (!init) {
        find_library();
        init = library ? dlsym(library, "PMPI_Init") : NULL;
    }
    if (!init)
        return;
    check_library(init);
#define EK_FIND(name) ek_host.name = (__typeof__(PMPI_##name) *)ek_host_function("PMPI_" #name);
    EK_HOST_FUNCTIONS(EK_FIND)
    EK_HOST_FUNCTIONS_BY_AGE(EK_FIND)
#undef EK_FIND
    ek_host_set_yield = (__typeof__(ek_host_set_yield))ek_host_function("opal_progress_set_yield_when_idle");
    resolve_handles();
    resolved = true;
}

void ek_host_resolve(void)
{
    if (resolved)
        return;
    pthread_mutex_lock(&lock);
    if (!resolved)
        resolve();
    pthread_mutex_unlock(&lock);
}
