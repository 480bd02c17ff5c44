/* Barriers over MPI point-to-point messages, one byte each, for SimGrid's SMPI: the same messages in the same
 * order as the schedules of evenkeel. Usage: barriers NAME N TIMES; rank 0 prints microseconds of simulated
 * time per barrier, counted until the last rank is through. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void tell(int to)
{
    char byte = 0;
    MPI_Send(&byte, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static void hear(int from)
{
    char byte;
    MPI_Recv(&byte, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In each round to n ranks, i·(n+1)^r further on, all before the first is waited for. */
static void n_way_dissemination(int n)
{
    for (long reach = 1; reach < ranks; reach *= n + 1) {
        for (int i = 1; i <= n && i * reach < ranks; i++)
            tell((int)((rank + i * reach) % ranks));
        for (int i = 1; i <= n && i * reach < ranks; i++)
            hear((int)((rank - i * reach % ranks + ranks) % ranks));
    }
}

/* Groups of n + 1 exchange; ranks beyond the largest power join before and are told afterwards. */
static void n_wise_exchange(int n)
{
    int within = 1;
    while ((long)within * (n + 1) <= ranks)
        within *= n + 1;
    if (rank >= within) {
        tell(rank % within);
        hear(rank % within);
        return;
    }
    for (int kid = rank + within; kid < ranks; kid += within)
        hear(kid);
    for (int b = 1; b < within; b *= n + 1) {
        int base = rank / (b * (n + 1)) * b * (n + 1);
        for (int i = 1; i <= n; i++)
            tell(base + (rank - base + i * b) % (b * (n + 1)));
        for (int i = 1; i <= n; i++)
            hear(base + (rank - base + (n + 1 - i) * b) % (b * (n + 1)));
    }
    for (int kid = rank + within; kid < ranks; kid += within)
        tell(kid);
}

/* Losers tell winners; rank 0 lets go along a binomial tree. */
static void tournament(void)
{
    for (int reach = 1; reach < ranks; reach *= 2) {
        if (rank % (2 * reach)) {
            tell(rank - reach);
            break;
        }
        if (rank + reach < ranks)
            hear(rank + reach);
    }
    int known = 1;
    if (rank > 0) {
        while (2 * known <= rank)
            known *= 2;
        hear(rank - known);
        known *= 2;
    }
    for (; known < ranks; known *= 2)
        if (rank < known && rank + known < ranks)
            tell(rank + known);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4)
        return 2;
    int n = atoi(argv[2]), times = atoi(argv[3]);
    /* Simulated time begins at 0 for all ranks, and nothing has happened yet. */
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
