/* What one call of MPI_Barrier costs the rank that makes it, when it need not wait there. An ordinary MPI
 * program, and one that shares no memory of its own: whatever defers barriers may defer these.
 *
 *   call [--blocks N] [--in-a-row K] [--limit S]
 *
 * Each rank, for itself, N times: K barriers in a row, each between two readings of the processor's counter,
 * some computation, and K barriers in a row between only two readings; then some computation. What two
 * readings around nothing differ by is measured between them in the same way, and taken off. A call that
 * takes longer than 1 µs has waited, or was interrupted; such calls are counted, and left out, and so are
 * rows with one. The counter moves in steps of 10 ns on some processors: hence, beside the median of single
 * calls, the mean of their middle half, and the rows, which divide a step among K calls. */
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"

#if defined(__x86_64__)
static inline uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}
#else
static inline uint64_t ticks(void) { return wall_ns(); }
#endif

static double ticks_per_ns(void)
{
    uint64_t from = wall_ns(), first = ticks(), now;
    while ((now = wall_ns()) - from < 20000000u)
        ;
    return (double)(ticks() - first) / (double)(now - from);
}

/* Mean of the middle half of sorted values. */
static double middle(const uint64_t *v, long n)
{
    double sum = 0;
    long from = n / 4, to = n - n / 4;
    for (long i = from; i < to; i++)
        sum += (double)v[i];
    return n ? sum / (double)(to - from) : 0;
}

/* Sorts; how many are not above the limit. */
static long sort_and_cut(uint64_t *v, long n, uint64_t limit)
{
    qsort(v, (size_t)n, sizeof *v, clock_compare);
    while (n && v[n - 1] > limit)
        n--;
    return n;
}

int main(int argc, char **argv)
{
    long blocks = 1000, row = 8;
    int limit_s = 0, c;
    static const struct option options[] = {
        {"blocks", 1, 0, 'b'}, {"in-a-row", 1, 0, 'k'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'b': blocks = atol(optarg); break;
        case 'k': row = atol(optarg); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    if (blocks < 1 || row < 1)
        return 2;
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    int rank, ranks, length;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &length);
    for (char *at = library; *at; at++)
        if (*at == '\n' || *at == '\t' || *at == '"' || *at == '\\')
            *at = ' ';
    long calls = blocks * row;
    uint64_t *single = calloc((size_t)calls, sizeof *single),
             *nothing = calloc((size_t)calls, sizeof *nothing), *rows = calloc((size_t)blocks, sizeof *rows);
    if (!single || !nothing || !rows)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (long i = 0; i < calls; i++)
        single[i] = nothing[i] = 1; /* touched now, so that no page fault falls between two readings */
    for (long i = 0; i < blocks; i++)
        rows[i] = 1;
    double per_ns = ticks_per_ns();

    for (long b = -blocks / 10; b < blocks; b++) { /* the first tenth warms up */
        long at = b < 0 ? 0 : b;
        for (long i = 0; i < row; i++) {
            uint64_t from = ticks();
            MPI_Barrier(MPI_COMM_WORLD);
            single[at * row + i] = ticks() - from;
            from = ticks();
            nothing[at * row + i] = ticks() - from;
        }
        busy(10000);
        uint64_t from = ticks();
        for (long i = 0; i < row; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        rows[at] = ticks() - from;
        busy(10000);
    }

    uint64_t limit = (uint64_t)(1000 * per_ns);
    double mine[6], sums[6] = {0}, most[6] = {0};
    long quiet = sort_and_cut(nothing, calls, limit), kept = sort_and_cut(single, calls, limit),
         kept_rows = sort_and_cut(rows, blocks, (uint64_t)row * limit);
    mine[0] = kept ? ((double)single[kept / 2] - (double)nothing[quiet / 2]) / per_ns : 0;
    mine[1] = kept ? (middle(single, kept) - middle(nothing, quiet)) / per_ns : 0;
    mine[2] = kept_rows ? ((double)rows[kept_rows / 2] - middle(nothing, quiet)) / per_ns / (double)row : 0;
    mine[3] = (double)(calls - kept) / (double)calls;
    mine[4] = middle(nothing, quiet) / per_ns;
    mine[5] = kept > 0 && kept_rows > 0;
    MPI_Reduce(mine, sums, 6, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, most, 6, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("result {\"program\": \"call\", \"library\": \"%.100s\", \"ranks\": %d}\n", library, ranks);
        printf("result {\"op\": \"call\", \"bytes\": 0, \"ranks\": %d, \"iterations\": %ld, ", ranks, calls);
        if (sums[5] == ranks)
            printf("\"call_ns\": %.3f, \"worst_rank_ns\": %.3f, \"middle_ns\": %.3f, \"row_ns\": %.3f, ",
                   sums[0] / ranks, most[0], sums[1] / ranks, sums[2] / ranks);
        else
            printf("\"skipped\": \"on %d ranks every call waited\", ", ranks - (int)sums[5]);
        printf("\"waited\": %.6f, \"clock_ns\": %.3f}\n", sums[3] / ranks, sums[4] / ranks);
    }
    MPI_Finalize();
    return 0;
}
