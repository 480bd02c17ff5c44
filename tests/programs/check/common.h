/* What all cases share. Two ranks. */
#ifndef COMMON_H
#define COMMON_H
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int rank, ranks, peer;
static int a[4096], b[4096];
static double d[4096];

struct a_case {
    const char *name;
    void (*run)(void);
};

#endif
