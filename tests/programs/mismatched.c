/* Rank 1 calls a collective with other counts than the others, or another collective: an error of the
 * program.
 *
 *   mismatched call=NAME mine=COUNT theirs=COUNT    ints; `theirs` are those of rank 1
 *
 * Prints "ACCEPTED", and how many ints were changed that no rank has sent, if the call returns. */
#include "check.h"

enum { ROOM = 1 << 21, UNTOUCHED = -1 };

static int in[ROOM], out[ROOM], counts[64], starts[64], ones[64];

/* So many rows of so many ints, with a hole behind each. */
static MPI_Datatype rows(int count, int width)
{
    MPI_Datatype type;
    MPI_Type_vector(count, width, width + 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void call(const char *name, int n)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    for (int r = 0; r < world_size; r++)
        counts[r] = n, starts[r] = r * n, ones[r] = 1;
    if (!strcmp(name, "bcast"))
        MPI_Bcast(world_rank ? in : out, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "bcast of other types")) /* as many bytes */
        MPI_Bcast(world_rank ? in : out, world_rank ? n * (int)sizeof(int) : n,
                  world_rank ? MPI_BYTE : MPI_INT, 0, comm);
    else if (!strcmp(name, "bcast of other layouts"))
        MPI_Bcast(world_rank ? in : out, 1, world_rank ? rows(n, 1) : rows(1, n), 0, comm);
    else if (!strcmp(name, "gather of other layouts"))
        MPI_Gather(out, 1, rows(n, 1), in, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "ibcast"))
        MPI_Ibcast(world_rank ? in : out, n, MPI_INT, 0, comm, &request),
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, comm);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(name, "scan"))
        MPI_Scan(out, in, n, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(name, "reduce_scatter_block"))
        MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(name, "gather"))
        MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
    else if (!strcmp(name, "scatter"))
        MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
    else if (!strcmp(name, "gatherv"))
        MPI_Gatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, 0, comm);
    else if (!strcmp(name, "allgatherv"))
        MPI_Allgatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, comm);
    else if (!strcmp(name, "scatterv"))
        MPI_Scatterv(out, counts, starts, MPI_INT, in, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "alltoallv"))
        MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm);
    else if (!strcmp(name, "bcast-or-allreduce") && world_rank != 1)
        MPI_Bcast(world_rank ? in : out, n, MPI_INT, 0, comm);
    else if (!strcmp(name, "bcast-or-allreduce"))
        MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    else
        fail("there is no call=%s", name);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *name = argument(argc, argv, "call", "bcast");
    for (int i = 0; i < ROOM; i++)
        in[i] = UNTOUCHED, out[i] = world_rank;
    int n = (int)number(argc, argv, world_rank == 1 ? "theirs" : "mine", 1);
    call(name, n);
    int sent = (int)number(argc, argv, "mine", 1), theirs = (int)number(argc, argv, "theirs", 1), changed = 0;
    if (!strcmp(name, "bcast") && world_rank == 1) {
        for (int i = sent; i < ROOM; i++)
            changed += in[i] != UNTOUCHED;
    } else if (world_rank == 0 && strstr(name, "gather")) {
        for (int i = sent + theirs; i < 2 * sent; i++)
            changed += in[i] != UNTOUCHED;
    }
    printf("rank %d: ACCEPTED, %d changed\n", world_rank, changed);
    fflush(stdout);
    MPI_Finalize();
    return failures != 0;
}
