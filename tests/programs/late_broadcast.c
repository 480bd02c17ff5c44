/* One rank is late for broadcasts from rank 0.
 *
 *   late_broadcast late=RANK bytes=N calls=N less=BYTES [counters=FILE] [ms=DELAY]
 *
 * With counters=FILE, which has a 64-bit counter for each rank, the late rank comes when all others have
 * returned from all broadcasts; it is a failure if they do not. Otherwise it comes after so many
 * milliseconds. With less=N it asks for N bytes less than the others, which is an error of the program. */
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

enum { PATIENCE_S = 60 };

static void wait_for_others(_Atomic int64_t *counters, long calls)
{
    const time_t began = time(NULL);
    for (int rank = 0; rank < world_size; rank++)
        while (rank != world_rank && counters[rank] < calls && !failures) {
            CHECK(time(NULL) - began < PATIENCE_S, "rank %d waits for this late rank", rank);
            sched_yield();
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long late = number(argc, argv, "late", 1), bytes = number(argc, argv, "bytes", 65536);
    long calls = number(argc, argv, "calls", 3), less = number(argc, argv, "less", 0);
    int fd = open(argument(argc, argv, "counters", ""), O_RDWR);
    size_t length = 8 * (size_t)world_size;
    _Atomic int64_t *counters = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unsigned char *data = malloc((size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == late && fd >= 0)
        wait_for_others(counters, calls);
    else if (world_rank == late)
        usleep((useconds_t)(1000 * number(argc, argv, "ms", 500)));
    for (long call = 0; call < calls; call++) {
        for (long i = 0; i < bytes; i++)
            data[i] = world_rank == 0 ? (unsigned char)mix((uint64_t)(call << 32 | i)) : 0;
        MPI_Bcast(data, (int)(bytes - (world_rank == late ? less : 0)), MPI_BYTE, 0, MPI_COMM_WORLD);
        long wrong = 0;
        for (long i = 0; i < bytes; i++)
            wrong += data[i] != (unsigned char)mix((uint64_t)(call << 32 | i));
        CHECK(wrong == 0, "%ld bytes of broadcast %ld are wrong", wrong, call);
        if (fd >= 0)
            counters[world_rank] = call + 1;
    }
    int code = report_result((uint64_t)calls);
    free(data);
    MPI_Finalize();
    return code;
}
