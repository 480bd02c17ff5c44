/* Broadcasts a text that can be recognized in what passes on the network.
 *
 *   marked_broadcasts bytes=65536 rounds=20 */
#include "check.h"

int main(int argc, char **argv)
{
    static const char text[] = "this text is broadcast; it can be recognized; ";
    begin(&argc, &argv);
    int bytes = (int)number(argc, argv, "bytes", 65536), rounds = (int)number(argc, argv, "rounds", 20);
    char *data = calloc(1, (size_t)bytes);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < bytes; i++)
            data[i] = world_rank == 0 ? text[i % (int)(sizeof text - 1)] : 0;
        MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        for (int i = 0; i < bytes; i++)
            CHECK(data[i] == text[i % (int)(sizeof text - 1)], "byte %d of round %d is wrong", i, round);
    }
    int code = report_result((uint64_t)rounds);
    free(data);
    MPI_Finalize();
    return code;
}
