/* What a call of MPI_Barrier costs the rank that makes it, if it need not wait there. An ordinary MPI program
 * without shared memory of its own, so that a library may defer these barriers.
 *
 *   call [--blocks N] [--in-a-row K] [--limit S]
 *
 * Each rank, independently of the others, does N blocks. A block consists of K barriers, each between two
 * readings of the processor's counter; computation; K barriers between only two readings; and computation.
 * The difference of two readings around nothing is measured between them in the same way, and subtracted. A
 * call that takes longer than 1 µs has waited or was interrupted: such calls are counted and left out, and so
 * are rows that contain one. The counter moves in steps of 10 ns on some processors. Hence, beside the median
 * of single calls, the mean of their middle half, and the rows, which divide a step among K calls. */
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "library.h"

enum { PAUSE = 10000 }; /* iterations of computation */

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

/* Sorts the values. Returns how many are not above the limit. */
static long sort_and_cut(uint64_t *v, long n, uint64_t limit)
{
    qsort(v, (size_t)n, sizeof *v, clock_compare);
    while (n && v[n - 1] > limit)
        n--;
    return n;
}

/* Ticks of single calls, of two readings around nothing, and of rows of calls. */
typedef struct measurement {
    long blocks, row, calls;
    uint64_t *single, *nothing, *rows;
} measurement;

static measurement allocate(long blocks, long row)
{
    measurement m = {.blocks = blocks, .row = row, .calls = blocks * row};
    m.single = calloc((size_t)m.calls, sizeof *m.single);
    m.nothing = calloc((size_t)m.calls, sizeof *m.nothing);
    m.rows = calloc((size_t)blocks, sizeof *m.rows);
    if (!m.single || !m.nothing || !m.rows)
        MPI_Abort(MPI_COMM_WORLD, 2);
    /* Touches the pages now, so that no page fault falls between two readings. */
    for (long i = 0; i < m.calls; i++)
        m.single[i] = m.nothing[i] = 1;
    for (long i = 0; i < blocks; i++)
        m.rows[i] = 1;
    return m;
}

static void measure(measurement *m)
{
    uint64_t *single = m->single, *nothing = m->nothing, *rows = m->rows;
    long blocks = m->blocks, row = m->row;
    for (long b = -blocks / 10; b < blocks; b++) { /* the first tenth warms up */
        long at = b < 0 ? 0 : b;
        for (long i = 0; i < row; i++) {
            uint64_t from = ticks();
            MPI_Barrier(MPI_COMM_WORLD);
            single[at * row + i] = ticks() - from;
            from = ticks();
            nothing[at * row + i] = ticks() - from;
        }
        busy(PAUSE);
        uint64_t from = ticks();
        for (long i = 0; i < row; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        rows[at] = ticks() - from;
        busy(PAUSE);
    }
}

enum { MEDIAN_NS, MIDDLE_NS, ROW_NS, WAITED, CLOCK_NS, HAS_CALLS, FIGURES };

/* This rank's figures. HAS_CALLS is 0 if every single call or every row waited. */
static void evaluate(measurement *m, double per_ns, double figures[FIGURES])
{
    uint64_t limit = (uint64_t)(1000 * per_ns);
    long quiet = sort_and_cut(m->nothing, m->calls, limit), kept = sort_and_cut(m->single, m->calls, limit),
         rows = sort_and_cut(m->rows, m->blocks, (uint64_t)m->row * limit);
    double nothing = middle(m->nothing, quiet);
    figures[MEDIAN_NS] = kept ? ((double)m->single[kept / 2] - (double)m->nothing[quiet / 2]) / per_ns : 0;
    figures[MIDDLE_NS] = kept ? (middle(m->single, kept) - nothing) / per_ns : 0;
    figures[ROW_NS] = rows ? ((double)m->rows[rows / 2] - nothing) / per_ns / (double)m->row : 0;
    figures[WAITED] = (double)(m->calls - kept) / (double)m->calls;
    figures[CLOCK_NS] = nothing / per_ns;
    figures[HAS_CALLS] = kept > 0 && rows > 0;
}

/* Rank 0 prints the means over the ranks, and the largest median. */
static void report(const double figures[FIGURES], long calls)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double sums[FIGURES] = {0}, most[FIGURES] = {0};
    MPI_Reduce(figures, sums, FIGURES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(figures, most, FIGURES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    library_name(library);
    printf("result {\"program\": \"call\", \"library\": \"%.100s\", \"ranks\": %d}\n", library, ranks);
    printf("result {\"op\": \"call\", \"bytes\": 0, \"ranks\": %d, \"iterations\": %ld, ", ranks, calls);
    if (sums[HAS_CALLS] == ranks)
        printf("\"call_ns\": %.3f, \"worst_rank_ns\": %.3f, \"middle_ns\": %.3f, \"row_ns\": %.3f, ",
               sums[MEDIAN_NS] / ranks, most[MEDIAN_NS], sums[MIDDLE_NS] / ranks, sums[ROW_NS] / ranks);
    else
        printf("\"skipped\": \"on %d ranks every call waited\", ", ranks - (int)sums[HAS_CALLS]);
    printf("\"waited\": %.6f, \"clock_ns\": %.3f}\n", sums[WAITED] / ranks, sums[CLOCK_NS] / ranks);
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
    measurement m = allocate(blocks, row);
    double per_ns = ticks_per_ns(), figures[FIGURES];
    measure(&m);
    evaluate(&m, per_ns, figures);
    report(figures, m.calls);
    MPI_Finalize();
    return 0;
}
