/* Jobs in which ranks wait long for each other, as they do in a hang, but all of them end. By the name of the
 * case:
 *
 *   slow_jobs CASE
 *
 * Four ranks. Each case takes some three seconds, most of it in waits longer than what lies between two looks
 * from outside. Every rank adds what it receives to a digest. */
#include "check.h"
#include <signal.h>
#include <time.h>

enum { ROUNDS = 6, LONG = 1 << 20, NAP_US = 250000 };

static int in, out;
static int bytes[LONG];

static int next(void) { return (world_rank + 1) % world_size; }
static int last(void) { return (world_rank + world_size - 1) % world_size; }

static void keep(int value) { digest_bytes(&value, sizeof value); }

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(void)
{
    for (double begin = now(); now() - begin < 1e-6 * NAP_US;)
        ;
}

static void allreduce(void)
{
    out = world_rank + in;
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    keep(in);
}

static void receive_int(int from)
{
    MPI_Recv(&in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    keep(in);
}

static void send_int(int to, int value) { MPI_Send(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD); }

/* ---- cases ---- */

static void one_computes_longer(int round)
{
    if (world_rank == round % world_size)
        compute();
    allreduce();
}

/* All but one wait in MPI_Recv, each for its neighbour. */
static void token(int round)
{
    if (world_rank == 0)
        send_int(next(), round);
    receive_int(last());
    usleep(NAP_US / 2);
    if (world_rank)
        send_int(next(), in + 1);
}

static void master_that_sleeps(int round)
{
    if (world_rank) {
        send_int(0, world_rank * 10 + round);
        receive_int(0);
        return;
    }
    int sum = 0;
    for (int rank = 1; rank < world_size; rank++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in;
    }
    keep(sum);
    usleep(NAP_US);
    for (int rank = 1; rank < world_size; rank++)
        send_int(rank, sum);
}

static void polling(int round)
{
    int has_come = 0;
    if (world_rank == 1) {
        usleep(NAP_US);
        send_int(2, round);
    } else if (world_rank == 2) {
        while (!has_come) {
            MPI_Iprobe(1, 1, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
            usleep(1000);
        }
        receive_int(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void late_partner(int round)
{
    if (world_rank == (round * 3) % world_size)
        usleep(NAP_US);
    MPI_Sendrecv(&round, 1, MPI_INT, next(), 2, &in, 1, MPI_INT, last(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    keep(in);
}

static void late_receiver_of_much(int round)
{
    bytes[0] = round;
    if (world_rank % 2 == 0) {
        MPI_Ssend(bytes, LONG, MPI_INT, world_rank + 1, 3, MPI_COMM_WORLD);
        MPI_Recv(bytes, LONG, MPI_INT, world_rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        usleep(NAP_US);
        MPI_Recv(bytes, LONG, MPI_INT, world_rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(bytes, LONG, MPI_INT, world_rank - 1, 3, MPI_COMM_WORLD);
    }
    keep(bytes[0]);
}

static void requests(int round)
{
    MPI_Request both[2];
    if (world_rank == 3)
        usleep(NAP_US);
    MPI_Irecv(&in, 1, MPI_INT, last(), 4, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&round, 1, MPI_INT, next(), 4, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    keep(in);
}

static void nonblocking_sum(int round)
{
    MPI_Request request;
    if (world_rank == 2)
        usleep(NAP_US);
    MPI_Iallreduce(&round, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    keep(in);
}

/* Rank 0 sends before it comes to the barrier in which others wait. */
static void message_into_a_barrier(int round)
{
    if (world_rank == 0) {
        usleep(NAP_US);
        send_int(1, round);
    } else if (world_rank == 1) {
        receive_int(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void parts_take_turns(int round)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, 0, &part);
    if (world_rank / 2 == round % 2)
        usleep(NAP_US);
    MPI_Allreduce(&round, &in, 1, MPI_INT, MPI_SUM, part);
    keep(in);
    MPI_Comm_free(&part);
}

static void wait_for_a_child(int round)
{
    if (world_rank == round % world_size && system("sleep 0.25"))
        fail("a child has failed");
    allreduce();
}

static const struct {
    const char *name;
    void (*round)(int);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(one_computes_longer),    CASE(token),
    CASE(master_that_sleeps),     CASE(polling),
    CASE(late_partner),           CASE(requests),
    CASE(nonblocking_sum),        CASE(late_receiver_of_much),
    CASE(message_into_a_barrier), CASE(parts_take_turns),
    CASE(wait_for_a_child),
};

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *name = argc > 1 ? argv[1] : "";
    size_t it = 0;
    while (it < sizeof cases / sizeof *cases && strcmp(cases[it].name, name))
        it++;
    CHECK(it < sizeof cases / sizeof *cases, "there is no case '%s'", name);
    for (int round = 0; round < ROUNDS && !failures; round++)
        cases[it].round(round);
    int code = report_result(ROUNDS);
    MPI_Finalize();
    return code;
}
