/* A program without collective calls. It shows whether a library between the program and its MPI library
 * costs such a program anything. An ordinary MPI program.
 *
 *   compute [--steps N] [--cells N] [--trips N] [--limit S]
 *
 * Heat on a ring: every rank owns `cells` cells, exchanges its edges with both neighbours (MPI_Irecv,
 * MPI_Isend, MPI_Waitall) and relaxes, `steps` times. Then pairs of ranks play ping-pong, `trips` times,
 * which consists of calls only. */
#include "clock.h"
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* Relaxes `steps` times; `now` holds the result. Returns the microseconds of a step. */
static double relax(double **now, double **then, int cells, long steps)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    uint64_t start = 0;
    for (long step = -steps / 10; step < steps; step++) { /* the first tenth warms up */
        if (step == 0)
            start = wall_ns();
        double *old = *now, *new = *then;
        MPI_Request request[4];
        MPI_Irecv(&old[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&old[cells + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(&old[cells], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(&old[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= cells; i++)
            new[i] = old[i] + 0.25 * (old[i - 1] - 2 * old[i] + old[i + 1]);
        *now = new;
        *then = old;
    }
    return (double)(wall_ns() - start) / 1e3 / (double)steps;
}

/* Plays ping-pong with the peer, if there is one. Returns the microseconds of a round trip. */
static double ping_pong(long trips)
{
    int peer = rank ^ 1;
    if (peer >= ranks)
        return 0;
    uint64_t start = 0;
    double ball = 0;
    for (long trip = -trips / 10; trip < trips; trip++) {
        if (trip == 0)
            start = wall_ns();
        if (rank < peer) {
            MPI_Send(&ball, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
            MPI_Recv(&ball, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&ball, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&ball, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
        }
    }
    return trips ? (double)(wall_ns() - start) / 1e3 / (double)trips : 0;
}

int main(int argc, char **argv)
{
    long steps = 4000, trips = 20000;
    int cells = 16384, limit_s = 0, c;
    static const struct option options[] = {
        {"steps", 1, 0, 's'}, {"cells", 1, 0, 'n'}, {"trips", 1, 0, 't'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 's': steps = atol(optarg); break;
        case 'n': cells = atoi(optarg); break;
        case 't': trips = atol(optarg); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t bytes = sizeof(double) * ((size_t)cells + 2);
    double *now = malloc(bytes), *then = malloc(bytes);
    if (!now || !then)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < cells + 2; i++)
        now[i] = then[i] = (rank + i) % 7;
    double step_us = relax(&now, &then, cells, steps), trip_us = ping_pong(trips), checksum = 0;
    for (int i = 1; i <= cells; i++)
        checksum += now[i];
    if (rank == 0)
        printf("result {\"op\": \"compute\", \"bytes\": 0, \"ranks\": %d, \"steps\": %ld, \"mean_us\": %.4f, "
               "\"trip_us\": %.4f, \"checksum\": %.17g}\n",
               ranks, steps, step_us, trip_us, checksum);
    MPI_Finalize();
    return 0;
}
