/* A rank dies while the other ranks of its host wait for it. They get an error, revoke the communicator, and
 * all survivors shrink to a new one and go on. For libraries that report failed processes.
 *
 *   survivors what=barrier|allreduce|large|gather|ibarrier|iallreduce victim=RANK */
#include "fault_tolerance.h"
#include <signal.h>

static int wait_for(MPI_Comm comm, const char *what, int n, int *in, int *out)
{
    MPI_Request request;
    int code;
    if (!strcmp(what, "barrier"))
        return MPI_Barrier(comm);
    if (!strcmp(what, "allreduce") || !strcmp(what, "large"))
        return MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "gather"))
        return MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
    code = !strcmp(what, "ibarrier") ? MPI_Ibarrier(comm, &request)
                                     : MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, comm, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Messages between all survivors of this host: each has come here. */
static void meet_survivors(MPI_Comm host, int victim)
{
    int size, mine = 0, theirs;
    MPI_Group here, world;
    MPI_Comm_size(host, &size);
    MPI_Comm_group(host, &here);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < size; r++) {
        int other;
        MPI_Group_translate_ranks(here, 1, &r, world, &other);
        if (other != world_rank && other != victim)
            EXPECT_OK(MPI_Sendrecv(&mine, 1, MPI_INT, other, 7, &theirs, 1, MPI_INT, other, 7, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE));
    }
    MPI_Group_free(&here);
    MPI_Group_free(&world);
}

/* On the host of the victim: the error that waiting ends with. */
static int check_bereaved(MPI_Comm all, MPI_Comm host, int victim, const char *what, int n, int *in, int *out)
{
    int class = class_of(wait_for(host, what, n, in, out));
    CHECK(class == MPIX_ERR_PROC_FAILED, "%s: class %d, not %d", what, class, MPIX_ERR_PROC_FAILED);
    meet_survivors(host, victim); /* all have got the error; after a revocation they would get another one */
    MPIX_Comm_revoke(host);
    CHECK(class_of(MPI_Barrier(host)) == MPIX_ERR_REVOKED, "the barrier after it");
    MPIX_Comm_revoke(all);
    return 2;
}

/* On other hosts: collectives of the host's ranks go on. */
static int check_unaffected(MPI_Comm host)
{
    int one = 1, sum = 0, size;
    MPI_Comm_size(host, &size);
    for (int i = 0; i < 50; i++) {
        EXPECT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, host));
        CHECK(sum == size, "%d of %d", sum, size);
        usleep(20000);
    }
    return 1;
}

static void make_communicators(MPI_Comm *all, MPI_Comm *host)
{
    /* Open MPI reports errors of evenkeel's requests to the handler of this one. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, all);
    MPI_Comm_split_type(*all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, host);
    MPI_Comm_set_errhandler(*all, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(*host, MPI_ERRORS_RETURN);
}

/* The survivors add up what they have checked. */
static void report_survivors(MPI_Comm all, int checks)
{
    MPI_Comm rest;
    int rank, size;
    EXPECT_OK(MPIX_Comm_shrink(all, &rest));
    int mine[3] = {1, failures, checks}, sum[3] = {0};
    EXPECT_OK(MPI_Allreduce(mine, sum, 3, MPI_INT, MPI_SUM, rest));
    MPI_Comm_rank(rest, &rank);
    MPI_Comm_size(rest, &size);
    if (rank == 0)
        printf("SURVIVORS %d RESULT checks %d failures %d\n", sum[0], sum[2], sum[1]);
    fflush(stdout);
    /* No rank leaves before that has been said. */
    for (int r = 1; r < size && rank == 0; r++)
        EXPECT_OK(MPI_Send(&rank, 1, MPI_INT, r, 7, rest));
    if (rank != 0)
        EXPECT_OK(MPI_Recv(&size, 1, MPI_INT, 0, 7, rest, MPI_STATUS_IGNORE));
    MPI_Comm_free(&rest);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "allreduce");
    int victim = (int)number(argc, argv, "victim", 1);
    int n = !strcmp(what, "gather") ? 100000 : !strcmp(what, "large") ? 20000 : 2;
    int *in = calloc((size_t)n * (size_t)world_size, sizeof *in), *out = calloc((size_t)n, sizeof *out);
    MPI_Comm all, host;
    make_communicators(&all, &host);
    int is_victim = world_rank == victim, victims_here = 0;
    for (int i = 0; i < 20; i++)
        EXPECT_OK(MPI_Allreduce(&is_victim, &victims_here, 1, MPI_INT, MPI_SUM, host));
    if (is_victim) {
        usleep(300000); /* the others wait by now */
        raise(SIGKILL);
    }
    report_survivors(all, victims_here ? check_bereaved(all, host, victim, what, n, in, out)
                                       : check_unaffected(host));
    MPI_Comm_free(&host);
    MPI_Comm_free(&all);
    /* After a death Open MPI 5.0 hangs in MPI_Finalize now and then, also without evenkeel. So all leave
     * without it, once everything has been printed. */
    usleep(500000);
    _exit(failures != 0);
}
