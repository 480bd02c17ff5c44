/* A program that makes no collective call: does anything that stands between it and its MPI library cost it
 * something? An ordinary MPI program.
 *
 *   compute [--steps N] [--cells N] [--trips N] [--limit S]
 *
 * Heat on a ring: every rank owns `cells` cells, exchanges its edges with both neighbours (MPI_Irecv,
 * MPI_Isend, MPI_Waitall) and relaxes, `steps` times. Then rank pairs play ping-pong, `trips` times: nothing
 * but calls. */
#include "clock.h"
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, peer = rank ^ 1;
    double *now = malloc(sizeof(double) * ((size_t)cells + 2)),
           *then = malloc(sizeof(double) * ((size_t)cells + 2));
    if (!now || !then)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < cells + 2; i++)
        now[i] = then[i] = (rank + i) % 7;
    uint64_t start = 0;
    for (long step = -steps / 10; step < steps; step++) { /* the first tenth warms up */
        if (step == 0)
            start = wall_ns();
        MPI_Request request[4];
        MPI_Irecv(&now[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&now[cells + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(&now[cells], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(&now[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= cells; i++)
            then[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        double *swap = now;
        now = then;
        then = swap;
    }
    double step_us = (double)(wall_ns() - start) / 1e3 / (double)steps, trip_us = 0;
    if (peer < ranks) {
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
        trip_us = trips ? (double)(wall_ns() - start) / 1e3 / (double)trips : 0;
    }
    double checksum = 0;
    for (int i = 1; i <= cells; i++)
        checksum += now[i];
    if (rank == 0)
        printf("result {\"op\": \"compute\", \"bytes\": 0, \"ranks\": %d, \"steps\": %ld, \"mean_us\": %.4f, "
               "\"trip_us\": %.4f, "
               "\"checksum\": %.17g}\n",
               ranks, steps, step_us, trip_us, checksum);
    MPI_Finalize();
    return 0;
}
