/* Programs whose answers depend on which message comes first, for tests of traces.
 *
 *     repeatable random SEED ROUNDS       receives in every way that MPI has, in random order
 *     repeatable master TASKS [clock]     a master hands out tasks to the rank that asks first
 *     repeatable killed ANSWERS           the same for ever; rank 2 kills itself after so many answers
 *     repeatable limited TASKS            as master, and files may not grow beyond 100 KiB
 *     repeatable peculiar N               rank 1 sends N as its third message
 *     repeatable gaps STRUCTURE           rank 1 sends bytes that differ in each run, and no rank uses them:
 *                                         those of a long double, and if STRUCTURE is 1 of a structure
 *     repeatable draws MORE               clocks and random numbers of the C library, MORE of them than usual
 *     repeatable unpromised window        what a trace does not hold
 *     repeatable unpromised threads
 *
 * Delays are random and differ in each run; nothing else does. Rank 0 prints one line, the answer of all
 * ranks. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 20000, MOST = 64 };

static int rank, size;
static uint64_t digest = 1469598103934665603u, planned;

static void mix(uint64_t value)
{
    digest = (digest ^ value) * 1099511628211u;
    digest ^= digest >> 29;
}

/* The same numbers in each run. */
static unsigned plan(unsigned below)
{
    planned = planned * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(planned >> 33) % below;
}

/* A delay that no program can know: by the kernel's clock, read behind the C library's back. */
static void stall(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    unsigned chance = (unsigned)(now.tv_nsec / 64 % 7);
    if (chance == 0) {
        struct timespec delay = {0, 50000 + now.tv_nsec % 900000};
        syscall(SYS_nanosleep, &delay, NULL);
    } else {
        for (volatile unsigned i = 0; i < chance * 1500; i++)
            ;
    }
}

/* ---- random ---- */

static MPI_Comm comms[2];
static int (*got)[2]; /* messages received from each rank, on each communicator */
static int buffers[MOST][LARGE];
static int on; /* the communicator of this round */

static void take(const int *buffer, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    mix((uint64_t)status->MPI_SOURCE);
    mix((uint64_t)status->MPI_TAG);
    mix((uint64_t)count);
    for (int i = 0; i < count; i += 1 + count / 50)
        mix((uint64_t)buffer[i]);
    got[status->MPI_SOURCE][on]++;
}

static void post(int i, MPI_Request *request)
{
    MPI_Irecv(buffers[i], LARGE, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], request);
}

static void by_test(void)
{
    MPI_Request request;
    MPI_Status status;
    post(0, &request);
    for (int flag = 0; !flag; stall()) {
        MPI_Test(&request, &flag, &status);
        mix((uint64_t)flag);
    }
    take(buffers[0], &status);
}

static void by_get_status(void)
{
    MPI_Request request;
    MPI_Status status;
    post(0, &request);
    for (int flag = 0; !flag;) {
        MPI_Request_get_status(request, &flag, &status);
        mix((uint64_t)flag);
    }
    mix((uint64_t)status.MPI_SOURCE);
    MPI_Wait(&request, &status);
    take(buffers[0], &status);
}

static void by_iprobe(void)
{
    MPI_Status status;
    for (int flag = 0; !flag;) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &flag, &status);
        mix((uint64_t)flag);
    }
    MPI_Recv(buffers[0], LARGE, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comms[on], &status);
    take(buffers[0], &status);
}

static void by_probe(void)
{
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &status);
    MPI_Recv(buffers[0], LARGE, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comms[on], &status);
    take(buffers[0], &status);
}

static void by_mprobe(void)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &message, &status);
    MPI_Mrecv(buffers[0], LARGE, MPI_INT, &message, &status);
    take(buffers[0], &status);
}

static void by_improbe(void)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    for (int flag = 0; !flag; stall()) {
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &flag, &message, &status);
        mix((uint64_t)flag);
    }
    MPI_Imrecv(buffers[0], LARGE, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    take(buffers[0], &status);
}

