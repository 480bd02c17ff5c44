/* What the channels of hidden_channels.c share: a channel, and the state of this rank. */
#ifndef EVENKEEL_TESTS_HIDDEN_CHANNELS_H
#define EVENKEEL_TESTS_HIDDEN_CHANNELS_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A means by which one rank tells the others a number without MPI's messages or collectives. */
struct channel {
    const char *name;
    void (*open)(void);
    void (*put)(long value);
    int (*is_there)(long value); /* called by all ranks but the one that put it */
    void (*close)(void);
};

static int rank, size;
static char dir[200] = "/tmp/evenkeel-hidden";
static int fd = -1; /* of the file, socket or shared memory of the channel */

/* The path of a file in the directory of this run. */
static const char *path(const char *what, int which)
{
    static char text[260];
    snprintf(text, sizeof text, "%s/%s%d", dir, what, which);
    return text;
}

static void die(const char *what)
{
    fprintf(stderr, "hidden_channels: rank %d: %s: %s\n", rank, what, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Waits for all ranks; not by a barrier, which is what is tested. */
static void meet(void)
{
    int one = 1, all;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void do_nothing(void) {}
#endif
