/* A library to be loaded below the shim. In it one rank ends inside MPI_Init.
 *
 *   DYING_RANK=N
 *   DYING_AT=before   before the host library's MPI_Init
 *           =0, 1, …  behind it, at the so many-th exchange of the shim's with the other ranks
 *   DYING_HOW=kill | exit (with exit code 3) | success (with exit code 0)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static void die(int rank)
{
    if (rank != atoi(setting("DYING_RANK")))
        return;
    fprintf(stderr, "victim %d\n", (int)getpid());
    if (!strcmp(setting("DYING_HOW"), "kill"))
        raise(SIGKILL);
    exit(strcmp(setting("DYING_HOW"), "success") ? 3 : 0);
}

/* Launchers tell a rank its number. */
static int launched_rank(void)
{
    for (const char *const *name = (const char *const[]){"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL}; *name;
         name++)
        if (getenv(*name))
            return atoi(getenv(*name));
    return -1;
}

static void before(void)
{
    if (!strcmp(setting("DYING_AT"), "before"))
        die(launched_rank());
}

static void exchange(void)
{
    static int exchanges;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(setting("DYING_AT"), "before") && exchanges++ == atoi(setting("DYING_AT")))
        die(rank);
}

#define INIT(P)                                                              \
    int P##Init(int *argc, char ***argv)                                     \
    {                                                                        \
        int (*call)(int *, char ***) = next(#P "Init");                      \
        before();                                                            \
        return call(argc, argv);                                             \
    }                                                                        \
    int P##Init_thread(int *argc, char ***argv, int required, int *provided) \
    {                                                                        \
        int (*call)(int *, char ***, int, int *) = next(#P "Init_thread");   \
        before();                                                            \
        return call(argc, argv, required, provided);                         \
    }
INIT(MPI_)
INIT(PMPI_)

int PMPI_Allgather(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm)
{
    int (*call)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm) =
        next("PMPI_Allgather");
    exchange();
    return call(in, n, t, out, m, u, comm);
}

int PMPI_Iallgather(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm comm,
                    MPI_Request *request)
{
    int (*call)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *) =
        next("PMPI_Iallgather");
    exchange();
    return call(in, n, t, out, m, u, comm, request);
}
