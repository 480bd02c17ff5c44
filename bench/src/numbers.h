/* Statistics of samples of many ranks and iterations. Uses libc only. */
#ifndef BENCH_NUMBERS_H
#define BENCH_NUMBERS_H
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct numbers {
    double mean, median, p99; /* over all ranks and iterations */
    double completion;        /* median over the iterations of the slowest rank's time */
} numbers;

static int numbers_compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double numbers_quantile(const float *sorted, size_t n, double q)
{
    size_t i = (size_t)(q * (double)(n - 1) + 0.5);
    return sorted[i];
}

/* The sample of a rank's iteration is samples[rank * stride + iteration]; each rank did `done` iterations. */
static inline numbers numbers_of(const float *samples, size_t stride, size_t ranks, size_t done)
{
    numbers out = {0, 0, 0, 0};
    if (!done)
        return out;
    float *all = malloc(ranks * done * sizeof *all), *slowest = malloc(done * sizeof *slowest);
    if (!all || !slowest)
        abort();
    double sum = 0;
    for (size_t i = 0; i < done; i++)
        slowest[i] = samples[i];
    for (size_t r = 0; r < ranks; r++) {
        memcpy(all + r * done, samples + r * stride, done * sizeof *all);
        for (size_t i = 0; i < done; i++) {
            float s = samples[r * stride + i];
            sum += s;
            if (s > slowest[i])
                slowest[i] = s;
        }
    }
    qsort(all, ranks * done, sizeof *all, numbers_compare);
    qsort(slowest, done, sizeof *slowest, numbers_compare);
    out.mean = sum / (double)(ranks * done);
    out.median = numbers_quantile(all, ranks * done, 0.5);
    out.p99 = numbers_quantile(all, ranks * done, 0.99);
    out.completion = numbers_quantile(slowest, done, 0.5);
    free(all);
    free(slowest);
    return out;
}
#endif
