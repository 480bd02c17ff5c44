/* Code of the program that runs behind a barrier without having been called there, or that dies there. What
 * it writes to a file must not be seen before the barrier is complete.
 *
 *   program_code case=NAME dir=/tmp/x [rounds=10] [held=1]
 *
 * Rank 0 enters a barrier and goes on to where its own code is run: by an error handler, an operator, a
 * generalized request, or a fault. Rank 1 works for a while before it enters the barrier or, with held=1,
 * waits until that code has run, which never happens where barriers are complete. It then looks whether rank
 * 0 has written already. Prints RESULT wrong N. For the cases that die rank 1 leaves a file that says whether
 * it came that far. */
#define _GNU_SOURCE
#include "hold.h"
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int rank, round_now, is_held;
static char dir[200] = "/tmp";

static const char *path(const char *what)
{
    static char text[260];
    snprintf(text, sizeof text, "%s/%s%d", dir, what, round_now);
    return text;
}

static void mark(const char *what)
{
    int fd = open(path(what), O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    close(fd);
}

static int is_marked(const char *what)
{
    struct stat found;
    return !stat(path(what), &found);
}

static void work(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

/* ---- an error handler, called for a receive that is too short ---- */

static void note_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    mark("seen");
}

static void open_errhandler(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

static void run_errhandler(void)
{
    char small;
    MPI_Recv(&small, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void before_errhandler(void)
{
    char large[64] = "";
    MPI_Send(large, 64, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
}

/* ---- an operator; rank 0 only contributes ---- */

static MPI_Op op;

static void combine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (rank == 0)
        mark("seen");
}

static void open_operator(void) { MPI_Op_create(combine, 1, &op); }

static void run_operator(void)
{
    int mine[2] = {1, 2}, sum[2];
    MPI_Reduce(mine, sum, 2, MPI_INT, op, 1, MPI_COMM_WORLD);
    MPI_Reduce_local(mine, sum, 2, MPI_INT, op);
}

static void after_operator(void)
{
    int mine[2] = {1, 2}, sum[2];
    MPI_Reduce(mine, sum, 2, MPI_INT, op, 1, MPI_COMM_WORLD);
}

/* ---- a generalized request: its functions are called from MPI_Wait ---- */

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 0;
    mark("seen");
    return MPI_SUCCESS;
}

static int release(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static MPI_Request request;

static void before_request(void)
{
    if (rank == 0) {
        MPI_Grequest_start(query, release, cancel, NULL, &request);
        MPI_Grequest_complete(request);
    }
}

static void run_request(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

/* ---- an attribute of a communicator, copied ---- */

static int keyval;
static MPI_Comm annotated;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copied;
    mark("seen");
    *flag = 0;
    return MPI_SUCCESS;
}

static void open_attribute(void)
{
    MPI_Comm_dup(MPI_COMM_SELF, &annotated);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(annotated, keyval, NULL);
}

static void run_attribute(void)
{
    MPI_Comm duplicate;
    MPI_Comm_dup(annotated, &duplicate);
    MPI_Comm_free(&duplicate);
}

/* ---- deaths, and a fault that the program survives ---- */

static volatile int zero;
static int *volatile nowhere;
static sigjmp_buf again;

static void die_by_segv(void) { *nowhere = 1; }
static void die_by_fpe(void) { round_now = 100 / zero; }
static void die_by_trap(void) { __builtin_trap(); }
static void die_by_abort(void) { abort(); }
static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}
static void die_by_overflow(void) { zero = overflow(0); }

/* The kernel ends a process at once whose fault is blocked. */
static void block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void come_back(int signal)
{
    (void)signal;
    mark("seen");
    siglongjmp(again, 1);
}

static void open_survivor(void)
{
    struct sigaction action = {.sa_handler = come_back};
    sigaction(SIGSEGV, &action, NULL);
}

static void run_survivor(void)
{
    if (!sigsetjmp(again, 1))
        *nowhere = 1;
}

/* ---- the cases ---- */

static void nothing(void) {}

static const struct test {
    const char *name;
    void (*open)(void);
    void (*before)(void); /* the barrier */
    void (*run)(void);    /* on rank 0, behind the barrier */
    void (*after)(void);  /* on rank 1, behind the barrier */
} tests[] = {
    {"errhandler", open_errhandler, before_errhandler, run_errhandler, nothing},
    {"operator", open_operator, nothing, run_operator, after_operator},
    {"request", nothing, before_request, run_request, nothing},
    {"attribute", open_attribute, nothing, run_attribute, nothing},
    {"survivor", open_survivor, nothing, run_survivor, nothing},
    {"segv", nothing, nothing, die_by_segv, nothing},
    {"blocked-segv", block_all, nothing, die_by_segv, nothing},
    {"fpe", nothing, nothing, die_by_fpe, nothing},
    {"trap", nothing, nothing, die_by_trap, nothing},
    {"abort", nothing, nothing, die_by_abort, nothing},
    {"overflow", nothing, nothing, die_by_overflow, nothing},
};

static long run(const struct test *test, int rounds)
{
    long wrong = 0;
    for (round_now = 0; round_now < rounds; round_now++) {
        MPI_Barrier(MPI_COMM_WORLD); /* each rank is ready for the next round */
        int one = 1, all;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 1 || test->before == before_request)
            test->before();
        if (rank == 1) {
            if (is_held)
                hold_until(0, round_now + 1);
            else
                work(rounds == 1 ? 0.5 : 0.02); /* launchers need a moment to end a job */
            wrong += is_marked("seen");
            mark("checkpoint");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            test->run(), make_step();
        else if (rank == 1)
            test->after();
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const struct test *test = NULL;
    int rounds = 10;
    for (int i = 1; i < argc; i++) {
        for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
            if (!strncmp(argv[i], "case=", 5) && !strcmp(argv[i] + 5, tests[t].name))
                test = &tests[t];
        is_held |= !strcmp(argv[i], "held=1");
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atoi(argv[i] + 7);
        if (!strncmp(argv[i], "dir=", 4))
            snprintf(dir, sizeof dir, "%s", argv[i] + 4);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!test) {
        fprintf(stderr, "program_code: case=NAME is missing or unknown\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (is_held)
        hold_begin();
    test->open();
    long mine = run(test, rounds), wrong;
    MPI_Reduce(&mine, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT wrong %ld\n", wrong);
    MPI_Finalize();
    return 0;
}
