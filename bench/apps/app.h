/* What the programs of this folder share: parameters given as key=value, time, random numbers by index,
 * histograms over powers of two, and the line that a run ends with:
 *
 *   RESULT ok|wrong app=NAME ranks=P key=value... seconds=S
 *
 * The exit code is 0 if the answer is right, 1 if it is wrong, and 2 for wrong usage. These are ordinary MPI
 * programs: nothing here knows of evenkeel. */
#ifndef BENCH_APP_H
#define BENCH_APP_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime under -std=c11 */
#endif
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct parameter {
    const char *name, *default_value;
    const char *values; /* "N", "FILE", or the words allowed: "smart|naive" */
    const char *about;
    const char *given; /* on the command line; NULL if it was not given */
} parameter;

/* One program, as one rank runs it. The last entry of `parameters` has no name. */
typedef struct app {
    const char *name, *about;
    parameter *parameters;
    int rank, ranks;
} app;

/* Memory filled with zeros; at least one byte, so that a rank with an empty share gets a valid pointer. */
static inline void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        fprintf(stderr, "out of memory; try smaller sizes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

static inline parameter *app_find(const app *a, const char *name, size_t length)
{
    for (parameter *p = a->parameters; p->name; p++)
        if (strlen(p->name) == length && strncmp(p->name, name, length) == 0)
            return p;
    return NULL;
}

/* Whether `word` is one of `words`, which '|' separates. */
static inline int app_is_word_of(const char *word, const char *words)
{
    size_t length = strlen(word);
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (length && strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == 0))
            return 1;
    return 0;
}

static inline void app_help(const app *a, FILE *to)
{
    fprintf(to, "%s\n\nmpirun -n RANKS %s [KEY=VALUE]...\n\n", a->about, a->name);
    for (parameter *p = a->parameters; p->name; p++)
        fprintf(to, "  %s=%s\n        %s [%s]\n", p->name, p->values, p->about,
                *p->default_value ? p->default_value : "none");
    fprintf(to, "\nThe last line begins with `RESULT ok` or `RESULT wrong`. The exit code is 0, or 1 if the "
                "answer is wrong.\n");
}

/* Whether strtod reads all of the text as one number. */
static inline int app_is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end != text && *end == 0;
}

static inline int app_fits(const parameter *p, const char *value)
{
    if (strcmp(p->values, "FILE") == 0)
        return 1;
    return strcmp(p->values, "N") == 0 ? app_is_number(value) : app_is_word_of(value, p->values);
}

/* Takes in one word of the command line. Wrong usage ends the program with a sentence and exit code 2. */
static inline void app_read_argument(app *a, const char *word)
{
    const char *equals = strchr(word, '=');
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        app_help(a, stdout);
        exit(0);
    }
    parameter *p = equals ? app_find(a, word, (size_t)(equals - word)) : NULL;
    if (!p) {
        fprintf(stderr, "%s: unknown parameter `%s`; --help lists the parameters\n", a->name, word);
        exit(2);
    }
    p->given = equals + 1;
    if (!app_fits(p, p->given)) {
        fprintf(stderr, "%s: invalid value `%s` for %s; expected %s\n", a->name, p->given, p->name,
                p->values);
        exit(2);
    }
}

/* Reads the command line, then starts MPI: wrong usage is reported before MPI starts. */
static inline void app_start(app *a, int *argc, char ***argv)
{
    for (int i = 1; i < *argc; i++)
        app_read_argument(a, (*argv)[i]);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &a->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &a->ranks);
}

static inline const char *app_text(const app *a, const char *name)
{
    const parameter *p = app_find(a, name, strlen(name));
    if (!p)
        abort();
    return p->given ? p->given : p->default_value;
}

/* Whether the parameter has this value. */
static inline int app_is(const app *a, const char *name, const char *word)
{
    return strcmp(app_text(a, name), word) == 0;
}
static inline double app_double(const app *a, const char *name) { return atof(app_text(a, name)); }
static inline long app_long(const app *a, const char *name) { return (long)app_double(a, name); }

