/* One rank is late for broadcasts from rank 0: how long does any other rank spend in them?
 *
 *   late_broadcast late=RANK ms=DELAY bytes=N calls=N less=BYTES
 *
 * With less=N the late rank asks for N bytes less than the others, which is an error of the program. Prints
 * "HELD MS" of the rank that was held longest. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long late = number(argc, argv, "late", 1), ms = number(argc, argv, "ms", 500),
         bytes = number(argc, argv, "bytes", 65536);
    long calls = number(argc, argv, "calls", 3), less = number(argc, argv, "less", 0);
    unsigned char *data = malloc((size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == late)
        usleep((useconds_t)ms * 1000);
    double start = MPI_Wtime();
    for (long call = 0; call < calls; call++) {
        for (long i = 0; i < bytes; i++)
            data[i] = world_rank == 0 ? (unsigned char)mix((uint64_t)(call << 32 | i)) : 0;
        MPI_Bcast(data, (int)(bytes - (world_rank == late ? less : 0)), MPI_BYTE, 0, MPI_COMM_WORLD);
        long wrong = 0;
        for (long i = 0; i < bytes; i++)
            wrong += data[i] != (unsigned char)mix((uint64_t)(call << 32 | i));
        CHECK(wrong == 0, "%ld bytes of broadcast %ld are wrong", wrong, call);
    }
    double held = world_rank == late ? 0 : (MPI_Wtime() - start) * 1e3, most = held;
    if (world_rank != 0) {
        MPI_Send(&held, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    } else {
        for (int rank = 1; rank < world_size; rank++) {
            MPI_Recv(&held, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            most = held > most ? held : most;
        }
        printf("HELD %.3f\n", most);
    }
    int code = report_result((uint64_t)calls);
    free(data);
    MPI_Finalize();
    return code;
}