static void by_persistent(int count)
{
    static MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    if (request[on] == MPI_REQUEST_NULL)
        MPI_Recv_init(buffers[on], LARGE, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &request[on]);
    for (int i = 0; i < count; i++) {
        MPI_Start(&request[on]);
        MPI_Wait(&request[on], &status);
        take(buffers[on], &status);
    }
    if (plan(4) == 0)
        MPI_Request_free(&request[on]);
}

static void by_waitany(int count)
{
    MPI_Request requests[MOST];
    MPI_Status status;
    for (int i = 0; i < count; i++)
        post(i, &requests[i]);
    for (int i = 0, index; i < count; i++) {
        MPI_Waitany(count, requests, &index, &status);
        mix((uint64_t)index);
        take(buffers[index], &status);
    }
}

static void by_testany(int count)
{
    MPI_Request requests[MOST];
    MPI_Status status;
    for (int i = 0; i < count; i++)
        post(i, &requests[i]);
    for (int i = 0, index, flag; i < count;) {
        MPI_Testany(count, requests, &index, &flag, &status);
        mix((uint64_t)flag);
        if (!flag)
            continue;
        i++;
        mix((uint64_t)index);
        take(buffers[index], &status);
    }
}

static void by_some(int count, int waits)
{
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    int indices[MOST];
    for (int i = 0; i < count; i++)
        post(i, &requests[i]);
    for (int done = 0, some; done < count; done += some) {
        if (waits)
            MPI_Waitsome(count, requests, &some, indices, statuses);
        else
            MPI_Testsome(count, requests, &some, indices, statuses);
        mix((uint64_t)some);
        for (int i = 0; i < some; i++) {
            mix((uint64_t)indices[i]);
            take(buffers[indices[i]], &statuses[i]);
        }
        stall();
    }
}

static void by_all(int count, int waits)
{
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    for (int i = 0; i < count; i++)
        post(i, &requests[i]);
    if (waits) {
        MPI_Waitall(count, requests, statuses);
    } else {
        for (int flag = 0; !flag; mix((uint64_t)flag))
            MPI_Testall(count, requests, &flag, statuses);
    }
    for (int i = 0; i < count; i++)
        take(buffers[i], &statuses[i]);
}

/* Returns how many messages it got: 0 or 1. */
static int by_cancel(void)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled;
    post(0, &request);
    stall();
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    mix((uint64_t)cancelled);
    if (!cancelled)
        take(buffers[0], &status);
    return !cancelled;
}

/* One from a rank that has a message for this one, in the midst of receives from any. */
static int by_name(int sent)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int from = -1, left = 0;
    for (int r = 0; r < size; r++) {
        if (r != rank && got[r][on] < sent && from < 0)
            from = r;
        left += r != rank ? sent - got[r][on] : 0;
    }
    if (from < 0 || left < 3)
        return 0;
    /* Posted first, so that it gets a message that is there whatever the others take. */
    MPI_Irecv(buffers[0], LARGE, MPI_INT, from, MPI_ANY_TAG, comms[on], &requests[0]);
    post(1, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    take(buffers[0], &statuses[0]);
    take(buffers[1], &statuses[1]);
    return 2;
}

/* With a message to this rank itself, that another receive may get. */
static void by_sendrecv(void)
{
    int one = rank;
    MPI_Status status;
    MPI_Sendrecv(&one, 1, MPI_INT, rank, 9, buffers[0], LARGE, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 comms[on], &status);
    take(buffers[0], &status);
}

/* Returns how many messages it took, of at most `left`. */
static int receive(int left, int sent)
{
    int some = 1 + (int)plan(left < 6 ? (unsigned)left : 6);
    switch (plan(17)) {
    case 0: by_test(); return 1;
    case 1: by_get_status(); return 1;
    case 2: by_iprobe(); return 1;
    case 3: by_probe(); return 1;
    case 4: by_mprobe(); return 1;
    case 5: by_improbe(); return 1;
    case 6: by_persistent(some); return some;
    case 7: by_waitany(some); return some;
    case 8: by_testany(some); return some;
    case 9: by_some(some, 1); return some;
    case 10: by_some(some, 0); return some;
    case 11: by_all(some, 1); return some;
    case 12: by_all(some, 0); return some;
    case 13:
    case 14: return by_cancel();
    case 15: return left >= 3 ? by_name(sent) : 0;
    default: by_sendrecv(); return 0;
    }
}

