/* Computes and meets all ranks in a collective, round after round, and counts the rounds in a file.
 *
 *   rounds FILE MICROSECONDS   FILE: eight bytes that rank 0 maps; MICROSECONDS: of computing in a round
 *
 * Ends when the file's second word is not 0. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    int rank, goes_on = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int file = open(argv[1], O_RDWR);
    volatile uint64_t *words = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || words == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    double work_us = atof(argv[2]);
    for (uint64_t round = 1; goes_on; round++) {
        for (double end = now_us() + work_us; now_us() < end;)
            continue;
        int mine = rank == 0 && words[1] == 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        goes_on = sum > 0;
        if (rank == 0)
            words[0] = round;
    }
    return MPI_Finalize();
}
