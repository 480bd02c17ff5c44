/* Calls that evenkeel leaves to the host library, mixed with calls that it carries out itself: MPI-IO,
 * windows, intercommunicators, neighbourhood and persistent collectives, spawned processes.
 *
 *   host_library what=io|window|inter|neighbour|persistent|spawn file=PATH beside=0 */
#include "check.h"

static int sum_of(MPI_Comm comm)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void io(const char *path)
{
    MPI_File file;
    int block[64], back[64];
    EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 64; i++)
            block[i] = round * 10000 + world_rank * 100 + i, back[i] = -1;
        MPI_Offset at = (MPI_Offset)(round * world_size + world_rank) * (MPI_Offset)sizeof block;
        EXPECT_OK(MPI_File_write_at_all(file, at, block, 64, MPI_INT, MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_File_sync(file));
        CHECK(sum_of(MPI_COMM_WORLD) == world_size, "sum between file calls");
        int other = (world_rank + 1) % world_size;
        EXPECT_OK(MPI_File_read_at_all(file,
                                       (MPI_Offset)(round * world_size + other) * (MPI_Offset)sizeof block,
                                       back, 64, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < 64; i++)
            CHECK(back[i] == round * 10000 + other * 100 + i, "file: %d", back[i]);
    }
    /* Through a view with holes: every rank has a column. */
    MPI_Datatype column;
    MPI_Type_vector(16, 1, world_size, MPI_INT, &column);
    MPI_Type_commit(&column);
    EXPECT_OK(MPI_File_set_view(file, world_rank * (MPI_Offset)sizeof(int), MPI_INT, column, "native",
                                MPI_INFO_NULL));
    EXPECT_OK(MPI_File_write_all(file, block, 16, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    EXPECT_OK(MPI_File_read_all(file, back, 16, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(!memcmp(block, back, 16 * sizeof(int)), "a column came back changed");
    MPI_Type_free(&column);
    EXPECT_OK(MPI_File_close(&file));
}

static void window(void)
{
    int *base, *shared;
    MPI_Win win, local;
    MPI_Win_allocate(sizeof(int) * (MPI_Aint)world_size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < world_size; i++)
            base[i] = -1;
        MPI_Win_fence(0, win);
        int value = round * 100 + world_rank;
        for (int target = 0; target < world_size; target++)
            MPI_Put(&value, 1, MPI_INT, target, world_rank, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < world_size; i++)
            CHECK(base[i] == round * 100 + i, "window: %d from %d", base[i], i);
        CHECK(sum_of(MPI_COMM_WORLD) == world_size, "sum between fences");
    }
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &local);
    MPI_Win_lock_all(0, local);
    *shared = 77 + world_rank;
    MPI_Win_sync(local);
    MPI_Barrier(MPI_COMM_WORLD); /* orders accesses to the memory that ranks share */
    MPI_Win_sync(local);
    MPI_Aint size;
    int unit, *first;
    MPI_Win_shared_query(local, (world_rank + 1) % world_size, &size, &unit, &first);
    CHECK(*first == 77 + (world_rank + 1) % world_size, "shared window: %d", *first);
    MPI_Win_unlock_all(local);
    MPI_Win_free(&local);
}

static void inter(void)
{
    MPI_Comm half, bridge, merged;
    int group = world_rank % 2, data = 0, size;
    MPI_Comm_split(MPI_COMM_WORLD, group, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - group, 9, &bridge);
    int mine = group ? 1 : 100, sum = 0, remote;
    MPI_Comm_remote_size(bridge, &remote);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, bridge);
    CHECK(sum == remote * (group ? 100 : 1), "between groups: %d", sum);
    if (group == 0 && world_rank == 0)
        data = 33;
    MPI_Bcast(&data, 1, MPI_INT, group ? 0 : world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, bridge);
    CHECK(group == 0 || data == 33, "between groups: bcast %d", data);
    MPI_Barrier(bridge);
    MPI_Request request;
    MPI_Ibarrier(bridge, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(bridge, group, &merged);
    MPI_Comm_size(merged, &size);
    CHECK(sum_of(merged) == size, "merged");
    MPI_Comm_free(&merged), MPI_Comm_free(&bridge), MPI_Comm_free(&half);
}

static void neighbour(void)
{
    MPI_Comm ring;
    int periodic = 1, all[2] = {-1, -1}, left, right;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    for (int round = 0; round < 5; round++) {
        int mine = round * 100 + world_rank;
        MPI_Neighbor_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, ring);
        CHECK(all[0] == round * 100 + left && all[1] == round * 100 + right, "neighbours: %d %d", all[0],
              all[1]);
        CHECK(sum_of(ring) == world_size, "sum on the ring");
        MPI_Request request;
        MPI_Ineighbor_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(all[0] == round * 100 + left, "nonblocking neighbours: %d", all[0]);
    }
    MPI_Comm_free(&ring);
}

/* `beside`: an operation of evenkeel's is under way while persistent ones are waited for. */
static void persistent(int beside)
{
    (void)beside;
#if MPI_VERSION >= 4
    int in = 0, out = 0;
    MPI_Request requests[2];
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 1; round <= 20; round++) {
        MPI_Request ours;
        int sum = 0;
        in = round;
        MPI_Startall(2, requests);
        MPI_Iallreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &ours);
        if (!beside)
            MPI_Wait(&ours, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(out == round * world_size, "persistent: %d", out);
        MPI_Wait(&ours, MPI_STATUS_IGNORE);
        CHECK(sum == round * world_size, "beside persistent: %d", sum);
    }
    MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
#endif
}

static void spawn(char **argv)
{
    MPI_Comm parent, children, everyone;
    int size, rank;
    char *arguments[] = {"what=spawn", NULL};
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    else
        children = parent;
    MPI_Intercomm_merge(children, parent != MPI_COMM_NULL, &everyone);
    MPI_Comm_size(everyone, &size);
    MPI_Comm_rank(everyone, &rank);
    int total = 0;
    for (int round = 0; round < 3;
         round++) { /* the communicator with spawned ranks and the own world, in turn */
        MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, everyone);
        CHECK(total == size * (size - 1) / 2, "with spawned ranks: %d", total);
        CHECK(sum_of(MPI_COMM_WORLD) == world_size, "own world beside spawned ranks");
    }
    MPI_Comm_free(&everyone);
    MPI_Comm_disconnect(&children);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "io");
    CHECK(sum_of(MPI_COMM_WORLD) == world_size, "first sum");
    if (!strcmp(what, "io"))
        io(argument(argc, argv, "file", "/tmp/evenkeel-test-file"));
    else if (!strcmp(what, "window"))
        window();
    else if (!strcmp(what, "inter"))
        inter();
    else if (!strcmp(what, "neighbour"))
        neighbour();
    else if (!strcmp(what, "persistent"))
        persistent((int)number(argc, argv, "beside", 0));
    else
        spawn(argv);
    CHECK(sum_of(MPI_COMM_WORLD) == world_size, "last sum");
    int code = report_result(1);
    MPI_Finalize();
    return code;
}
