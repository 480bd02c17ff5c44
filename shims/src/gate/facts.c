#define _GNU_SOURCE
#include "gate/facts.h"
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/handler_rules.h"
#include "gate/kernel.h"
#include "gate/objects.h"
#include "gate/origin.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many threads there may be without one of the program's: the first one, and the host's. A thread of the
 * host's that ends is noticed at the next look. */
static _Atomic long allowed_threads = 1;

/* Returns 0 if it is not known. */
static long count_threads(void)
{
    enum { LINKS_BESIDES = 2 }; /* of a folder: its name, and its own `.` */
    struct stat tasks;
    long error = ek_kernel(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&tasks, 0, 0, 0);
    return error ? 0 : (long)tasks.st_nlink - LINKS_BESIDES;
}

/* Where nothing is known the program may have threads. */
static void look_for_threads(void)
{
    long allowed = atomic_load(&allowed_threads), there = count_threads();
    if (there <= 0 || there > allowed)
        ek_channel_open(EK_CHANNEL_THREADS, "a thread");
    else
        atomic_compare_exchange_strong(&allowed_threads, &allowed, there);
}

void ek_facts_note_host_thread(void) { atomic_fetch_add(&allowed_threads, 1); }

/* The system's own files, which no program changes while others run: those of languages, for example. */
static bool is_systems(const char *path)
{
    static const char *const folders[] = {"/usr/", "/lib/", "/lib64/", "/etc/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(path, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Whether this line of /proc/self/maps is of memory that others may write to, or of a file whose changes show
 * in a private mapping. */
static bool is_shared_mapping(const char *line)
{
    char permissions[5] = "";
    unsigned long start = 0, inode = 0;
    int path = 0;
    if (sscanf(line, "%lx-%*x %4s %*s %*s %lu %n", &start, permissions, &inode, &path) < 3)
        return false;
    const char *name = path ? line + path : "";
    if (permissions[3] != 's' && (!inode || ek_object_holds(start)))
        return false;
    return !is_systems(name);
}

/* Whatever is shared before the host starts, the program has made. */
static void look_for_shared_memory(void)
{
    char line[PATH_MAX];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "a mapping");
    while (maps && fgets(line, sizeof line, maps))
        if (is_shared_mapping(line))
            ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "a mapping");
    if (maps)
        fclose(maps);
}

void ek_facts_before_host(void)
{
    ek_origin_before_host();
    look_for_shared_memory();
    look_for_threads();
}

void ek_facts_after_host(void)
{
    ek_origin_after_host();
    long there = count_threads();
    atomic_store(&allowed_threads, there > 0 ? there : 1);
}

static void look_for_handlers(void)
{
    ek_kernel_action action;
    for (int signal = 1; signal < NSIG; signal++)
        if (!ek_kernel(SYS_rt_sigaction, signal, 0, (long)&action, EK_SIGNAL_SET_BYTES, 0, 0) &&
            ek_handler_counts(signal, (void *)action.handler) && ek_is_program((void *)action.handler))
            ek_channel_open(EK_CHANNEL_SIGNALS, "a handler");
}

/* Whether a descriptor is a ring by which the kernel does work for the program without a system call. */
static bool is_ring(int folder, const char *number)
{
    char target[64] = "";
    return readlinkat(folder, number, target, sizeof target - 1) > 0 && strstr(target, "[io_uring]");
}

/* How many requests all processes of the machine have room for in rings of the older kind, in which a program
 * finds what the kernel has done without a call: io_setup, libaio. */
static bool are_there_older_rings(void)
{
    char number[32] = "0";
    int file = open("/proc/sys/fs/aio-nr", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t bytes = read(file, number, sizeof number - 1);
    close(file);
    return bytes > 0 && strtol(number, NULL, 10) > 0;
}

/* Such a ring is a mapping without a descriptor. Few machines have any, so the mappings are seldom read. */
static void look_for_older_rings(void)
{
    char line[PATH_MAX];
    FILE *maps = are_there_older_rings() ? fopen("/proc/self/maps", "re") : NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, " /[aio]"))
            ek_channel_open(EK_CHANNEL_THREADS, "io_setup");
    if (maps)
        fclose(maps);
}

static void look_for_rings(void)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (is_ring(dirfd(folder), entry->d_name))
            ek_channel_open(EK_CHANNEL_THREADS, "io_uring");
    if (folder)
        closedir(folder);
}

void ek_facts_look_at_mask(void)
{
    static bool blocks;
    const unsigned long faults = 1UL << (SIGSEGV - 1) | 1UL << (SIGBUS - 1) | 1UL << (SIGFPE - 1) |
                                 1UL << (SIGILL - 1) | 1UL << (SIGTRAP - 1);
    unsigned long mask = 0;
    ek_kernel(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, EK_SIGNAL_SET_BYTES, 0, 0);
    if (blocks == !!(mask & faults))
        return;
    blocks = !blocks;
    if (!blocks) {
        ek_deferral_permit(EK_CHANNEL_BLOCKED_FAULTS);
        return;
    }
    if (ek_gate)
        ek_complete_deferred("sigprocmask", false);
    ek_deferral_forbid(EK_CHANNEL_BLOCKED_FAULTS);
}

void ek_facts_look(bool thoroughly)
{
    look_for_threads();
    ek_facts_look_at_mask();
    if (ek_program_has_remote_writers())
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "a library");
    if (thoroughly) {
        look_for_handlers();
        look_for_rings();
        look_for_older_rings();
    }
}

#else
void ek_facts_before_host(void) {}
void ek_facts_after_host(void) {}
void ek_facts_note_host_thread(void) {}
void ek_facts_look_at_mask(void) {}
void ek_facts_look(bool thoroughly) { (void)thoroughly; }
#endif
