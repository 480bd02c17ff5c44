/* A dlsym that allocates, as before glibc 2.34. Preloaded behind a shim, which then calls it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

void *dlsym(void *handle, const char *name)
{
    static void *(*next)(void *, const char *);
    void *volatile place = calloc(1, 32);
    free(place);
    if (!next)
        next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return next(handle, name);
}
