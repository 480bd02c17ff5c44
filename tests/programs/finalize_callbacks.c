/* What the program has attached to MPI_COMM_SELF communicates from one rank's MPI_Finalize, with ranks that
 * have not come to theirs.
 *
 *   finalize_callbacks act=send|ssend|barrier|allreduce|iallreduce|dup|receive victim=RANK multiple=0|1
 *
 * multiple=1: with MPI_THREAD_MULTIPLE. */
#include "check.h"

enum { TAG = 7, VALUE = 42 };

static const char *act;
static int victim, has_acted;

static void sum(MPI_Comm comm)
{
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    CHECK(all == world_size, "the sum of ones is %d", all);
}

/* What all ranks do, the victim in its callback. */
static void communicate(void)
{
    int one = 1, all = 0, in = 0, out = VALUE;
    MPI_Request request;
    MPI_Comm copy;
    if (!strcmp(act, "barrier")) {
        for (int round = 0; round < 3; round++)
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(act, "allreduce")) {
        sum(MPI_COMM_WORLD);
    } else if (!strcmp(act, "iallreduce")) {
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(all == world_size, "the sum of ones is %d", all);
    } else if (!strcmp(act, "dup")) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        sum(copy);
        MPI_Comm_free(&copy);
    } else if (world_rank != victim) {
        if (!strcmp(act, "receive")) {
            MPI_Send(&out, 1, MPI_INT, victim, TAG, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&in, 1, MPI_INT, victim, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(in == VALUE, "%d was received", in);
        }
    } else {
        for (int peer = 0; peer < world_size; peer++) {
            if (peer == victim)
                continue;
            if (!strcmp(act, "receive"))
                MPI_Recv(&in, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (!strcmp(act, "ssend"))
                MPI_Ssend(&out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
            else
                MPI_Send(&out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
        }
    }
}

static int on_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    communicate();
    has_acted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int level = number(argc, argv, "multiple", 0) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    act = argument(argc, argv, "act", "send");
    victim = (int)number(argc, argv, "victim", 0);
    sum(MPI_COMM_WORLD);
    if (world_rank == victim) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_deletion, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    } else {
        communicate();
    }
    MPI_Finalize();
    if (world_rank == victim && has_acted != 1) {
        printf("the callback was called %d times\n", has_acted);
        return 1;
    }
    return failures != 0;
}
