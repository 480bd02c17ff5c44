#define _GNU_SOURCE
#include "world/launcher_end.h"
#include "gate/kernel.h"
#include "host/library.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4 && defined(__x86_64__) && defined(SYS_pidfd_open)
enum { PATIENCE_MS = 3000, MOST_ANCESTORS = 8 };

static long call(long number, long a, long b, long c) { return ek_kernel(number, a, b, c, 0, 0, 0); }

/* Reads the name and the parent of a process. Returns false if there is none. */
static bool look_up(int pid, char name[32], int *parent)
{
    char path[32], text[128];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    char *begin = strchr(text, '('), *end = strrchr(text, ')');
    if (!begin || !end || sscanf(end + 1, " %*c %d", parent) != 1)
        return false;
    snprintf(name, 32, "%.*s", (int)(end - begin - 1), begin + 1);
    return true;
}

/* A descriptor of the launcher if it runs on this node, or -1. */
static int find_launcher(void)
{
    char name[32];
    for (int pid = getpid(), parent, i = 0; i < MOST_ANCESTORS && look_up(pid, name, &parent); i++) {
        if (!strncmp(name, "mpirun", 6) || !strncmp(name, "mpiexec", 7) || !strcmp(name, "orterun"))
            return (int)call(SYS_pidfd_open, pid, 0, 0);
        pid = parent;
    }
    return -1;
}

/* In a process of its own, which holds nothing else open: the launcher waits for the ranks' output to end. */
static void watch(int launcher)
{
    call(SYS_setsid, 0, 0, 0);
    call(SYS_dup2, launcher, 0, 0);
    call(SYS_close_range, 1, ~0U, 0);
    struct pollfd ended = {0, POLLIN, 0};
    if (call(SYS_poll, (long)&ended, 1, PATIENCE_MS) == 0)
        ek_kernel(SYS_pidfd_send_signal, 0, SIGTERM, 0, 0, 0, 0);
    for (;;)
        call(SYS_exit_group, 0, 0, 0);
}

void ek_launcher_end(void)
{
    const char *recovers = getenv("OMPI_MCA_orte_enable_recovery");
    if (!recovers || !strcmp(recovers, "0"))
        return;
    int launcher = find_launcher();
    /* By the system call itself: functions that the program wants called at a fork might wait for ranks. */
    if (launcher >= 0 && call(SYS_fork, 0, 0, 0) == 0)
        watch(launcher);
}
#else
void ek_launcher_end(void) {}
#endif
