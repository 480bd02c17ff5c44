/* How long collectives of long data take, back to back: the best of a few series, of the slowest rank. An
 * ordinary MPI program.
 *
 *   long_collectives OPERATIONS SIZES
 *
 * OPERATIONS: names of MPI's without MPI_, in lower case, separated by commas; SIZES: bytes of a vector or of
 * a block. Prints lines of operation, bytes, microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 5 };
static const double SERIES_S = 0.006;

static int rank, ranks;
static double *from, *to;
static int *counts, *places;

/* A collective of n numbers: a vector, or a block for each rank. */
typedef struct operation {
    const char *name;
    void (*blocking)(int n);
    void (*nonblocking)(int n, MPI_Request *request);
} operation;

#define WORLD MPI_COMM_WORLD
#define NUMBERS n, MPI_DOUBLE

#define OPERATION(name, Name, Iname, ...)                 \
    static void name(int n) { Name(__VA_ARGS__, WORLD); } \
    static void i##name(int n, MPI_Request *request) { Iname(__VA_ARGS__, WORLD, request); }

OPERATION(allreduce, MPI_Allreduce, MPI_Iallreduce, from, to, NUMBERS, MPI_SUM)
OPERATION(reduce, MPI_Reduce, MPI_Ireduce, from, to, NUMBERS, MPI_SUM, 0)
OPERATION(reduce_scatter_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, from, to, n / ranks,
          MPI_DOUBLE, MPI_SUM)
OPERATION(scan, MPI_Scan, MPI_Iscan, from, to, NUMBERS, MPI_SUM)
OPERATION(bcast, MPI_Bcast, MPI_Ibcast, from, NUMBERS, 0)
OPERATION(gather, MPI_Gather, MPI_Igather, from, NUMBERS, to, NUMBERS, 0)
OPERATION(scatter, MPI_Scatter, MPI_Iscatter, from, NUMBERS, to, NUMBERS, 0)
OPERATION(allgather, MPI_Allgather, MPI_Iallgather, from, NUMBERS, to, NUMBERS)
OPERATION(alltoall, MPI_Alltoall, MPI_Ialltoall, from, NUMBERS, to, NUMBERS)
OPERATION(gatherv, MPI_Gatherv, MPI_Igatherv, from, NUMBERS, to, counts, places, MPI_DOUBLE, 0)
OPERATION(scatterv, MPI_Scatterv, MPI_Iscatterv, from, counts, places, MPI_DOUBLE, to, NUMBERS, 0)
OPERATION(allgatherv, MPI_Allgatherv, MPI_Iallgatherv, from, NUMBERS, to, counts, places, MPI_DOUBLE)
OPERATION(alltoallv, MPI_Alltoallv, MPI_Ialltoallv, from, counts, places, MPI_DOUBLE, to, counts, places,
          MPI_DOUBLE)

#define ENTRY(name) {#name, name, i##name}
static const operation operations[] = {
    ENTRY(allreduce), ENTRY(reduce),    ENTRY(reduce_scatter_block),
    ENTRY(scan),      ENTRY(bcast),     ENTRY(gather),
    ENTRY(scatter),   ENTRY(allgather), ENTRY(alltoall),
    ENTRY(gatherv),   ENTRY(scatterv),  ENTRY(allgatherv),
    ENTRY(alltoallv),
};

static const operation *find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(operations[i].name, name))
            return &operations[i];
    fprintf(stderr, "long_collectives: there is no operation %s\n", name);
    MPI_Abort(WORLD, 2);
    return NULL;
}

/* Seconds a call. */
static double series(const operation *o, int is_blocking, int n, int calls)
{
    MPI_Request request;
    double longest;
    MPI_Barrier(WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        if (is_blocking) {
            o->blocking(n);
        } else {
            o->nonblocking(n, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    double mine = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, WORLD);
    return longest;
}

static void measure(const char *name, size_t bytes)
{
    int is_blocking = name[0] != 'i', n = (int)(bytes / sizeof *from);
    const operation *o = find(name + !is_blocking);
    for (int r = 0; r < ranks; r++)
        counts[r] = n, places[r] = r * n;
    series(o, is_blocking, n, 1);
    int calls = (int)(SERIES_S / series(o, is_blocking, n, 2));
    calls = calls < 2 ? 2 : calls > 2000 ? 2000 : calls;
    double best = 1e30;
    for (int i = 0; i < SERIES; i++) {
        double time = series(o, is_blocking, n, calls);
        best = time < best ? time : best;
    }
    if (rank == 0)
        printf("%s %zu %.2f\n", name, bytes, best * 1e6);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    if (argc != 3) {
        fprintf(stderr, "usage: long_collectives OPERATIONS SIZES\n");
        MPI_Abort(WORLD, 2);
    }
    size_t sizes[32], count = 0, longest = 0;
    for (char *word = strtok(argv[2], ","); word && count < 32; word = strtok(NULL, ","), count++) {
        sizes[count] = (size_t)atol(word);
        longest = sizes[count] > longest ? sizes[count] : longest;
    }
    size_t numbers = longest / sizeof *from * (size_t)ranks;
    from = malloc(numbers * sizeof *from), to = malloc(numbers * sizeof *to);
    counts = malloc(sizeof *counts * (size_t)ranks), places = malloc(sizeof *places * (size_t)ranks);
    for (size_t i = 0; i < numbers; i++)
        from[i] = (double)i, to[i] = 0; /* pages that were never written would all be one page */
    /* Short ones first: for some time after long work, the kernel gives ranks that did much of it less of the
     * cores. */
    for (size_t i = 0; i < count; i++) {
        char *names = strdup(argv[1]);
        for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
            measure(name, sizes[i]);
        free(names);
    }
    MPI_Finalize();
    return 0;
}
