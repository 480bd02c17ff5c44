/* Ranks take turns in holding memory. In its turn each of them looks whether another one holds some, too.
 *
 *   memory_turns way=NAME [rounds=10] [mib=32] [dir=FOLDER] [held=1]
 *
 * In each round one rank, the holder, stalls at random, takes memory, touches it, looks at the others, and
 * releases it. Barriers separate the turns. Only the holder looks, by system calls, which complete its own
 * pending barriers. With held=1 the holder first waits until the next one holds some, which never happens
 * where barriers are complete. Prints how often others held more than a quarter of what one rank may hold:
 * RESULT checks N wrong N */
#define _GNU_SOURCE
#include "hold.h"
#include <fcntl.h>
#include <malloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PIECES = 1 << 14 };
static size_t bytes;
static void *pieces[PIECES];
static char *reserve;
static int rank, size, pids[64];
static unsigned state;
static bool is_held;

static void touch(char *memory, size_t length)
{
    for (size_t at = 0; at < length; at += PAGE)
        ((volatile char *)memory)[at] = 1;
}

static char *must(void *memory)
{
    if (!memory || memory == MAP_FAILED) {
        fprintf(stderr, "memory_turns: rank %d gets no memory\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* By an instruction of its own; glibc's own functions do not stand between. */
static void *map(size_t length, int protection)
{
    register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
    register long fd __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    void *memory;
    __asm__ volatile("syscall"
                     : "=a"(memory)
                     : "a"(SYS_mmap), "D"(0), "S"(length), "d"(protection), "r"(flags), "r"(fd), "r"(offset)
                     : "rcx", "r11", "memory");
    return must(memory);
}

/* ---- blocks of the allocator's: each takes all memory and touches it ---- */

static void free_block(void) { free(pieces[0]); }

static void take_malloc(void) { touch(pieces[0] = must(malloc(bytes)), bytes); }
static void take_calloc(void) { touch(pieces[0] = must(calloc(bytes / 64, 64)), bytes); }
static void take_memalign(void) { touch(pieces[0] = must(memalign(PAGE, bytes)), bytes); }
static void take_aligned(void) { touch(pieces[0] = must(aligned_alloc(PAGE, bytes)), bytes); }

static void take_posix(void)
{
    if (posix_memalign(&pieces[0], 64, bytes))
        must(NULL);
    touch(pieces[0], bytes);
}

static void take_realloc(void)
{
    pieces[0] = NULL;
    for (size_t length = bytes / 16; length <= bytes; length += bytes / 16)
        touch(pieces[0] = must(realloc(pieces[0], length)), length);
}

/* Small blocks, from the heap. */
static void take_pieces(void)
{
    for (size_t at = 0; at < PIECES; at++)
        if (!pieces[at])
            touch(pieces[at] = must(malloc(bytes / PIECES)), bytes / PIECES);
}

static void free_pieces_below(size_t at)
{
    while (at-- > 0) {
        free(pieces[at]);
        pieces[at] = NULL;
    }
}

static void free_pieces(void) { free_pieces_below(PIECES); }

/* The last one keeps the heap from shrinking: pages in its middle are given back. */
static void trim_pieces(void)
{
    free_pieces_below(PIECES - 1);
    malloc_trim(0);
}

static void keep_heap(void)
{
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
}

/* ---- memory without the allocator ---- */

static void unmap(void) { munmap(reserve, bytes); }

static void take_map(void)
{
    reserve = must(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    touch(reserve, bytes);
}

static void take_raw_map(void) { touch(reserve = map(bytes, PROT_READ | PROT_WRITE), bytes); }

static void take_growing_map(void)
{
    reserve = map(PAGE, PROT_READ | PROT_WRITE);
    touch(reserve = must(mremap(reserve, PAGE, bytes, MREMAP_MAYMOVE)), bytes);
}

static void take_protected_map(void)
{
    reserve = map(bytes, PROT_NONE);
    mprotect(reserve, bytes, PROT_READ | PROT_WRITE);
    touch(reserve, bytes);
}

static void take_many_maps(void)
{
    reserve = map(bytes, PROT_NONE);
    for (size_t at = 0; at < bytes; at += 64 * PAGE)
        mmap(reserve + at, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    touch(reserve, bytes);
}

static void take_break(void) { touch(must(sbrk((long)bytes)), bytes); }
static void free_break(void) { sbrk(-(long)bytes); }

static void take_reserve(void)
{
    if (!reserve)
        reserve = map(bytes, PROT_READ | PROT_WRITE);
    touch(reserve, bytes);
}

static void give_back(void) { madvise(reserve, bytes, MADV_DONTNEED); }
static void give_back_by_syscall(void) { syscall(SYS_madvise, reserve, bytes, MADV_DONTNEED); }

static void prepare_nothing(void) {}

static const struct way {
    const char *name;
    void (*prepare)(void), (*take)(void), (*release)(void);
} ways[] = {
    {"malloc", prepare_nothing, take_malloc, free_block},
    {"calloc", prepare_nothing, take_calloc, free_block},
    {"memalign", prepare_nothing, take_memalign, free_block},
    {"aligned_alloc", prepare_nothing, take_aligned, free_block},
    {"posix_memalign", prepare_nothing, take_posix, free_block},
    {"realloc", prepare_nothing, take_realloc, free_block},
    {"pieces", prepare_nothing, take_pieces, free_pieces},
    {"trimmed", keep_heap, take_pieces, trim_pieces},
    {"mmap", prepare_nothing, take_map, unmap},
    {"raw-mmap", prepare_nothing, take_raw_map, unmap},
    {"mremap", prepare_nothing, take_growing_map, unmap},
    {"mprotect", prepare_nothing, take_protected_map, unmap},
    {"many-mmaps", prepare_nothing, take_many_maps, unmap},
    {"sbrk", prepare_nothing, take_break, free_break},
    {"madvise", prepare_nothing, take_reserve, give_back},
    {"syscall-madvise", prepare_nothing, take_reserve, give_back_by_syscall},
};

/* ---- taking turns ---- */

static void stall(double most)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double until =
        (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + most * (double)rand_r(&state) / RAND_MAX;
    while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < until)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

/* What a rank has resident and does not share. */
static size_t held_by(int other)
{
    char path[64], text[128] = "";
    size_t all, resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pids[other]);
    int fd = open(path, O_RDONLY);
    if (read(fd, text, sizeof text - 1) <= 0 || sscanf(text, "%zu %zu %zu", &all, &resident, &shared) != 3)
        must(NULL);
    close(fd);
    return (resident - shared) * PAGE;
}

static bool holds_too_much(long round, int other, size_t before, long check)
{
    const size_t now = held_by(other);
    if (now <= before + bytes / 4)
        return false;
    fprintf(stderr, "memory_turns: round %ld, check %ld: rank %d sees rank %d hold %zu KiB (at first %zu)\n",
            round, check, rank, other, now >> 10, before >> 10);
    return true;
}

static void run(const struct way *way, long rounds, long *checks, long *wrong)
{
    size_t before[64];
    for (int other = 0; other < size; other++)
        before[other] = held_by(other);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 0; round < rounds * size; round++) {
        if (round % size == rank) {
            stall(2e-3);
            way->take();
            make_step();
            if (is_held)
                hold_until((rank + 1) % size, round / size + 1);
            else
                stall(2e-3);
            for (int other = 0; other < size; other++)
                if (other != rank)
                    *wrong += holds_too_much(round, other, before[other], ++*checks);
            way->release();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct way *way = NULL;
    long rounds = 10, mine[2] = {0, 0}, all[2];
    int pid = getpid();
    bytes = 32 << 20;
    for (int i = 1; i < argc; i++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            if (!strncmp(argv[i], "way=", 4) && !strcmp(argv[i] + 4, ways[w].name))
                way = &ways[w];
        is_held |= !strcmp(argv[i], "held=1");
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atol(argv[i] + 7);
        if (!strncmp(argv[i], "mib=", 4))
            bytes = (size_t)atol(argv[i] + 4) << 20;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = (unsigned)rank + 1;
    must((void *)way);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (is_held)
        hold_begin();
    way->prepare();
    run(way, rounds, &mine[0], &mine[1]);
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT checks %ld wrong %ld\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
