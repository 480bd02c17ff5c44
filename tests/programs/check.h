/* What the test programs share: random numbers that every rank can regenerate, failures, a digest of all
 * results, and arguments.
 *
 * Nothing here calls a collective: what is under test must not judge itself. Point-to-point messages carry
 * the result to rank 0. */
#ifndef EVENKEEL_TESTS_CHECK_H
#define EVENKEEL_TESTS_CHECK_H
#include "closed_memory.h"
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- numbers ---- */

static inline uint64_t mix(uint64_t x) /* the finaliser of splitmix64, a hash of 64 bits */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t mix3(uint64_t a, uint64_t b, uint64_t c) { return mix(mix(mix(a) ^ b) ^ c); }

typedef struct rng {
    uint64_t state;
} rng;
static inline uint64_t draw(rng *r) { return mix(r->state++); }
static inline int below(rng *r, int n) { return n > 0 ? (int)(draw(r) % (uint64_t)n) : 0; }
static inline int one_in(rng *r, int n) { return below(r, n) == 0; }

/* ---- failures ---- */

static int failures;
static int world_rank, world_size;

static inline void fail(const char *format, ...)
{
    if (failures++ < 10) {
        va_list args;
        char text[1024];
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        fprintf(stderr, "FAIL rank %d: %s\n", world_rank, text);
    }
}

#define CHECK(condition, ...)  \
    do {                       \
        if (!(condition))      \
            fail(__VA_ARGS__); \
    } while (0)
#define EXPECT_OK(call)                           \
    do {                                          \
        int code_ = (call);                       \
        if (code_ != MPI_SUCCESS)                 \
            fail("%s returned %d", #call, code_); \
    } while (0)

/* ---- digest: depends on the order of bytes within a rank, and on the order of ranks ---- */

static uint64_t digest = 0x243f6a8885a308d3u;

static inline void digest_bytes(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t h = digest;
    while (bytes >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
        p += 8, bytes -= 8;
    }
    while (bytes--)
        h = (h ^ *p++) * 0x100000001b3u;
    digest = h;
}

/* Sends the failures and digests of all ranks to rank 0, which prints one line that the tests read:
 * "RESULT checks N failures F digest H". Returns the exit code: 1 on a rank that failed, and on rank 0 if any
 * rank did. */
static inline int report_result(uint64_t checks)
{
    uint64_t mine[3] = {checks, (uint64_t)failures, digest};
    if (world_rank != 0) {
        MPI_Send(mine, 3, MPI_UINT64_T, 0, 4711, MPI_COMM_WORLD);
    } else {
        uint64_t all = mine[2];
        for (int r = 1; r < world_size; r++) {
            uint64_t theirs[3];
            MPI_Recv(theirs, 3, MPI_UINT64_T, r, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mine[0] += theirs[0];
            mine[1] += theirs[1];
            all = mix3(all, theirs[2], (uint64_t)r);
        }
        printf("RESULT checks %llu failures %llu digest %016llx\n", (unsigned long long)mine[0],
               (unsigned long long)mine[1], (unsigned long long)all);
        fflush(stdout);
        return mine[1] != 0;
    }
    return failures != 0;
}

/* Sleeps for up to `max_us`, once in `one_in_n` calls. */
static inline void stall(rng *r, int one_in_n, int max_us)
{
    if (one_in(r, one_in_n))
        usleep((useconds_t)below(r, max_us));
}

/* ---- arguments: name=value ---- */

static inline const char *argument(int argc, char **argv, const char *name, const char *otherwise)
{
    size_t n = strlen(name);
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
            return argv[i] + n + 1;
    return otherwise;
}

static inline long number(int argc, char **argv, const char *name, long otherwise)
{
    const char *text = argument(argc, argv, name, NULL);
    return text ? atol(text) : otherwise;
}

/* Is `word` in the comma-separated `list`? "all" contains every word. */
static inline int listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    if (!strcmp(list, "all"))
        return 1;
    for (const char *p = list; p && *p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (!strncmp(p, word, n) && (p[n] == ',' || p[n] == 0))
            return 1;
    return 0;
}

/* ---- the start ---- */

/* closed=setuid|dumpable|seccomp: afterwards the ranks cannot read each other's memory; closed_rank=N: only
 * rank N does that. */
static inline void begin_with(int *argc, char ***argv, int threads)
{
    int provided = MPI_THREAD_SINGLE;
    if (threads == MPI_THREAD_SINGLE)
        MPI_Init(argc, argv);
    else
        MPI_Init_thread(argc, argv, threads, &provided);
    if (provided < threads) {
        fprintf(stderr, "the library has no support for threads\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    const char *closed = argument(*argc, *argv, "closed", "");
    if (*closed && number(*argc, *argv, "closed_rank", world_rank) == world_rank)
        close_memory(closed, world_rank);
}

static inline void begin(int *argc, char ***argv) { begin_with(argc, argv, MPI_THREAD_SINGLE); }
#endif
