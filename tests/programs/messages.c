/* Point-to-point messages as MPI defines them, carried by evenkeel or by the library.
 *
 *   messages [rounds=20] [huge=0]
 *
 * First MPI's rules one by one between ranks 0 and 1, then random traffic between all ranks with barriers in
 * between. huge=1: a message of 1 GiB as well. */
#include "message_traffic.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long rounds = number(argc, argv, "rounds", 20);
    if (world_rank < 2) {
        void (*const rules[])(int) = {statuses,   structures, columns, absolute_addresses,
                                      persistent, modes,      probes,  order};
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            rules[i](world_rank);
        if (number(argc, argv, "huge", 0))
            huge(world_rank);
    }
    MPI_Barrier(WORLD);
    if (world_size >= 2) {
        /* It makes a communicator, which is a collective call of all ranks. */
        if (world_rank < 2) {
            truncation(world_rank);
        } else {
            MPI_Comm comm;
            MPI_Comm_dup(WORLD, &comm);
            MPI_Comm_free(&comm);
        }
    }
    for (long r = 0; r < rounds; r++) {
        exchange((uint64_t)r);
        MPI_Barrier(WORLD); /* or a receive from any source could get a message of the next round */
    }
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
