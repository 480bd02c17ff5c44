/* How long reductions of long vectors take, back to back: the best of a few series, of the slowest rank. An
 * ordinary MPI program.
 *
 *   reductions
 *
 * Prints lines of operation, bytes of the vector, microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 524288, SERIES = 7 };

static double *from, *to;

static void reduce(int operation, int n, int ranks)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    if (operation == 0)
        MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, comm);
    else if (operation == 1)
        MPI_Reduce(from, to, n, MPI_DOUBLE, MPI_SUM, 0, comm);
    else
        MPI_Reduce_scatter_block(from, to, n / ranks, MPI_DOUBLE, MPI_SUM, comm);
}

static double series(int operation, int n, int ranks, int calls)
{
    double longest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        reduce(operation, n, ranks);
    double mine = (MPI_Wtime() - begin) / calls * 1e6;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"allreduce", "reduce", "reduce_scatter_block"};
    static const int sizes[] = {6144, 16384, 32768, 131072, LONGEST};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    from = malloc(LONGEST * sizeof *from), to = malloc(LONGEST * sizeof *to);
    for (int i = 0; i < LONGEST; i++)
        from[i] = i, to[i] = 0; /* pages that were never written would all be one page */
    for (int operation = 0; operation < 3; operation++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int n = sizes[s] / ranks * ranks, calls = 2000000 / n / (ranks > 2 ? 4 : 1) + 2;
            double best = 1e30;
            for (int i = 0; i < SERIES; i++) {
                double time = series(operation, n, ranks, calls);
                best = time < best ? time : best;
            }
            if (rank == 0)
                printf("%s %zu %.1f\n", names[operation], (size_t)n * sizeof *from, best);
        }
    MPI_Finalize();
    return 0;
}