static void random_receives(unsigned seed, int rounds)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    got = calloc((size_t)size, sizeof *got);
    int messages = rounds * (size - 1), (*data)[4] = calloc((size_t)messages, sizeof *data);
    int *large = calloc(LARGE, sizeof *large), sends = 0, sent[2] = {0, 0};
    MPI_Request *requests = calloc((size_t)messages, sizeof *requests);
    MPI_Request marker = MPI_REQUEST_NULL;
    planned = seed * 1000003u + (unsigned)rank;
    MPI_Irecv(buffers[MOST - 1], 1, MPI_INT, MPI_ANY_SOURCE, 77, comms[0], &marker); /* never sent */
    for (int i = 0; i < LARGE; i++)
        large[i] = i * (rank + 1);
    for (int round = 0; round < rounds; round++) {
        on = round % 2;
        sent[on]++;
        unsigned first = plan((unsigned)size);
        for (int i = 0; i < size; i++) {
            int to = (int)(first + (unsigned)i) % size, is_large = plan(8) == 0;
            if (to == rank)
                continue;
            /* What is sent depends on what came. */
            data[sends][0] = (int)(digest & 0xffffff);
            data[sends][1] = round;
            MPI_Isend(is_large ? large : data[sends], is_large ? LARGE : 1 + (int)plan(4), MPI_INT, to,
                      (int)plan(4), comms[on], &requests[sends]);
            sends++;
            stall();
        }
        for (int left = size - 1; left > 0; left -= receive(left, sent[on]))
            stall();
        mix((uint64_t)plan((unsigned)(1 + digest % 97)));
    }
    MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
    int cancelled;
    MPI_Status status;
    MPI_Cancel(&marker);
    MPI_Wait(&marker, &status);
    MPI_Test_cancelled(&status, &cancelled);
    mix((uint64_t)cancelled);
}

/* ---- master ---- */

