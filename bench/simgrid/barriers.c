/* Barriers of point-to-point messages of one byte each, for SimGrid's SMPI. They send the same messages in
 * the same order as the schedules of evenkeel.
 *
 *   barriers NAME N TIMES
 *
 * Rank 0 prints the microseconds of simulated time per barrier, until the last rank has left the last one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void send_to(int to)
{
    char byte = 0;
    MPI_Send(&byte, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static void receive_from(int from)
{
    char byte;
    MPI_Recv(&byte, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In round r a rank sends to the n ranks that follow at distances i·(n+1)^r, then waits for n messages. */
static void n_way_dissemination(int n)
{
    for (long reach = 1; reach < ranks; reach *= n + 1) {
        for (int i = 1; i <= n && i * reach < ranks; i++)
            send_to((int)((rank + i * reach) % ranks));
        for (int i = 1; i <= n && i * reach < ranks; i++)
            receive_from((int)((rank - i * reach % ranks + ranks) % ranks));
    }
}

/* Groups of n + 1 ranks exchange messages. Ranks beyond the largest power of n + 1 report to one of the
 * others before the rounds, and get a message from it afterwards. */
static void n_wise_exchange(int n)
{
    int power = 1;
    while ((long)power * (n + 1) <= ranks)
        power *= n + 1;
    if (rank >= power) {
        send_to(rank % power);
        receive_from(rank % power);
        return;
    }
    for (int extra = rank + power; extra < ranks; extra += power)
        receive_from(extra);
    for (int b = 1; b < power; b *= n + 1) {
        int base = rank / (b * (n + 1)) * b * (n + 1);
        for (int i = 1; i <= n; i++)
            send_to(base + (rank - base + i * b) % (b * (n + 1)));
        for (int i = 1; i <= n; i++)
            receive_from(base + (rank - base + (n + 1 - i) * b) % (b * (n + 1)));
    }
    for (int extra = rank + power; extra < ranks; extra += power)
        send_to(extra);
}

/* Losers send to winners; then rank 0 releases all ranks along a binomial tree. */
static void tournament(void)
{
    for (int reach = 1; reach < ranks; reach *= 2) {
        if (rank % (2 * reach)) {
            send_to(rank - reach);
            break;
        }
        if (rank + reach < ranks)
            receive_from(rank + reach);
    }
    int known = 1;
    if (rank > 0) {
        while (2 * known <= rank)
            known *= 2;
        receive_from(rank - known);
        known *= 2;
    }
    for (; known < ranks; known *= 2)
        if (rank < known && rank + known < ranks)
            send_to(rank + known);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4)
        return 2;
    int n = atoi(argv[2]), times = atoi(argv[3]);
    /* Simulated time begins at 0 for all ranks, so they need no barrier before. */
    double begin = MPI_Wtime();
    for (int i = 0; i < times; i++) {
        if (!strcmp(argv[1], "n-way-dissemination"))
            n_way_dissemination(n);
        else if (!strcmp(argv[1], "n-wise-exchange"))
            n_wise_exchange(n);
        else if (!strcmp(argv[1], "tournament"))
            tournament();
        else
            return 2;
    }
    double mine = MPI_Wtime() - begin, last;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %.9f\n", last * 1e6 / times);
    MPI_Finalize();
    return 0;
}
