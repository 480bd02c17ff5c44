// Two jobs that count how often they run at the same time.
//
//   turns FILE JOB ROUNDS      FILE: shared by both jobs; JOB: 0 or 1
//   turns FILE JOB 0 TOLD      goes on until there is a file TOLD
//
// In each round a rank computes for some microseconds. If the other job has counted on meanwhile, both have
// run in this round, or this rank stood still in it: once a turn. The sums over the ranks show that no
// message is lost.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
    _Atomic long present[2], over[2], counter[2];
};

static volatile unsigned long sink;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int job = atoi(argv[2]), rank, size, is_right = 1;
    const char *told = argc > 4 ? argv[4] : NULL;
    long rounds = atol(argv[3]), overlaps = 0, compared = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int file = open(argv[1], O_RDWR);
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    shared->present[job]++;
    while (told == NULL && shared->present[1 - job] < size)
        usleep(1000);
    for (long round = 0, is_over = 0; !is_over; round++) {
        long before = shared->counter[1 - job];
        for (int step = 0; step < 20000; step++)
            sink++;
        shared->counter[job]++;
        if (!shared->over[1 - job]) {
            compared++;
            overlaps += shared->counter[1 - job] != before;
        }
        if (round % 100 == 0) {
            // Rank 0 alone decides, so that all ranks do the same rounds.
            long own[2] = {rank + 1, rank == 0 && (told ? access(told, F_OK) == 0 : round >= rounds)}, all[2];
            MPI_Allreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            is_right &= all[0] == (long)size * (size + 1) / 2;
            is_over = all[1];
        }
    }
    shared->over[job]++;
    printf("job %d rank %d compared %ld overlaps %ld %s\n", job, rank, compared, overlaps,
           is_right ? "right" : "WRONG");
    MPI_Finalize();
    return 0;
}
