#define _GNU_SOURCE
#include "gate/origin.h"
#include "gate/objects.h"
#include "host/library.h"
#include "process/state.h"
#include <link.h>
#include <pthread.h>
#include <string.h>

/* ---- which objects are the host's ---- */

/* What is known of an object, as bits of a mark. */
enum {
    NEEDED_BY_HOST = 1,    /* the host's library, or something that it needs */
    NEEDED_BY_PROGRAM = 2, /* the program uses it, too */
    LOADED_BY_HOST = 4,    /* while the host started */
    LINKED = 8             /* with the program */
};

typedef unsigned char mark;

typedef struct walk {
    size_t count;
    size_t except; /* an object that is not entered, or count */
    mark bit;
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
static moment after_host;
static struct {
    uintptr_t base;
    uint64_t identity;
    bool is_needed; /* by the host's library, directly or not */
} hosts[EK_MOST_OBJECTS];
static size_t hosts_count;
static uintptr_t library_base;
static bool is_final;

static void mark_from(size_t at, void *context)
{
    const walk *w = context;
    if (at == w->except || marks[at] & w->bit)
        return;
    marks[at] |= w->bit;
    ek_object_needs(objects, w->count, at, mark_from, context);
}

/* Marks an object and all that it needs, directly or not. */
static void mark_needs(size_t at, size_t count, mark bit, size_t except)
{
    walk w = {count, except, bit};
    mark_from(at, &w);
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

/* The constructor of a library runs after those of the libraries that it needs: this one is among the last.
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
static bool is_hosts(mark m)
{
    return (m & NEEDED_BY_HOST && !(m & NEEDED_BY_PROGRAM)) || m & LOADED_BY_HOST;
}

/* Whether the program itself is linked with an object or has loaded it. */
static bool is_programs(size_t at)
{
    return !(marks[at] & (NEEDED_BY_HOST | LOADED_BY_HOST)) &&
           (marks[at] & LINKED || is_after(&objects[at], &before_program));
}

/* A function of UCX's memory hooks. Where they are installed, mappings of the program's go through that
 * library, which then makes the system call. What the host maps for itself it maps within its own calls. */
static const char *const memory_hooks[] = {"ucm_set_event_handler", NULL};

/* What has been loaded since ek_origin_before_host is the host's. The program may use what it is linked with,
 * and what it has loaded needs. */
static void classify(void)
{
    const size_t count = ek_objects_list(objects);
    const size_t library = object_of(ek_host_function("PMPI_Init"), count);
    const size_t shim = object_of((const void *)ek_is_program, count);
    memset(marks, 0, sizeof marks);
    hosts_count = 0;
    if (library < count)
        mark_needs(library, count, NEEDED_BY_HOST, count);
    for (size_t at = 0; at < count; at++)
        if (at == shim || is_after(&objects[at], &before_host))
            marks[at] |= LOADED_BY_HOST;
    if (count)
        mark_needs(0, count, LINKED, count); /* the program itself comes first */
    for (size_t at = 0; at < count; at++)
        if (is_programs(at))
            mark_needs(at, count, NEEDED_BY_PROGRAM, library);
    for (size_t at = 0; at < count; at++)
        if (is_hosts(marks[at]) && !(is_final && ek_object_defines(&objects[at], memory_hooks))) {
            hosts[hosts_count].base = objects[at].base;
            hosts[hosts_count].is_needed = marks[at] & NEEDED_BY_HOST;
            hosts[hosts_count++].identity = objects[at].identity;
        }
    library_base = library < count ? objects[library].base : 0;
}

static int count_loads(struct dl_phdr_info *info, size_t bytes, void *loads)
{
    (void)bytes;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* Whether the loader has loaded anything since this was asked with the same `seen`. */
static bool has_loaded(unsigned long long *seen)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == *seen)
        return false;
    *seen = loads;
    return true;
}

static bool is_needed_later(uintptr_t base, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (objects[at].base == base)
            return marks[at] & NEEDED_BY_PROGRAM;
    return false;
}

/* The host may have loaded what is of use to others, such as libstdc++ or UCX. Once the program loads an
 * object that needs it, what it does may be done for the program. What the host's library needs itself stays
 * the host's: the host, too, loads parts of itself later, and they need the same. */
static void share_what_is_needed_later(void)
{
    static unsigned long long seen;
    if (!has_loaded(&seen))
        return;
    const size_t count = ek_objects_list(objects);
    size_t library = 0, left = 0;
    while (library < count && objects[library].base != library_base)
        library++;
    memset(marks, 0, sizeof marks);
    for (size_t at = 0; at < count; at++)
        if (is_after(&objects[at], &after_host))
            mark_needs(at, count, NEEDED_BY_PROGRAM, library);
    for (size_t at = 0; at < hosts_count; at++)
        if (hosts[at].is_needed || !is_needed_later(hosts[at].base, count))
            hosts[left++] = hosts[at];
    hosts_count = left;
}

void ek_origin_before_host(void) { note(&before_host); }

void ek_origin_after_host(void)
{
    pthread_mutex_lock(&lock);
    is_final = true; /* from now on objects may be opened: no call of the program's is under way */
    classify();
    pthread_mutex_unlock(&lock);
    note(&after_host);
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
    static _Thread_local volatile bool is_asked; /* a signal handler may ask what it interrupts */
    Dl_info info;
    if (ek_depth)
        return false;
    if (is_asked || !dladdr(address, &info) || !info.dli_fname)
        return true;
    is_asked = true;
    pthread_mutex_lock(&lock);
    if (is_final)
        share_what_is_needed_later();
    else
        classify();
    bool listed = is_listed(&info);
    pthread_mutex_unlock(&lock);
    is_asked = false;
    return !listed;
}

/* ---- libraries by which others write to this process's memory ---- */

static const char *const remote_writers[] = {
    "ibv_open_device", "ucp_init_version",   "shmem_init",          "shmem_init_thread",  "start_pes",
    "fi_getinfo",      "cuIpcOpenMemHandle", "hipIpcOpenMemHandle", "zeMemOpenIpcHandle", NULL};

bool ek_program_has_remote_writers(void)
{
    static unsigned long long seen;
    if (!has_loaded(&seen))
        return false;
    bool found = false;
    pthread_mutex_lock(&lock);
    if (is_final)
        share_what_is_needed_later();
    size_t count = ek_objects_list(objects);
    for (size_t at = 0; at < count && !found; at++) {
        const Dl_info info = {.dli_fname = objects[at].path, .dli_fbase = (void *)objects[at].base};
        found = !is_listed(&info) && ek_object_defines(&objects[at], remote_writers);
    }
    pthread_mutex_unlock(&lock);
    return found;
}