static void master(int tasks)
{
    int task, answer = 0, handed = 0, working = size - 1;
    MPI_Status status;
    while (working > 0) {
        MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        mix((uint64_t)status.MPI_SOURCE * 1000 + (uint64_t)answer);
        task = handed < tasks ? ++handed : 0;
        working -= task == 0;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
}

static void worker(int most)
{
    for (int task = -1, answer = 0; task != 0; answer = (int)(digest & 0xffff)) {
        if (most-- == 0)
            kill(getpid(), SIGKILL);
        stall();
        MPI_Send(&answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mix((uint64_t)task);
    }
}

/* ---- others ---- */

static void peculiar(int peculiarity)
{
    for (int i = 0; i < 5; i++) {
        int number = i == 2 ? peculiarity : i;
        if (rank == 1)
            MPI_Send(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Recv(&number, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Bytes as they are on the stack, in the gaps of structures, or behind the ten that a long double has. */
static void gaps(int wants_structure)
{
    struct {
        char first;
        long number;
    } structure;
    long double number = 1;
    for (int i = 0; i < 3; i++) {
        struct timespec now;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
        if (sizeof number == 16)
            memcpy((char *)&number + 10, &now.tv_nsec, 4);
        memcpy((char *)&structure + 1, &now.tv_nsec, 4);
        structure.first = 'x', structure.number = i;
        MPI_Bcast(&number, 1, MPI_LONG_DOUBLE, 1, MPI_COMM_WORLD);
        if (i == 1 && wants_structure)
            MPI_Bcast(&structure, sizeof structure, MPI_BYTE, 1, MPI_COMM_WORLD);
        mix((uint64_t)number + (uint64_t)structure.number);
    }
}

/* What the C library gives that differs in each run. */
static void draw(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME,          CLOCK_MONOTONIC,     CLOCK_PROCESS_CPUTIME_ID,
                                       CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                                       CLOCK_MONOTONIC_COARSE,  CLOCK_BOOTTIME};
    struct timespec now, end;
    struct timeval day;
    struct timeb old;
    struct rusage used;
    struct tms all_used;
    uint64_t numbers[8];
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        clock_gettime(clocks[i], &now);
        mix((uint64_t)now.tv_sec);
        mix((uint64_t)now.tv_nsec);
    }
    gettimeofday(&day, NULL);
    mix((uint64_t)day.tv_usec);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    ftime(&old);
    mix(old.millitm);
    timespec_get(&now, TIME_UTC);
    mix((uint64_t)now.tv_nsec);
    mix((uint64_t)clock());
    getrusage(RUSAGE_SELF, &used);
    mix((uint64_t)used.ru_utime.tv_usec);
    mix((uint64_t)times(&all_used) + (uint64_t)all_used.tms_utime);
    srand((unsigned)time(NULL));
    mix((uint64_t)rand());
    if (getrandom(numbers, sizeof numbers, 0) != sizeof numbers || getentropy(&numbers[1], sizeof numbers[1]))
        abort();
    for (int i = 0; i < 8; i++)
        mix(numbers[i]);
#if __GLIBC_PREREQ(2, 36)
    arc4random_buf(numbers, sizeof numbers);
    mix(numbers[3] + arc4random() + arc4random_uniform(1000));
#endif
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t looks = 0; /* until half a millisecond is over */
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        looks++;
    } while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 500000);
    mix(looks);
}

static void draws(int more)
{
    for (int i = 0; i < 3 + more; i++) {
        uint64_t mine = digest, others = 0;
        draw();
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (rank + 1) % size, 0, &others, 1, MPI_UINT64_T,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mix(others);
        if (i >= 3)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void *send_to_self(void *nothing)
{
    int one = 1;
    MPI_Sendrecv_replace(&one, 1, MPI_INT, rank, 5, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

static void unpromised(const char *what)
{
    int one = rank;
    if (!strcmp(what, "threads")) {
        pthread_t thread;
        pthread_create(&thread, NULL, send_to_self, NULL);
        pthread_join(thread, NULL);
        send_to_self(NULL);
    } else {
        MPI_Win window;
        MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "draws"))
        draw(); /* before MPI_Init, too */
    int is_threaded = argc > 2 && !strcmp(argv[2], "threads"), provided;
    MPI_Init_thread(&argc, &argv, is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3 && !strcmp(argv[1], "random")) {
        random_receives((unsigned)atoi(argv[2]), atoi(argv[3]));
    } else if (argc > 2 && !strcmp(argv[1], "peculiar")) {
        peculiar(atoi(argv[2]));
    } else if (argc > 2 && !strcmp(argv[1], "gaps")) {
        gaps(atoi(argv[2]));
    } else if (argc > 2 && !strcmp(argv[1], "draws")) {
        draws(atoi(argv[2]));
    } else if (argc > 2 && !strcmp(argv[1], "unpromised")) {
        unpromised(argv[2]);
    } else {
        const struct rlimit limit = {100 << 10, 100 << 10};
        if (!strcmp(argv[1], "limited")) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        int is_killed = !strcmp(argv[1], "killed");
        double began = MPI_Wtime();
        uint64_t bits;
        if (rank == 0)
            master(is_killed ? 1 << 30 : atoi(argv[2]));
        else
            worker(is_killed && rank == 2 ? atoi(argv[2]) : -1);
        began = MPI_Wtime() - began;
        memcpy(&bits, &began, sizeof bits);
        if (argc > 3)
            mix(bits);
    }
    uint64_t *all = calloc((size_t)size, sizeof *all);
    MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; r++)
        printf("%016llx%s", (unsigned long long)all[r], r + 1 < size ? " " : "\n");
    MPI_Finalize();
    return 0;
}
