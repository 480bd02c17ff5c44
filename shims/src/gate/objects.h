/* The objects that the loader has in this process, and which of them needs which. */
#ifndef EK_GATE_OBJECTS_H
#define EK_GATE_OBJECTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_MOST_OBJECTS = 1024 };

typedef struct ek_object {
    uintptr_t base;      /* as in Dl_info.dli_fbase: where its first page is */
    uint64_t identity;   /* a hash of its path */
    const char *path;    /* "" for the program */
    const char *strings; /* of its dynamic section */
    const char *soname;  /* NULL if it has none */
    const void *dynamic; /* ElfW(Dyn) */
} ek_object;

/* Lists the loaded objects. Returns how many there are; those beyond EK_MOST_OBJECTS are left out. */
size_t ek_objects_list(ek_object *objects);

/* The hash of a path. */
uint64_t ek_object_identity(const char *path);

/* Calls `found` for each object of the list that objects[at] names as one that it needs. */
void ek_object_needs(const ek_object *objects, size_t count, size_t at, void (*found)(size_t needed, void *),
                     void *context);

/* Whether it defines one of these symbols; NULL ends the list. Loads nothing. */
bool ek_object_defines(const ek_object *, const char *const *names);

/* Whether the loader has mapped an object there. */
bool ek_object_holds(uintptr_t address);

#endif
