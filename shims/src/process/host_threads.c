#include "process/host_threads.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static ek_host_threads before, made;

static bool has(const ek_host_threads *threads, int32_t id)
{
    for (uint64_t i = 0; i < threads->count; i++)
        if (threads->ids[i] == id)
            return true;
    return false;
}

/* Adds the threads that there are now and that are not among `others`. Returns whether there was room. */
static bool add(ek_host_threads *threads, const ek_host_threads *others)
{
    DIR *tasks = opendir("/proc/self/task");
    bool is_whole = tasks != NULL;
    threads->count = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        int32_t id = (int32_t)strtol(task->d_name, NULL, 10);
        if (id <= 0 || (others && has(others, id)))
            continue;
        if (threads->count == EK_HOST_THREADS)
            is_whole = false;
        else
            threads->ids[threads->count++] = id;
    }
    if (tasks)
        closedir(tasks);
    return is_whole;
}

static bool is_before_whole;

void ek_host_threads_before(void) { is_before_whole = add(&before, NULL); }

const ek_host_threads *ek_host_threads_after(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    made.until = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (is_before_whole)
        add(&made, &before);
    return &made;
}
