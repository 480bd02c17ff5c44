/* Holds a rank back until others have got somewhere. So what a test plants does not depend on how fast or how
 * busy the machine is, as it would if the rank were late by some time.
 *
 * Ranks count their steps in their own memory. A rank that is held reads them there (process_vm_readv):
 * memory that ranks share would make barriers strict, and messages have an order of their own. For one node.
 */
#ifndef EVENKEEL_TESTS_HOLD_H
#define EVENKEEL_TESTS_HOLD_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HELD = 64, HOLD_PATIENCE_S = 20 };

static volatile long steps_made;
static int held_in_vain; /* for others that wait for this rank, as they do where nothing is left out */
static struct {
    long pid;
    void *steps;
} steps_of[MOST_HELD];

/* Must be called by all ranks before any is held. */
static void hold_begin(void)
{
    long mine[2] = {getpid(), (long)&steps_made}, all[2 * MOST_HELD];
    int size;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST_HELD)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Allgather(mine, 2, MPI_LONG, all, 2, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        steps_of[r].pid = all[2 * r], steps_of[r].steps = (void *)all[2 * r + 1];
}

static void make_step(void) { steps_made++; }

static long steps_made_by(int other)
{
    long made = 0;
    struct iovec here = {&made, sizeof made}, there = {steps_of[other].steps, sizeof made};
    if (process_vm_readv((pid_t)steps_of[other].pid, &here, 1, &there, 1, 0) != sizeof made) {
        perror("hold.h: a rank cannot read another one's memory");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return made;
}

/* Waits until `other` has made so many steps. When that has once been in vain, no rank is held any more. */
static void hold_until(int other, long steps)
{
    const time_t began = time(NULL);
    while (!held_in_vain && steps_made_by(other) < steps) {
        held_in_vain = time(NULL) - began > HOLD_PATIENCE_S;
        sched_yield();
    }
}

static void hold_until_all(int rank, int size, long steps)
{
    for (int other = 0; other < size; other++)
        if (other != rank)
            hold_until(other, steps);
}
#endif
