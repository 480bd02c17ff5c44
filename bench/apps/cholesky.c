/* Solves A x = b for a symmetric positive definite A by Cholesky's method (Pakin 2001, sections 3.1 and 5.2).
 * Column k belongs to rank k % ranks. After one barrier, the factorization does a reduction of a vector of
 * n - k numbers for each column k, to the rank that has the column: the root rotates. Forward substitution
 * does n reductions of one number, backward substitution n - 1 broadcasts of one number.
 *
 * check=serial: rank 0 solves the equations alone and compares (n^3 / 3 operations). check=residual: rank 0
 * computes |A x - b|, for large n. */
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

/* Replaces the columns of A by those of L. columns[k][i - k] is row i of column k; rank k % ranks has it. */
static void factor(double **columns, long n)
{
    double *sum = allocate((size_t)n, sizeof *sum), *all = allocate((size_t)n, sizeof *all);
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

/* Solves L y = b. Rank k % ranks gets y[k]. */
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

/* Solves L^T x = y in place. All ranks get all of x, except for x[0], which only rank 0 gets. */
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

/* The largest difference to the solution that one process computes alone, row by row as in a textbook. */
static double against_serial(const double *x, long n, uint64_t seed)
{
    double *l = allocate((size_t)(n * n), sizeof *l), *y = allocate((size_t)n, sizeof *y), worst = 0;
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
        worst = difference <= worst ? worst : difference; /* written so that not-a-number is kept */
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
    double **columns = allocate((size_t)n, sizeof *columns), *x = allocate((size_t)n, sizeof *x);
    for (long k = self.rank; k < n; k += self.ranks) {
        columns[k] = allocate((size_t)(n - k), sizeof **columns);
        for (long i = k; i < n; i++)
            columns[k][i - k] = entry(seed, n, i, k);
    }
    uint64_t at[4] = {start_together_ns()};
    factor(columns, n);
    at[1] = now_ns();
    forward(columns, x, n, seed);
    at[2] = now_ns();
    backward(columns, x, n);
    at[3] = now_ns();
    double error = 0;
    if (self.rank == 0)
        error = app_is(&self, "check", "serial") ? against_serial(x, n, seed) : residual(x, n, seed);
    for (long k = self.rank; k < n; k += self.ranks)
        free(columns[k]);
    free(columns);
    free(x);
    double spent[3] = {0}, longest[3] = {0};
    for (int i = 0; i < 3; i++)
        spent[i] = (double)(at[i + 1] - at[i]) / 1e9;
    MPI_Reduce(spent, longest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return app_finish(&self, error < 1e-9, (double)(at[3] - at[0]) / 1e9,
                      "n=%ld check=%s error=%.2e factor_s=%.6f forward_s=%.6f backward_s=%.6f", n,
                      app_text(&self, "check"), error, longest[0], longest[1], longest[2]);
}
