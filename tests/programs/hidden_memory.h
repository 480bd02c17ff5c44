/* Channels through memory: shared between processes, mapped files, MPI windows, MPI-IO. */
#ifndef EVENKEEL_TESTS_HIDDEN_MEMORY_H
#define EVENKEEL_TESTS_HIDDEN_MEMORY_H
#include "hidden_channels.h"
#include "hidden_files.h"
#include <stdatomic.h>
#include <dlfcn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

/* ---- memory that processes share ---- */

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

/* The same by system calls; the flags of a mapping are no constants there. */
static void raw_map_begin(void)
{
    fd = open(path("raw", 0), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        die("open");
    shared = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        die("mmap");
    *shared = -1;
    meet();
}

/* The same by a library whose name begins like that of an MPI library. */
static void library_map_begin(void)
{
    void *library = dlopen(getenv("HIDDEN_LIBRARY"), RTLD_NOW);
    void *(*map)(int, size_t) = library ? (void *(*)(int, size_t))dlsym(library, "map_for_all") : NULL;
    fd = open(path("raw", 0), O_RDWR | O_CREAT, 0600);
    if (!map || fd < 0 || ftruncate(fd, 4096))
        die("map_for_all");
    shared = map(fd, 4096);
    if (shared == MAP_FAILED)
        die("mmap");
    *shared = -1;
    meet();
}

/* A privately mapped file shows what others write to it, without a system call, until the page is copied. */
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

/* With an m in the mode the C library maps the file. There is a number for each round; all ranks read on. */
static FILE *stream;

static long next_of_stream(void)
{
    long value = -2;
    return fread(&value, sizeof value, 1, stream) ? value : -2;
}

static void stream_open(void)
{
    enum { NUMBERS = 4096 };
    file_open();
    if (rank == 0 && ftruncate(fd, NUMBERS * (long)sizeof(long)))
        die("ftruncate");
    meet();
    stream = fopen(path("file", 0), "rm");
    if (!stream || next_of_stream() != 0)
        die("fopen");
    meet();
}

static void stream_put(long value)
{
    if (pwrite(fd, &value, sizeof value, (value + 1) * (long)sizeof value) != sizeof value)
        die("pwrite");
    next_of_stream();
}

static int stream_there(long value) { return next_of_stream() == value; }

static void stream_close(void)
{
    fclose(stream);
    file_close();
}

/* A mapping made by a second C library. */
static void second_library_begin(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    void *(*map)(void *, size_t, int, int, int, off_t) =
        library ? (void *(*)(void *, size_t, int, int, int, off_t))dlsym(library, "mmap") : NULL;
    fd = open(path("raw", 0), O_RDWR | O_CREAT, 0600);
    if (!map || fd < 0 || ftruncate(fd, 4096))
        die("dlmopen");
    shared = map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        die("mmap");
    *shared = -1;
    meet();
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

/* ---- one-sided communication: put, barrier, local load ---- */

static _Atomic long landing;

static void rma_open(void)
{
    MPI_Win_create((void *)&landing, sizeof landing, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    meet();
}

/* The library refuses to free a window, and there is one as before. */
static void refused_free_open(void)
{
    MPI_Win none = MPI_WIN_NULL;
    rma_open();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Win_free(&none) == MPI_SUCCESS)
        die("MPI_Win_free of no window");
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
    MPI_Win_sync(window); /* for a library that moves data only inside its own calls */
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
#endif
