/* Solves A x = b for a symmetric positive definite A by Cholesky's method (Pakin 2001, sections 3.1 and 5.2),
 * columns dealt out to the ranks in turn. One barrier, then for each column k a reduction of a vector of n -
 * k numbers to the rank that has the column (so that the root rotates), n reductions of one number on the way
 * forward, n - 1 broadcasts of one number on the way back.
 *
 * check=serial: rank 0 solves it alone and compares (n^3 / 3 operations). check=residual: |A x - b|, for
 * large n. */
#include "app.h"
#include <math.h>

static parameter parameters[] = {
    {"n", "300", "N", "rows and columns", 0},
    {"check", "serial", "serial|residual", "against a serial solution, or A x against b", 0},
    {"seed", "1", "N", "of the matrix", 0},
    {0}};

static app self = {"cholesky", "Solves linear equations by a Cholesky factorization with rotating roots.",
                   parameters, 0, 0};

/* Symmetric, between -1/2 and 1/2, and dominated by its diagonal: positive definite. */
static double entry(uint64_t seed, long n, long i, long j)
{
    uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    double r = (double)(random_at(seed, high * (high + 1) / 2 + low) >> 11) * 0x1p-53 - 0.5;
    return i == j ? r + (double)n : r;
}

static double right_side(uint64_t seed, long i)
{
    return (double)(random_at(seed + 1, (uint64_t)i) >> 11) * 0x1p-53;
}

/* Turns the columns into those of L; columns[k][i - k] is row i of column k, present on rank k % ranks. */
static void factor(double **columns, long n)
{
    double *sum = room((size_t)n, sizeof *sum), *all = room((size_t)n, sizeof *all);
    for (long k = 0; k < n; k++) {
        int root = (int)(k % self.ranks);
        memset(sum, 0, (size_t)(n - k) * sizeof *sum);
        for (long j = self.rank; j < k; j += self.ranks) {
            const double *column = columns[j] + (k - j);
            double factor = column[0];
            for (long i = 0; i < n - k; i++)
                sum[i] += column[i] * factor;
        }
        MPI_Reduce(sum, all, (int)(n - k), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        if (self.rank != root)
            continue;
        double *column = columns[k], pivot = sqrt(column[0] - all[0]);
        column[0] = pivot;
        for (long i = 1; i < n - k; i++)
            column[i] = (column[i] - all[i]) / pivot;
    }
    free(sum);
    free(all);
}

/* y from L y = b; y[k] is known to rank k % ranks. */
static void forward(double **columns, double *y, long n, uint64_t seed)
{
    for (long k = 0; k < n; k++) {
        double sum = 0, all = 0;
        for (long j = self.rank; j < k; j += self.ranks)
            sum += columns[j][k - j] * y[j];
        MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, (int)(k % self.ranks), MPI_COMM_WORLD);
        if (k % self.ranks == self.rank)
            y[k] = (right_side(seed, k) - all) / columns[k][0];
    }
}

/* x from L^T x = y, in its place; all ranks know all but x[0], which rank 0 knows. */
static void backward(double **columns, double *x, long n)
{
    for (long k = n - 1; k >= 0; k--) {
        if (k % self.ranks == self.rank) {
            double sum = 0;
            for (long i = k + 1; i < n; i++)
                sum += columns[k][i - k] * x[i];
            x[k] = (x[k] - sum) / columns[k][0];
        }
        if (k > 0)
            MPI_Bcast(&x[k], 1, MPI_DOUBLE, (int)(k % self.ranks), MPI_COMM_WORLD);
    }
}

/* The largest difference to what one process computes alone, row by row as in a textbook. */
static double against_serial(const double *x, long n, uint64_t seed)
{
    double *l = room((size_t)(n * n), sizeof *l), *y = room((size_t)n, sizeof *y), worst = 0;
    for (long i = 0; i < n; i++) {
        for (long j = 0; j <= i; j++) {
            double sum = entry(seed, n, i, j);
            for (long k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
        double sum = right_side(seed, i);
        for (long k = 0; k < i; k++)
            sum -= l[i * n + k] * y[k];
        y[i] = sum / l[i * n + i];
    }
    for (long i = n - 1; i >= 0; i--) {
        for (long k = i + 1; k < n; k++)
            y[i] -= l[k * n + i] * y[k];
        y[i] /= l[i * n + i];
        double difference = fabs(y[i] - x[i]);
        worst = difference <= worst ? worst : difference; /* so that not-a-number is kept */
    }
    free(l);
    free(y);
    return worst * (double)n; /* x is of size 1/n */
}

static double residual(const double *x, long n, uint64_t seed)
{
    double worst = 0;
    for (long i = 0; i < n; i++) {
        double sum = -right_side(seed, i);
        for (long j = 0; j < n; j++)
            sum += entry(seed, n, i, j) * x[j];
        worst = fabs(sum) <= worst ? worst : fabs(sum);
    }
    return worst;
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long n = app_size(&self, "n", 1);
    uint64_t seed = (uint64_t)app_long(&self, "seed");
    double **columns = room((size_t)n, sizeof *columns), *x = room((size_t)n, sizeof *x);
    for (long k = self.rank; k < n; k += self.ranks) {
        columns[k] = room((size_t)(n - k), sizeof **columns);
        for (long i = k; i < n; i++)
            columns[k][i - k] = entry(seed, n, i, k);
    }
    uint64_t at[4] = {all_begin_ns()};
    factor(columns, n);
    at[1] = now_ns();
    forward(columns, x, n, seed);
    at[2] = now_ns();
    backward(columns, x, n);
    at[3] = now_ns();
    double error = 0;
    if (self.rank == 0)
        error = app_says(&self, "check", "serial") ? against_serial(x, n, seed) : residual(x, n, seed);
    for (long k = self.rank; k < n; k += self.ranks)
        free(columns[k]);
    free(columns);
    free(x);
    double spent[3] = {0}, longest[3] = {0};
    for (int i = 0; i < 3; i++)
        spent[i] = (double)(at[i + 1] - at[i]) / 1e9;
    MPI_Reduce(spent, longest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return app_end(&self, error < 1e-9, (double)(at[3] - at[0]) / 1e9,
                   "n=%ld check=%s error=%.2e factor_s=%.6f forward_s=%.6f backward_s=%.6f", n,
                   app_text(&self, "check"), error, longest[0], longest[1], longest[2]);
}
