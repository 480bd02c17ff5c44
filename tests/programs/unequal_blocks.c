/* MPI_Allgatherv and MPI_Iallgatherv of blocks of which one is much longer than the others: all ranks must
 * agree on who carries the call, although each contributes another length.
 *
 *   unequal_blocks [bytes=BYTES] [rounds=N]   of the long block; the others have a hundredth */
#include "check.h"

static unsigned char byte_of(int rank, int at)
{
    return (unsigned char)mix3((uint64_t)rank, (uint64_t)at, 7);
}

static void gather(int longest, int bytes, int nonblocking)
{
    int *counts = calloc((size_t)world_size, sizeof *counts),
        *places = calloc((size_t)world_size, sizeof *places);
    int all = 0;
    for (int rank = 0; rank < world_size; rank++) {
        places[rank] = all;
        counts[rank] = rank == longest ? bytes : bytes / 100;
        all += counts[rank];
    }
    unsigned char *mine = malloc((size_t)bytes), *found = calloc((size_t)all, 1);
    for (int at = 0; at < counts[world_rank]; at++)
        mine[at] = byte_of(world_rank, at);
    if (nonblocking) {
        MPI_Request request;
        MPI_Iallgatherv(mine, counts[world_rank], MPI_BYTE, found, counts, places, MPI_BYTE, MPI_COMM_WORLD,
                        &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allgatherv(mine, counts[world_rank], MPI_BYTE, found, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    }
    for (int rank = 0; rank < world_size; rank++)
        for (int at = 0; at < counts[rank]; at++)
            if (found[places[rank] + at] != byte_of(rank, at)) {
                fail("byte %d of rank %d is wrong; the long block is rank %d's", at, rank, longest);
                break;
            }
    free(counts), free(places), free(mine), free(found);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int bytes = (int)number(argc, argv, "bytes", 100000), rounds = (int)number(argc, argv, "rounds", 1);
    for (int round = 0; round < rounds; round++)
        for (int longest = 0; longest < world_size; longest++)
            for (int nonblocking = 0; nonblocking < 2; nonblocking++)
                gather(longest, bytes, nonblocking);
    int code = report_result(2 * (uint64_t)rounds * (uint64_t)world_size);
    MPI_Finalize();
    return code;
}
