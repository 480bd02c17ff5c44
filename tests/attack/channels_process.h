/* Channels through what the kernel tells about another process. */
#ifndef ATTACK_CHANNELS_PROCESS_H
#define ATTACK_CHANNELS_PROCESS_H
#include "channel.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { CLASS_BEST_EFFORT = 2 << 13, BY_PROCESS = 1 };

/* The tests themselves may run at another priority. Without privileges it can only be raised. */
static bool nice_make(void) { return !setpriority(PRIO_PROCESS, 0, 1) && !setpriority(PRIO_PROCESS, 0, 0); }

static void nice_act(unsigned count, unsigned variant)
{
    CALL3(variant, setpriority, PRIO_PROCESS, 0, (int)(count % 4));
}

static long nice_seen(int rank, unsigned variant)
{
    return 20 - CALL2(variant, getpriority, PRIO_PROCESS, pids[rank]);
}

static void io_priority_act(unsigned count, unsigned variant)
{
    CALL3(variant, ioprio_set, BY_PROCESS, 0, CLASS_BEST_EFFORT | count % 8);
}

static long io_priority_seen(int rank, unsigned variant)
{
    return CALL2(variant, ioprio_get, BY_PROCESS, pids[rank]) & 7;
}

static void affinity_act(unsigned count, unsigned variant)
{
    unsigned long mask = count & 1 ? 3 : 1;
    CALL3(variant, sched_setaffinity, 0, sizeof mask, &mask);
}

static long affinity_seen(int rank, unsigned variant)
{
    unsigned long mask[16] = {0};
    CALL3(variant, sched_getaffinity, pids[rank], sizeof mask, mask);
    return mask[0] == 3;
}

static bool affinity_make(void)
{
    unsigned long mask[16] = {0};
    syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    if ((mask[0] & 3) != 3)
        return false; /* both values must exist */
    affinity_act(0, 0);
    return true;
}

static void policy_act(unsigned count, unsigned variant)
{
    struct sched_param none = {0};
    CALL3(variant, sched_setscheduler, 0, count & 1 ? SCHED_BATCH : SCHED_OTHER, &none);
}

static long policy_seen(int rank, unsigned variant)
{
    return CALL2(variant, sched_getscheduler, pids[rank], 0) == SCHED_BATCH;
}

static void limit_act(unsigned count, unsigned variant)
{
    struct rlimit now;
    CALL2(variant, getrlimit, RLIMIT_CORE, &now);
    now.rlim_cur = count;
    if (variant & 1)
        CALL2(variant, setrlimit, RLIMIT_CORE, &now);
    else
        CALL4(variant, prlimit64, 0, RLIMIT_CORE, &now, 0);
}

static bool limit_make(void)
{
    struct rlimit now;
    limit_act(0, 0);
    return !getrlimit(RLIMIT_CORE, &now) && now.rlim_max == RLIM_INFINITY;
}

static long limit_seen(int rank, unsigned variant)
{
    struct rlimit found = {0};
    CALL4(variant, prlimit64, pids[rank], RLIMIT_CORE, 0, &found);
    return (long)found.rlim_cur;
}

/* One rank sets the limit of another: what the other asks of itself is an observation too. */
static void their_limit_act(unsigned count, unsigned variant)
{
    struct rlimit soft = {count, RLIM_INFINITY};
    for (int r = 0; r < ranks; r++)
        if (r != me)
            CALL4(variant, prlimit64, pids[r], RLIMIT_RSS, &soft, 0);
}

static bool their_limit_make(void)
{
    struct rlimit now;
    return ranks == 2 && !getrlimit(RLIMIT_RSS, &now) && now.rlim_max == RLIM_INFINITY &&
           !setrlimit(RLIMIT_RSS, &(struct rlimit){0, RLIM_INFINITY});
}

static long their_limit_seen(int rank, unsigned variant)
{
    struct rlimit found = {0};
    (void)rank;
    if (variant & 1)
        CALL2(variant, getrlimit, RLIMIT_RSS, &found);
    else
        CALL4(variant, prlimit64, 0, RLIMIT_RSS, 0, &found);
    return (long)found.rlim_cur;
}

/* ---- /proc: the name of a process, of one character: the kernel may show half of a longer one ---- */

enum { NAMES = 64, FIRST_NAME = '0' };

static int comm_file[MAX_RANKS];

static bool name_of_process_make(void) { return !prctl(PR_SET_NAME, "0"); }

static bool name_of_process_open(void)
{
    char path[64];
    for (int r = 0; r < ranks; r++) {
        snprintf(path, sizeof path, "/proc/%d/comm", (int)pids[r]);
        if ((comm_file[r] = open(path, O_RDONLY)) < 0)
            return false;
    }
    return true;
}

static void name_of_process_act(unsigned count, unsigned variant)
{
    const char name[2] = {(char)(FIRST_NAME + count % NAMES), 0};
    CALL2(variant, prctl, PR_SET_NAME, name);
}

static long name_of_process_seen(int rank, unsigned variant)
{
    char name[32] = "";
    CALL4(variant, pread64, comm_file[rank], name, sizeof name - 1, 0);
    return name[0] - FIRST_NAME;
}

#endif
