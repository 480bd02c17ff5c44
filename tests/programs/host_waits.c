/* Every call in which a rank waits in the MPI library, while the rank that it waits for is late. The program
 * counts how often its rank yields the core meanwhile.
 *
 * what=CASE[,…]|all  expect=yields|keeps|any */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

/* How often the library or evenkeel has given up the core, and for some time. Their calls come to the
 * functions below. */
static _Atomic long yields, naps;

/* Of a scenario that waits in several calls: the yields in the one that it is about. */
enum { IN_ALL_CALLS = -1 };
static long yields_in_call;

int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

int nanosleep(const struct timespec *span, struct timespec *rest)
{
    yields++;
    naps++;
    return (int)syscall(SYS_nanosleep, span, rest);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *rest)
{
    yields++;
    naps++;
    return syscall(SYS_clock_nanosleep, clock, flags, span, rest) ? errno : 0;
}

enum { LATE_US = 20000, COUNT = 64, MANY = 1 << 18, TAG = 7 };

static int partner;  /* of two ranks that wait for each other */
static bool is_late; /* this rank is the one that is waited for */
static int mine[MANY], theirs[MANY];
static MPI_Status status;

static void fill(int count)
{
    for (int i = 0; i < count; i++) {
        mine[i] = (int)mix3((uint64_t)world_rank, (uint64_t)i, 1);
        theirs[i] = -1;
    }
}

static void check_received(int count, const MPI_Status *s)
{
    int received = -1;
    MPI_Get_count(s, MPI_INT, &received);
    CHECK(s->MPI_SOURCE == partner && s->MPI_TAG == TAG && received == count, "from %d, tag %d, %d elements",
          s->MPI_SOURCE, s->MPI_TAG, received);
    for (int i = 0; i < count; i++)
        CHECK(theirs[i] == (int)mix3((uint64_t)partner, (uint64_t)i, 1), "element %d is %d", i, theirs[i]);
    digest_bytes(theirs, (size_t)count * sizeof *theirs);
}

#define LATE_SENDS(count)                                             \
    if (is_late) {                                                    \
        usleep(LATE_US);                                              \
        MPI_Send(mine, count, MPI_INT, partner, TAG, MPI_COMM_WORLD); \
        return;                                                       \
    }
#define LATE_RECEIVES(count)                                                     \
    if (is_late) {                                                               \
        usleep(LATE_US);                                                         \
        MPI_Recv(theirs, count, MPI_INT, partner, TAG, MPI_COMM_WORLD, &status); \
        check_received(count, &status);                                          \
        return;                                                                  \
    }

static void receives(void)
{
    LATE_SENDS(COUNT)
    EXPECT_OK(MPI_Recv(theirs, COUNT, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_received(COUNT, &status);
}

static void probes(void)
{
    LATE_SENDS(COUNT)
    EXPECT_OK(MPI_Probe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_TAG == TAG, "tag %d", status.MPI_TAG);
    EXPECT_OK(MPI_Recv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &status));
    check_received(COUNT, &status);
}

static void probes_matched(void)
{
    MPI_Message message;
    LATE_SENDS(COUNT)
    EXPECT_OK(MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &status));
    EXPECT_OK(MPI_Mrecv(theirs, COUNT, MPI_INT, &message, &status));
    check_received(COUNT, &status);
}

static void synchronous(void)
{
    LATE_RECEIVES(COUNT)
    EXPECT_OK(MPI_Ssend(mine, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD));
}

static void long_send(void)
{
    LATE_RECEIVES(MANY)
    EXPECT_OK(MPI_Send(mine, MANY, MPI_INT, partner, TAG, MPI_COMM_WORLD));
}

static void sendrecv(void)
{
    if (is_late)
        usleep(LATE_US);
    EXPECT_OK(MPI_Sendrecv(mine, COUNT, MPI_INT, partner, TAG, theirs, COUNT, MPI_INT, partner, TAG,
                           MPI_COMM_WORLD, &status));
    check_received(COUNT, &status);
}

static void replace(void)
{
    memcpy(theirs, mine, sizeof *mine * COUNT);
    if (is_late)
        usleep(LATE_US);
    EXPECT_OK(
        MPI_Sendrecv_replace(theirs, COUNT, MPI_INT, partner, TAG, partner, TAG, MPI_COMM_WORLD, &status));
    check_received(COUNT, &status);
}

