/* 100 rounds of the same five receives around a ring: blocking, nonblocking, persistent, from any source, and
 * an exchange. The exchange asks for the same message as the blocking receive. */
#include "check.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int rank = world_rank, size = world_size;
    int const right = (rank + 1) % size, left = (rank + size - 1) % size;
    int out = rank, in = -1;
    MPI_Request persistent, request;
    MPI_Recv_init(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &persistent);
    for (int round = 0; round < 100; round++) {
        MPI_Isend(&out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in == left, "round %d: got %d", round, in);
        MPI_Irecv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &request);
        MPI_Send(&out, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in == left, "round %d: got %d", round, in);
        MPI_Start(&persistent);
        MPI_Send(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        CHECK(in == left, "round %d: got %d", round, in);
        MPI_Isend(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in == left, "round %d: got %d", round, in);
        MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == left, "round %d: got %d", round, in);
    }
    MPI_Request_free(&persistent);
    MPI_Finalize(); /* without a digest, whose messages would be further receives */
    return failures > 0;
}
