/* A job that hangs on purpose, in the way that `what` says; rank `victim` plays a part of its own.
 *
 *   hang what=missing how=spin|read|stop|vfork op=allreduce|barrier|reduce|bcast|dup|large
 *
 *     The victim does not call the collective before the file `until` exists; unless how=spin, it never does.
 *
 *   hang what=receives | circle     Ranks 0 and 1, or 0 to 2, receive from the next; others wait for rank 0.
 *   hang what=any                   All ranks receive from any rank.
 *   hang what=sends | ssends        Ranks 0 and 1 send to each other, by messages too long to buffer.
 *   hang what=tags                  Rank 0 sends synchronously by another tag than rank 1 receives.
 *   hang what=requests              Ranks 0 and 1 wait for nonblocking receives from each other.
 *   hang what=different             The victim calls a barrier, the others an allreduce.
 *   hang what=root                  The victim takes another rank for a broadcast's root, then a barrier.
 *   hang what=named                 The victim does not call a barrier of a communicator named "halves".
 *   hang what=exit                  The victim exits without MPI_Finalize; rank 0 receives from it.
 *   hang what=finalize              The victim finalizes; rank 0 receives from it.
 *   hang what=left                  The victim finalizes; all others call a barrier.
 *   hang what=callback on=self|world
 *
 *     As `finalize`, but an attribute of that communicator, which the victim's MPI_Finalize deletes, sends
 *     the message, once the file `until` exists: no rank hangs.
 *
 * exchange=0 leaves out the messages before. */
#include "check.h"
#include <signal.h>
#include <sys/prctl.h>

enum { LONG = 4 << 20, ROUNDS = 20 };

static const char *file;

static void stay_away(const char *how)
{
    int pipes[2];
    char byte;
    if (!strcmp(how, "stop"))
        raise(SIGSTOP);
    if (!strcmp(how, "vfork") && vfork() == 0) { /* the parent sleeps uninterruptibly until the child ends */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    if (!strcmp(how, "read") && !pipe(pipes))
        for (;;)
            (void)!read(pipes[0], &byte, 1);
    for (volatile unsigned long spins = 0;; spins++)
        if (spins % 100000 == 0 && access(file, F_OK) == 0)
            return;
}

static void collective(const char *op, MPI_Comm comm)
{
    static int sum[LONG / sizeof(int)], mine[LONG / sizeof(int)];
    MPI_Comm copy;
    if (!strcmp(op, "barrier"))
        MPI_Barrier(comm);
    else if (!strcmp(op, "reduce"))
        MPI_Reduce(mine, sum, 1, MPI_INT, MPI_SUM, 0, comm);
    else if (!strcmp(op, "bcast"))
        MPI_Bcast(mine, 1, MPI_INT, world_size - 1, comm);
    else if (!strcmp(op, "large"))
        MPI_Allreduce(mine, sum, LONG / sizeof(int), MPI_INT, MPI_SUM, comm);
    else if (!strcmp(op, "dup"))
        MPI_Comm_dup(comm, &copy);
    else
        MPI_Allreduce(mine, sum, 1, MPI_INT, MPI_SUM, comm);
}

/* Messages that are received, so that there is something to count. */
static void exchange(void)
{
    int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size, in;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        if (world_rank % 2)
            MPI_Recv(&in, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&round, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        if (world_rank % 2 == 0)
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&in, 1, MPI_INT, last, 2, MPI_COMM_WORLD, &request);
        MPI_Send(&round, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void wait_in_a_circle(int ranks)
{
    int in;
    if (world_rank < ranks)
        MPI_Recv(&in, 1, MPI_INT, (world_rank + 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Recv(&in, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_to_each_other(int synchronous)
{
    static char bytes[LONG];
    int other = 1 - world_rank, in;
    if (world_rank > 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (synchronous)
        MPI_Ssend(bytes, 1, MPI_CHAR, other, 7, MPI_COMM_WORLD);
    else
        MPI_Send(bytes, LONG, MPI_CHAR, other, 7, MPI_COMM_WORLD);
}

static void use_other_tags(void)
{
    int in = 0;
    if (world_rank == 0)
        MPI_Ssend(&in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(&in, 1, MPI_INT, world_rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_requests(void)
{
    int in;
    MPI_Request request = MPI_REQUEST_NULL;
    if (world_rank < 2)
        MPI_Irecv(&in, 1, MPI_INT, 1 - world_rank, 7, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(&in, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The standard has MPI_Finalize delete the attributes of MPI_COMM_SELF while MPI still works. MPICH deletes
 * those of MPI_COMM_WORLD in the same way. */
static int send_late(MPI_Comm comm, int key, void *value, void *extra)
{
    int out = 0;
    (void)comm, (void)key, (void)value, (void)extra;
    stay_away("spin");
    return MPI_Send(&out, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
}

static int finalize_with_a_callback(int victim, MPI_Comm comm)
{
    int key, in;
    if (world_rank == victim) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_late, &key, NULL);
        MPI_Comm_set_attr(comm, key, NULL);
    }
    if (world_rank == 0)
        MPI_Recv(&in, 1, MPI_INT, victim, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

static void broadcast(int root)
{
    static int data[4];
    MPI_Bcast(data, 4, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "missing"), *how = argument(argc, argv, "how", "spin");
    const char *op = argument(argc, argv, "op", "allreduce");
    int victim = (int)number(argc, argv, "victim", 2), in = 0;
    file = argument(argc, argv, "until", "");
    MPI_Comm halves;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &halves);
    MPI_Comm_set_name(halves, "halves");
    if (number(argc, argv, "exchange", 1))
        exchange();
    for (int round = 0; round < ROUNDS; round++) {
        collective("barrier", MPI_COMM_WORLD);
        collective("allreduce", MPI_COMM_WORLD);
    }
    if (!strcmp(what, "callback")) {
        const char *on = argument(argc, argv, "on", "self");
        return finalize_with_a_callback(victim, strcmp(on, "self") ? MPI_COMM_WORLD : MPI_COMM_SELF);
    }
    if (world_rank == victim && (!strcmp(what, "finalize") || !strcmp(what, "left"))) {
        MPI_Finalize(); /* with no message under way */
        return 0;
    }
    if (!strcmp(what, "missing")) {
        if (world_rank == victim)
            stay_away(how);
        collective(op, MPI_COMM_WORLD);
    } else if (!strcmp(what, "named")) {
        if (world_rank == victim)
            stay_away(how);
        MPI_Barrier(halves);
    } else if (!strcmp(what, "receives") || !strcmp(what, "circle")) {
        wait_in_a_circle(!strcmp(what, "circle") ? 3 : 2);
    } else if (!strcmp(what, "any")) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "sends") || !strcmp(what, "ssends")) {
        send_to_each_other(!strcmp(what, "ssends"));
    } else if (!strcmp(what, "tags")) {
        use_other_tags();
    } else if (!strcmp(what, "requests")) {
        wait_for_requests();
    } else if (!strcmp(what, "root")) {
        broadcast(world_rank == victim ? 1 : 0);
    } else if (!strcmp(what, "left")) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "different")) {
        collective(world_rank == victim ? "barrier" : "allreduce", MPI_COMM_WORLD);
    } else {
        if (world_rank == victim && !strcmp(what, "exit"))
            _exit(0);
        if (world_rank == 0)
            MPI_Recv(&in, 1, MPI_INT, victim, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (world_rank != victim)
            stay_away("spin");
    }
    CHECK(in == 0, "no rank has sent %d", in);
    MPI_Comm_free(&halves);
    int code = report_result(ROUNDS);
    MPI_Finalize();
    return code;
}