/* Ends the program on every rank: all ranks have seen the same wrong parameter, and rank 0 reports it. */
_Noreturn static inline void app_refuse(const app *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (a->rank == 0) {
        fprintf(stderr, "%s: ", a->name);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
    MPI_Finalize();
    exit(2);
}

/* A size, which must be at least `least`. */
static inline long app_size(const app *a, const char *name, long least)
{
    long n = app_long(a, name);
    if (n < least)
        app_refuse(a, "%s is %ld, but must be at least %ld here", name, n, least);
    return n;
}

/* Ends MPI and returns the exit code. Every rank says whether its part of the answer is right. Rank 0 prints
 * the RESULT line with the longest time of any rank; `format` gives what the line has between the number of
 * ranks and the seconds. */
static inline int app_finish(const app *a, int right, double seconds, const char *format, ...)
{
    double longest = seconds, all_right = right, lowest = right;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&all_right, &lowest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    if (a->rank == 0) {
        va_list rest;
        va_start(rest, format);
        printf("RESULT %s app=%s ranks=%d ", lowest == 1 ? "ok" : "wrong", a->name, a->ranks);
        vprintf(format, rest);
        printf(" seconds=%.6f\n", longest);
        va_end(rest);
        fflush(stdout);
    }
    MPI_Finalize();
    return lowest == 1 ? 0 : 1;
}

/* ---- time and random numbers ---- */

/* Nanoseconds. MPI_Wtime will not do: its resolution is a microsecond in some libraries. */
static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits until all ranks have arrived, and returns the time at which the timed part starts. A deferred barrier
 * may let a rank go before the others have arrived, as long as the rank cannot notice through MPI. The C
 * library's clock is not part of MPI, but MPI_Wtime is: the call makes the barrier complete first. */
static inline uint64_t start_together_ns(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wtime();
    return now_ns();
}

/* Returns once all ranks have arrived. Without it, a rank that checks its answer could take the core of a
 * rank that is still timing. */
static inline void wait_for_all(void) { start_together_ns(); }

/* A random number that depends on seed and index alone, so that every rank can compute the data of any other
 * (splitmix64: Steele, Lea, Flood 2014). */
static inline uint64_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The index of the first of n elements that rank r of p holds. For r = p it is n, one behind the last
 * element. Shares differ by one element at most. */
static inline long first_of(long n, int p, int r) { return (long)((__int128)n * r / p); }

/* The rank that holds element i of n. */
static inline int owner_of(long n, int p, long i)
{
    int r = (int)((__int128)i * p / n);
    while (first_of(n, p, r) > i)
        r--;
    while (first_of(n, p, r + 1) <= i)
        r++;
    return r;
}

/* ---- histograms ---- */

/* Bin b counts times from 2^b to 2^(b+1) - 1 ns. The first bin also counts 0, and the last one counts
 * everything above. */
enum { BINS = 40 };

typedef struct histogram {
    uint64_t count[BINS];
} histogram;

static inline void histogram_add(histogram *h, uint64_t ns)
{
    int bin = 0;
    while (bin + 1 < BINS && ns >> (bin + 1))
        bin++;
    h->count[bin]++;
}

static inline void histogram_print(const histogram *h, const char *what)
{
    uint64_t all = 0;
    int first = BINS, last = -1;
    for (int b = 0; b < BINS; b++) {
        all += h->count[b];
        if (h->count[b]) {
            first = b < first ? b : first;
            last = b;
        }
    }
    for (int b = first; b <= last; b++) {
        double share = (double)h->count[b] / (double)all;
        printf("%s from_us=%.3f count=%llu share=%.6f ", what, (double)(1ull << b) / 1e3,
               (unsigned long long)h->count[b], share);
        for (int i = 0; i < (int)(share * 50 + 0.5); i++)
            putchar('#');
        putchar('\n');
    }
}
#endif
