#include "world/devices.h"
#include "gate/objects.h"
#include <stdlib.h>

/* The functions of CUDA, HIP and Level Zero by which an MPI library asks where a pointer points to. */
static const char *const queries[] = {"cuPointerGetAttribute",   "cuPointerGetAttributes",
                                      "hipPointerGetAttribute",  "hipPointerGetAttributes",
                                      "zeMemGetAllocProperties", NULL};

bool ek_driver_is_loaded(void)
{
    ek_object *objects = calloc(EK_MOST_OBJECTS, sizeof *objects);
    const size_t count = objects ? ek_objects_list(objects) : 0;
    bool found = !objects;
    for (size_t at = 0; at < count && !found; at++)
        found = ek_object_defines(&objects[at], queries);
    free(objects);
    return found;
}
