/* A channel: something outside MPI by which one rank can learn what another has done.
 *
 * Each rank has a counter of its own in each channel. An action advances the counter by one. An observation
 * reads the counter of another rank, modulo `modulus`. */
#ifndef ATTACK_CHANNEL_H
#define ATTACK_CHANNEL_H

#include "history.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct channel {
    const char *name;
    unsigned modulus;
    bool (*make)(void); /* for this rank's own counter; false: the channel does not exist here */
    bool (*open)(void); /* the others' counters, which all exist now */
    void (*act)(unsigned count, unsigned variant); /* the counter becomes `count` */
    long (*observe)(int rank, unsigned variant);
    void (*ready)(void);  /* all ranks have opened it */
    void (*begin)(void);  /* before a round in which it is used */
    void (*settle)(void); /* after such a round: empties what must not fill up; then all counters are 0 */
    unsigned most;        /* actions of a rank in a round, if fewer than the modulus allows */
    bool may_be_late;     /* a library may need several calls to find a message, or that it was received */
    bool alone; /* only if it is asked for: barriers are strict from then on, or it is for two ranks */
};

static int me, ranks;
static pid_t pids[MAX_RANKS];
static const char *directory;

static const char *path_of(const char *name, int rank)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, rank);
    return path;
}

/* A system call, by the C library's function or by an instruction of the program's own. */
static long system_call(unsigned variant, long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
    if (variant >> 31) {
        long answer;
        register long r10 __asm__("r10") = d;
        register long r8 __asm__("r8") = e;
        register long r9 __asm__("r9") = f;
        __asm__ volatile("syscall"
                         : "=a"(answer)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
        return answer;
    }
#endif
    return syscall(number, a, b, c, d, e, f);
}

#define CALL6(variant, name, a, b, c, d, e, f) \
    system_call(variant, SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define CALL4(variant, name, a, b, c, d) CALL6(variant, name, a, b, c, d, 0, 0)
#define CALL3(variant, name, a, b, c) CALL6(variant, name, a, b, c, 0, 0, 0)
#define CALL2(variant, name, a, b) CALL6(variant, name, a, b, 0, 0, 0, 0)

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "attack: rank %d: %s: %s\n", me, what, strerror(errno));
    exit(3);
}

#endif