static void start_two(MPI_Request *requests)
{
    MPI_Irecv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
}

static void wait_one(void)
{
    MPI_Request requests[2];
    if (is_late)
        usleep(LATE_US);
    start_two(requests);
    EXPECT_OK(MPI_Wait(&requests[0], &status));
    check_received(COUNT, &status);
    EXPECT_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "requests are left");
}

static void wait_all(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    if (is_late)
        usleep(LATE_US);
    start_two(requests);
    requests[2] = MPI_REQUEST_NULL;
    EXPECT_OK(MPI_Waitall(3, requests, statuses));
    check_received(COUNT, &statuses[0]);
    int count = -1;
    MPI_Get_count(&statuses[2], MPI_INT, &count);
    CHECK(statuses[2].MPI_SOURCE == MPI_ANY_SOURCE && count == 0, "the status of no request is not empty");
    for (int i = 0; i < 3; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
}

static void wait_any(void)
{
    MPI_Request requests[2];
    int seen = 0;
    if (is_late)
        usleep(LATE_US);
    start_two(requests);
    for (int i = 0; i < 2; i++) {
        int index = -1;
        EXPECT_OK(MPI_Waitany(2, requests, &index, &status));
        seen |= 1 << index;
        if (index == 0)
            check_received(COUNT, &status);
    }
    CHECK(seen == 3, "requests %d", seen);
}

static void wait_some(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int seen = 0;
    if (is_late)
        usleep(LATE_US);
    start_two(requests);
    while (seen != 3) {
        int completed = 0, indices[2];
        EXPECT_OK(MPI_Waitsome(2, requests, &completed, indices, statuses));
        for (int i = 0; i < completed; i++) {
            seen |= 1 << indices[i];
            if (indices[i] == 0)
                check_received(COUNT, &statuses[i]);
        }
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(mine, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        fill(COUNT);
        if (is_late)
            usleep(LATE_US);
        MPI_Startall(2, requests);
        EXPECT_OK(MPI_Waitall(2, requests, statuses));
        check_received(COUNT, &statuses[0]);
    }
    EXPECT_OK(MPI_Waitall(2, requests, statuses)); /* inactive ones */
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Beside a message, in one call: MPICH's MPI_Testall cannot. */
static void persistent_collective(void)
{
#if MPI_VERSION >= 4
    MPI_Request requests[2];
    MPI_Comm pair;
    const int size = 2;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / size, 0, &pair);
    MPI_Barrier_init(pair, MPI_INFO_NULL, &requests[0]);
    for (int round = 0; round < 2; round++) {
        fill(COUNT);
        if (is_late)
            usleep(LATE_US);
        MPI_Start(&requests[0]);
        MPI_Irecv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(mine, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD);
        MPI_Status statuses[2];
        EXPECT_OK(MPI_Waitall(2, requests, statuses));
        check_received(COUNT, &statuses[1]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Comm_free(&pair);
#else
    receives();
#endif
}

static int errors;
static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    errors++;
}

/* The first of two messages is too long. The error handler is called as often as without evenkeel, which the
 * digest shows. */
static void truncated(void)
{
    MPI_Errhandler counter;
    MPI_Comm_create_errhandler(count_error, &counter);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counter);
    errors = 0;
    if (is_late) {
        usleep(LATE_US);
        MPI_Send(mine, COUNT, MPI_INT, partner, TAG + 1, MPI_COMM_WORLD);
        MPI_Send(mine, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD);
    } else {
        int small[COUNT / 2], error_class = 0;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(small, COUNT / 2, MPI_INT, partner, TAG + 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
        int code = MPI_Waitall(2, requests, statuses);
        if (code == MPI_ERR_IN_STATUS) {
            MPI_Error_class(statuses[0].MPI_ERROR, &error_class);
            CHECK(error_class == MPI_ERR_TRUNCATE, "class %d", error_class);
        } else { /* MPICH returns success if the error handler returns, and MPICH 5 may be too early then */
            CHECK(code == MPI_SUCCESS, "MPI_Waitall returned %d", code);
        }
        if (requests[1] != MPI_REQUEST_NULL)
            EXPECT_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    digest_bytes(&errors, sizeof errors);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&counter);
}

/* Wrong arguments are the library's to refuse. */
static void refused(void)
{
    receives();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "a negative count is accepted");
    EXPECT_OK(MPI_Waitall(0, &request, MPI_STATUSES_IGNORE));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- the program asks, and could do something else meanwhile ---- */

static void tests(void)
{
    MPI_Request request;
    int flag = 0;
    LATE_SENDS(COUNT)
    MPI_Irecv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &request);
    const long before = naps;
    while (!flag)
        EXPECT_OK(MPI_Test(&request, &flag, &status));
    CHECK(naps == before, "tests have slept %ld times", naps - before);
    check_received(COUNT, &status);
}

static void looks(void)
{
    int flag = 0;
    LATE_SENDS(COUNT)
    const long before = naps;
    while (!flag)
        EXPECT_OK(MPI_Iprobe(partner, TAG, MPI_COMM_WORLD, &flag, &status));
    CHECK(naps == before, "probes have slept %ld times", naps - before);
    EXPECT_OK(MPI_Recv(theirs, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD, &status));
    check_received(COUNT, &status);
}

/* ---- other calls ---- */

static void fence(void)
{
    MPI_Win window;
    MPI_Win_create(theirs, COUNT * sizeof *theirs, sizeof *theirs, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (is_late)
        usleep(LATE_US);
    MPI_Put(mine, COUNT, MPI_INT, partner, 0, COUNT, MPI_INT, window);
    EXPECT_OK(MPI_Win_fence(0, window));
    for (int i = 0; i < COUNT; i++)
        CHECK(theirs[i] == (int)mix3((uint64_t)partner, (uint64_t)i, 1), "element %d is %d", i, theirs[i]);
    MPI_Win_free(&window);
}

/* The target is needed for it, if the library sends messages for the data. */
static void flush(void)
{
    MPI_Win window;
    MPI_Win_create(theirs, COUNT * sizeof *theirs, sizeof *theirs, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Put(mine, 1, MPI_INT, partner, 0, 1, MPI_INT, window);
    EXPECT_OK(MPI_Win_flush(partner, window)); /* later ones need no connection */
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_late)
        usleep(LATE_US);
    MPI_Put(mine, COUNT, MPI_INT, partner, 0, COUNT, MPI_INT, window);
    const long before = yields;
    EXPECT_OK(MPI_Win_flush(partner, window));
    yields_in_call = yields - before;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int i = 0; i < COUNT; i++)
        CHECK(theirs[i] == (int)mix3((uint64_t)partner, (uint64_t)i, 1), "element %d is %d", i, theirs[i]);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void duplicate(void)
{
    MPI_Comm comm;
    int size;
    if (is_late)
        usleep(LATE_US);
    EXPECT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_size(comm, &size);
    CHECK(size == world_size, "%d members", size);
    MPI_Comm_free(&comm);
}

typedef struct scenario {
    const char *name;
    void (*run)(void);
} scenario;

static const scenario scenarios[] = {
    {"receives", receives},
    {"probes", probes},
    {"probes_matched", probes_matched},
    {"synchronous", synchronous},
    {"long_send", long_send},
    {"sendrecv", sendrecv},
    {"replace", replace},
    {"wait_one", wait_one},
    {"wait_all", wait_all},
    {"wait_any", wait_any},
    {"wait_some", wait_some},
    {"persistent", persistent},
    {"persistent_collective", persistent_collective},
    {"truncated", truncated},
    {"refused", refused},
    {"tests", tests},
    {"looks", looks},
    {"fence", fence},
    {"flush", flush},
    {"duplicate", duplicate},
};

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "all");
    const char *expect = argument(argc, argv, "expect", "any");
    uint64_t checks = 0;
    partner = world_rank ^ 1;
    is_late = world_rank & 1;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (!listed(what, scenarios[i].name))
            continue;
        fill(MANY);
        MPI_Barrier(MPI_COMM_WORLD);
        const long before = yields;
        yields_in_call = IN_ALL_CALLS;
        scenarios[i].run();
        const long during = yields_in_call == IN_ALL_CALLS ? yields - before : yields_in_call;
        /* A receive from any source must not get another rank's next message. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (!is_late && !strcmp(expect, "yields"))
            CHECK(during > 0, "%s never yields", scenarios[i].name);
        if (!is_late && !strcmp(expect, "keeps"))
            CHECK(during == 0, "%s yields %ld times", scenarios[i].name, during);
        checks++;
    }
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
