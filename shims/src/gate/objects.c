#define _GNU_SOURCE
#include "gate/objects.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

uint64_t ek_object_identity(const char *path)
{
    uint64_t hash = 14695981039346656037ULL; /* FNV-1a */
    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 1099511628211ULL;
    return hash;
}

/* Strings of the dynamic section: the loader has relocated the table's address in most objects. */
static void read_dynamic(ek_object *o, ElfW(Addr) load)
{
    const ElfW(Dyn) *entry = o->dynamic;
    ElfW(Addr) table = 0, soname = 0;
    bool has_soname = false;
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            table = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME) {
            soname = entry->d_un.d_val;
            has_soname = true;
        }
    }
    if (!table)
        return;
    o->strings = (const char *)(table < load ? table + load : table);
    if (has_soname)
        o->soname = o->strings + soname;
}

typedef struct listing {
    ek_object *objects;
    size_t count;
} listing;

static int add(struct dl_phdr_info *info, size_t bytes, void *context)
{
    listing *list = context;
    (void)bytes;
    if (list->count == EK_MOST_OBJECTS)
        return 1;
    const uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    ek_object o = {.path = info->dlpi_name ? info->dlpi_name : "", .base = UINTPTR_MAX};
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC)
            o.dynamic = (const void *)at;
        if (part->p_type == PT_LOAD && (at & page_mask) < o.base)
            o.base = at & page_mask;
    }
    o.identity = ek_object_identity(o.path);
    read_dynamic(&o, info->dlpi_addr);
    list->objects[list->count++] = o;
    return 0;
}

size_t ek_objects_list(ek_object *objects)
{
    listing list = {objects, 0};
    dl_iterate_phdr(add, &list);
    return list.count;
}

static bool is_called(const ek_object *o, const char *name)
{
    if (strchr(name, '/'))
        return !strcmp(o->path, name);
    const char *slash = strrchr(o->path, '/');
    return (o->soname && !strcmp(o->soname, name)) || !strcmp(slash ? slash + 1 : o->path, name);
}

void ek_object_needs(const ek_object *objects, size_t count, size_t at, void (*found)(size_t needed, void *),
                     void *context)
{
    const ElfW(Dyn) *entry = objects[at].dynamic;
    for (; entry && objects[at].strings && entry->d_tag != DT_NULL; entry++)
        for (size_t other = 0; entry->d_tag == DT_NEEDED && other < count; other++)
            if (is_called(&objects[other], objects[at].strings + entry->d_un.d_val))
                found(other, context);
}

bool ek_object_defines(const ek_object *o, const char *const *names)
{
    bool found = false;
    void *handle = *o->path ? dlopen(o->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (const char *const *name = names; handle && *name && !found; name++) {
        Dl_info info;
        void *symbol = dlsym(handle, *name);
        found = symbol && dladdr(symbol, &info) && (uintptr_t)info.dli_fbase == o->base;
    }
    if (handle)
        dlclose(handle);
    return found;
}

typedef struct search {
    uintptr_t address;
    bool found;
} search;

/* The loader maps the whole span of an object from its file, and leaves the gaps between its parts without
 * permissions. */
static int look_in(struct dl_phdr_info *info, size_t bytes, void *context)
{
    search *wanted = context;
    (void)bytes;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = UINTPTR_MAX, end = 0;
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        if (part->p_type != PT_LOAD)
            continue;
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        first = start < first ? start : first;
        end = start + part->p_memsz > end ? start + part->p_memsz : end;
    }
    wanted->found = wanted->address >= (first & ~(page - 1)) && wanted->address < end;
    return wanted->found;
}

bool ek_object_holds(uintptr_t address)
{
    search wanted = {.address = address};
    dl_iterate_phdr(look_in, &wanted);
    return wanted.found;
}
