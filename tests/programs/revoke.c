/* One rank revokes a communicator on which the others wait for it. They get MPI_ERR_REVOKED, from that call
 * and from all later ones.
 *
 *   revoke what=barrier|allreduce|large|gather|bcast|ibarrier|iallreduce|beside */
#include "fault_tolerance.h"

#define REVOKED(call)                                                                               \
    do {                                                                                            \
        int class_ = class_of(call);                                                                \
        CHECK(class_ == MPIX_ERR_REVOKED, "%s: class %d, not %d", #call, class_, MPIX_ERR_REVOKED); \
    } while (0)

static int wait_for(MPI_Comm comm, const char *what, int n, int *in, int *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (!strcmp(what, "barrier"))
        return MPI_Barrier(comm);
    if (!strcmp(what, "allreduce") || !strcmp(what, "large"))
        return MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "gather")) /* large: a rank stays until all have read its part */
        return MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
    if (!strcmp(what, "bcast")) {
        /* The rank that is away is not the root: the others run ahead until the ring is full. */
        for (int i = 0; i < 1000 && code == MPI_SUCCESS; i++)
            code = MPI_Bcast(out, n, MPI_INT, 1, comm);
        return code == MPI_SUCCESS ? MPI_Barrier(comm) : code;
    }
    if (!strcmp(what, "ibarrier"))
        code = MPI_Ibarrier(comm, &request);
    else
        code = MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, comm, &request);
    if (code != MPI_SUCCESS)
        return code;
    if (!strcmp(what, "beside")) {
        MPI_Status status;
        CHECK(class_of(MPI_Barrier(comm)) == MPIX_ERR_REVOKED, "the barrier beside it");
        return MPI_Waitall(1, &request, &status) == MPI_SUCCESS ? MPI_SUCCESS : status.MPI_ERROR;
    }
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "barrier");
    int n = !strcmp(what, "gather") ? 100000 : !strcmp(what, "large") ? 20000 : 2;
    int *in = calloc((size_t)n * (size_t)world_size, sizeof *in), *out = calloc((size_t)n, sizeof *out);
    /* Open MPI reports errors of evenkeel's requests to the handler of this one. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 5; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        EXPECT_OK(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, comm));
        if (world_rank == 0) {
            usleep(20000); /* most likely the others wait by now; if not, their call fails at once */
            EXPECT_OK(MPIX_Comm_revoke(comm));
        } else {
            REVOKED(wait_for(comm, what, n, in, out));
        }
        REVOKED(MPI_Barrier(comm));
        REVOKED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, comm));
        MPI_Comm_free(&comm);
        /* Other communicators are not revoked. */
        int one = 1, sum = 0;
        EXPECT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == world_size, "sum %d", sum);
    }
    int code = report_result(5);
    MPI_Finalize();
    return code;
}
