#define _GNU_SOURCE
#include "gate/origin.h"
#include "gate/objects.h"
#include "host/library.h"
#include "process/state.h"
#include <link.h>
#include <pthread.h>
#include <string.h>

/* ---- which objects are the host's ---- */

typedef struct mark {
    bool below;  /* the host's library, or something that it needs */
    bool shared; /* the program needs it, too */
    bool loaded; /* while the host started */
    bool linked; /* with the program */
} mark;

typedef struct walk {
    size_t count, library;
    mark *marks;
} walk;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything below */
static ek_object objects[EK_MOST_OBJECTS];
static mark marks[EK_MOST_OBJECTS];
typedef struct moment {
    uint64_t identities[EK_MOST_OBJECTS]; /* of the objects that there were */
    size_t count;
    bool is_past;
} moment;

static moment before_program; /* its first instruction; constructors of libraries may have loaded others */
static moment before_host;
static struct {
    uintptr_t base;
    uint64_t identity;
} hosts[EK_MOST_OBJECTS];
static size_t hosts_count;
static bool is_final;

static void mark_below(size_t at, void *context)
{
    walk *w = context;
    if (w->marks[at].below)
        return;
    w->marks[at].below = true;
    ek_object_needs(objects, w->count, at, mark_below, w);
}

static void mark_shared(size_t at, void *context)
{
    walk *w = context;
    if (at == w->library || w->marks[at].shared)
        return;
    w->marks[at].shared = true;
    ek_object_needs(objects, w->count, at, mark_shared, w);
}

static void mark_linked(size_t at, void *context)
{
    walk *w = context;
    if (w->marks[at].linked)
        return;
    w->marks[at].linked = true;
    ek_object_needs(objects, w->count, at, mark_linked, w);
}

static void note(moment *m)
{
    pthread_mutex_lock(&lock);
    m->count = ek_objects_list(objects);
    for (size_t at = 0; at < m->count; at++)
        m->identities[at] = objects[at].identity;
    m->is_past = true;
    pthread_mutex_unlock(&lock);
}

/* Whether an object was loaded after a moment. */
static bool is_after(const ek_object *o, const moment *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->identities[i] == o->identity)
            return false;
    return m->is_past;
}

/* Constructors run from the library that is needed to the one that needs it, so this one is among the last.
 */
__attribute__((constructor)) static void note_program(void) { note(&before_program); }

static size_t object_of(const void *address, size_t count)
{
    Dl_info info;
    size_t at = 0;
    if (!address || !dladdr(address, &info))
        return count;
    while (at < count && objects[at].base != (uintptr_t)info.dli_fbase)
        at++;
    return at;
}

/* Whether an object is the host's, once all are marked. */
static bool is_hosts(const mark *m) { return (m->below && !m->shared) || m->loaded; }

/* What has been loaded since ek_origin_before_host is the host's. The program may use what it is linked with,
 * and what it has loaded needs. */
static void classify(void)
{
    size_t count = ek_objects_list(objects);
    walk w = {count, object_of(ek_host_function("PMPI_Init"), count), marks};
    size_t shim = object_of((const void *)ek_is_program, count);
    memset(marks, 0, sizeof marks);
    hosts_count = 0;
    if (w.library < count)
        mark_below(w.library, &w);
    for (size_t at = 0; at < count; at++)
        marks[at].loaded = at == shim || is_after(&objects[at], &before_host);
    if (count)
        mark_linked(0, &w); /* the program itself comes first */
    for (size_t at = 0; at < count; at++)
        if (!marks[at].below && !marks[at].loaded &&
            (marks[at].linked || is_after(&objects[at], &before_program)))
            mark_shared(at, &w);
    for (size_t at = 0; at < count; at++)
        if (is_hosts(&marks[at])) {
            hosts[hosts_count].base = objects[at].base;
            hosts[hosts_count++].identity = objects[at].identity;
        }
}

void ek_origin_before_host(void) { note(&before_host); }

void ek_origin_after_host(void)
{
    pthread_mutex_lock(&lock);
    classify();
    is_final = true;
    pthread_mutex_unlock(&lock);
}

/* An object that is loaded later where one of the host's was has another path. */
static bool is_listed(const Dl_info *info)
{
    const uint64_t identity = ek_object_identity(info->dli_fname);
    for (size_t at = 0; at < hosts_count; at++)
        if (hosts[at].base == (uintptr_t)info->dli_fbase && hosts[at].identity == identity)
            return true;
    return false;
}

bool ek_is_program(const void *address)
{
    Dl_info info;
    if (ek_depth)
        return false;
    if (!dladdr(address, &info) || !info.dli_fname)
        return true;
    pthread_mutex_lock(&lock);
    if (!is_final)
        classify();
    bool listed = is_listed(&info);
    pthread_mutex_unlock(&lock);
    return !listed;
}

/* ---- libraries by which others write to this process's memory ---- */

static const char *const remote_writers[] = {
    "ibv_open_device", "ucp_init_version",   "shmem_init",          "shmem_init_thread",  "start_pes",
    "fi_getinfo",      "cuIpcOpenMemHandle", "hipIpcOpenMemHandle", "zeMemOpenIpcHandle", NULL};

static int count_loads(struct dl_phdr_info *info, size_t bytes, void *loads)
{
    (void)bytes;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

bool ek_program_has_remote_writers(void)
{
    static unsigned long long seen;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == seen)
        return false;
    seen = loads;
    bool found = false;
    pthread_mutex_lock(&lock);
    size_t count = ek_objects_list(objects);
    for (size_t at = 0; at < count && !found; at++) {
        const Dl_info info = {.dli_fname = objects[at].path, .dli_fbase = (void *)objects[at].base};
        found = !is_listed(&info) && ek_object_defines(&objects[at], remote_writers);
    }
    pthread_mutex_unlock(&lock);
    return found;
}
