/* What one rank does before a barrier, another one sees after it, by means that MPI knows nothing of.
 *
 *   hidden channel=NAME [rounds=1000] [seed=1] [dir=/tmp/x]
 *
 * In each round one rank (the writer, another one each time) stalls at random, then writes the round's
 * number; after a barrier all others look whether it is there, at once; and only when a second barrier is
 * over may the next writer write. Prints how often it was not there: RESULT checks N wrong N */
#define _GNU_SOURCE
#include <mpi.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char dir[200] = "/tmp/evenkeel-hidden";
static unsigned state;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Burns time without a system call. */
static void stall(double most)
{
    double until = now() + most * (double)rand_r(&state) / RAND_MAX;
    while (now() < until)
        ;
}

static const char *path(const char *what, int which)
{
    static char text[260];
    snprintf(text, sizeof text, "%s/%s%d", dir, what, which);
    return text;
}

static void die(const char *what)
{
    fprintf(stderr, "hidden: rank %d: %s: %s\n", rank, what, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Not by a barrier, which is what is being tested. */
static void meet(void)
{
    int one = 1, all;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

struct channel {
    const char *name;
    void (*open)(void);
    void (*put)(long value);
    int (*is_there)(long value); /* by all but the one that put */
    void (*close)(void);
};

/* ---- a file ---- */

static int fd = -1;

static void file_open(void)
{
    fd = open(path("file", 0), O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        die("open");
}
static void file_put(long value)
{
    if (pwrite(fd, &value, sizeof value, 0) != sizeof value)
        die("pwrite");
}
static int file_there(long value)
{
    long seen = -1;
    return pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen == value;
}
static void file_close(void) { close(fd); }

/* ---- the same by system calls of its own ---- */

static long inline_call(long number, long a, long b, long c, long d)
{
    long answer;
#ifdef __x86_64__
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
#else
    answer = syscall(number, a, b, c, d);
#endif
    return answer;
}
static void inline_put(long value)
{
    if (inline_call(SYS_pwrite64, fd, (long)&value, sizeof value, 0) != sizeof value)
        die("pwrite");
}
static int inline_there(long value)
{
    long seen = -1;
    return inline_call(SYS_pread64, fd, (long)&seen, sizeof seen, 0) == sizeof seen && seen == value;
}

/* ---- directories ---- */

static void nothing(void) {}
static void mkdir_put(long value)
{
    if (mkdir(path("d", (int)value), 0700))
        die("mkdir");
}
static int mkdir_there(long value)
{
    int opened = open(path("d", (int)value), O_RDONLY | O_DIRECTORY);
    if (opened >= 0)
        close(opened);
    return opened >= 0;
}

/* ---- pipes: a named one for each reader ---- */

static int pipes[64];

static void pipe_open(void)
{
    if (mkfifo(path("pipe", rank), 0600) && errno != EEXIST)
        die("mkfifo");
    meet();
    for (int r = 0; r < size; r++)
        if ((pipes[r] = open(path("pipe", r), O_RDWR | O_NONBLOCK)) < 0)
            die("open");
}
static void pipe_put(long value)
{
    for (int r = 0; r < size; r++)
        if (r != rank && write(pipes[r], &value, sizeof value) != sizeof value && errno != EAGAIN)
            die("write");
}
static int pipe_there(long value)
{
    long seen = -1;
    return read(pipes[rank], &seen, sizeof seen) == sizeof seen && seen == value;
}

/* ---- sockets ---- */

static struct sockaddr_un address(int r)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%.80s/s%d", dir, r);
    return a;
}
static void socket_open(void)
{
    struct sockaddr_un mine = address(rank);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&mine, sizeof mine))
        die("bind");
    meet();
}
static void socket_put(long value)
{
    for (int r = 0; r < size; r++) {
        struct sockaddr_un to = address(r);
        if (r != rank &&
            sendto(fd, &value, sizeof value, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to) < 0 &&
            errno != EAGAIN)
            die("sendto");
    }
}
static int socket_there(long value)
{
    long seen = -1;
    return recv(fd, &seen, sizeof seen, MSG_DONTWAIT) == sizeof seen && seen == value;
}

/* ---- signals ---- */

static int pids[64];
static volatile long signalled;

static void count(int signal) { (void)signal, signalled++; }
static void signal_open(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    if (sigaction(SIGUSR1, &action, NULL))
        die("sigaction");
    int mine = getpid();
    MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
}
static void signal_put(long value)
{
    (void)value;
    for (int r = 0; r < size; r++)
        if (r != rank && kill(pids[r], SIGUSR1))
            die("kill");
    signalled++;
}
static int signal_there(long value) { return signalled == value + 1; }

/* ---- shared memory ---- */

static _Atomic long *shared;

static void shm_begin(void)
{
    char name[100];
    snprintf(name, sizeof name, "/evenkeel-hidden-%d", (int)getppid());
    fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        die("shm_open");
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        die("mmap");
    *shared = -1;
    meet();
    shm_unlink(name);
}
static void shm_put(long value) { atomic_store(shared, value); }
static int shm_there(long value) { return atomic_load(shared) == value; }

/* A file mapped privately shows what others write to it, without a system call, until the page has been
 * copied. */
static void map_open(void)
{
    long none = -1;
    file_open();
    if (rank == 0 && pwrite(fd, &none, sizeof none, 0) != sizeof none)
        die("pwrite");
    meet();
    shared = mmap(NULL, sizeof none, PROT_READ, MAP_PRIVATE, fd, 0);
    if (shared == MAP_FAILED)
        die("mmap");
}

static void sysv_begin(void)
{
    int id = rank ? -1 : shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    shared = shmat(id, NULL, 0);
    if (shared == (void *)-1)
        die("shmat");
    meet();
    if (rank == 0)
        shmctl(id, IPC_RMID, NULL);
}

static MPI_Win window;

static void mpishm_open(void)
{
    void *base;
    MPI_Aint bytes;
    int unit;
    if (MPI_Win_allocate_shared(rank ? 0 : 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window))
        die("MPI_Win_allocate_shared");
    MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
    shared = base;
    MPI_Win_lock_all(0, window);
    meet();
}
static void window_close(void)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* ---- one-sided: put, barrier, local load ---- */

static _Atomic long landing;

static void rma_open(void)
{
    MPI_Win_create((void *)&landing, sizeof landing, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    meet();
}
static void rma_put(long value)
{
    for (int r = 0; r < size; r++)
        if (r != rank)
            MPI_Put(&value, 1, MPI_LONG, r, 0, 1, MPI_LONG, window);
    MPI_Win_flush_all(window);
}
static int rma_there(long value)
{
    if (landing == value)
        return 1;
    MPI_Win_sync(window); /* a library that moves data only in its own calls needs one */
    return landing == value;
}

/* ---- MPI-IO ---- */

static MPI_File file;

static void mpiio_open(void)
{
    if (MPI_File_open(MPI_COMM_WORLD, path("mpiio", 0), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file))
        die("MPI_File_open");
    MPI_File_set_atomicity(file, 1);
}
static void mpiio_put(long value) { MPI_File_write_at(file, 0, &value, 1, MPI_LONG, MPI_STATUS_IGNORE); }
static int mpiio_there(long value)
{
    long seen = -1;
    MPI_File_read_at(file, 0, &seen, 1, MPI_LONG, MPI_STATUS_IGNORE);
    return seen == value;
}
static void mpiio_close(void) { MPI_File_close(&file); }

/* ---- a child writes, a child reads ---- */

static void fork_put(long value)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(pwrite(fd, &value, sizeof value, 0) != sizeof value);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        die("fork");
}
static int fork_there(long value)
{
    pid_t child = vfork();
    if (child == 0) {
        long seen = -1;
        _exit(!(pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen == value));
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("vfork");
    return status == 0;
}

/* ---- a second thread reads and writes, without a word to the kernel by the first ---- */

static pthread_t helper;
static _Atomic long order, done; /* +v: put v-1; -v: look for v-1; done: 1 yes, 2 no */

static void *help(void *unused)
{
    (void)unused;
    for (;;) {
        long what = atomic_exchange(&order, 0);
        if (what == 0) {
            sched_yield();
            continue;
        }
        if (what == -1000000)
            return NULL;
        if (what > 0)
            file_put(what - 1);
        atomic_store(&done, what > 0 || file_there(-what - 1) ? 1 : 2);
    }
}
static long ask(long what)
{
    atomic_store(&done, 0);
    atomic_store(&order, what);
    while (!atomic_load(&done))
        sched_yield();
    return done;
}
static void thread_open(void)
{
    file_open();
    if (pthread_create(&helper, NULL, help, NULL))
        die("pthread_create");
}
static void thread_put(long value) { ask(value + 1); }
static int thread_there(long value) { return ask(-value - 1) == 1; }
static void thread_close(void)
{
    atomic_store(&order, -1000000);
    pthread_join(helper, NULL);
    file_close();
}

static const struct channel channels[] = {
    {"file", file_open, file_put, file_there, file_close},
    {"inline", file_open, inline_put, inline_there, file_close},
    {"mkdir", nothing, mkdir_put, mkdir_there, nothing},
    {"pipe", pipe_open, pipe_put, pipe_there, nothing},
    {"socket", socket_open, socket_put, socket_there, file_close},
    {"signal", signal_open, signal_put, signal_there, nothing},
    {"posix-shm", shm_begin, shm_put, shm_there, nothing},
    {"private-map", map_open, file_put, shm_there, file_close},
    {"sysv-shm", sysv_begin, shm_put, shm_there, nothing},
    {"mpi-shm", mpishm_open, shm_put, shm_there, window_close},
    {"rma", rma_open, rma_put, rma_there, window_close},
    {"mpi-io", mpiio_open, mpiio_put, mpiio_there, mpiio_close},
    {"fork", file_open, fork_put, fork_there, file_close},
    {"thread", thread_open, thread_put, thread_there, thread_close},
};

int main(int argc, char **argv)
{
    const struct channel *channel = NULL;
    long rounds = 1000, wrong = 0, checks = 0, all[2];
    unsigned seed = 1;
    double most = 300e-6;
    for (int i = 1; i < argc; i++) {
        for (size_t c = 0; !strncmp(argv[i], "channel=", 8) && c < sizeof channels / sizeof *channels; c++)
            if (!strcmp(argv[i] + 8, channels[c].name))
                channel = &channels[c];
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atol(argv[i] + 7);
        if (!strncmp(argv[i], "seed=", 5))
            seed = (unsigned)atoi(argv[i] + 5);
        if (!strncmp(argv[i], "dir=", 4))
            snprintf(dir, sizeof dir, "%s", argv[i] + 4);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!channel) {
        fprintf(stderr, "hidden: channel=NAME is missing or unknown\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    state = seed * 1000 + (unsigned)rank;
    channel->open();
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 0; round < rounds; round++) {
        int writer = (int)(round % size);
        if (rank == writer) {
            stall(most);
            channel->put(round);
        } else if (rand_r(&state) % 4 == 0) {
            stall(most / 4);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != writer) {
            checks++;
            wrong += !channel->is_there(round);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long mine[2] = {checks, wrong};
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    channel->close();
    if (rank == 0)
        printf("RESULT checks %ld wrong %ld\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
