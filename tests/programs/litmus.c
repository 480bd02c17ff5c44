/* Messages and barriers: what no program may see, whether or not its barriers return before they are
 * complete.
 *
 *   litmus case=NAME [rounds=200]
 *
 * Each case is right if it ends, and says RESULT wrong 0. */
#include "litmus.h"

/* A wildcard receive posted before the barrier may not take what is sent after it: the synchronous send of a
 * rank that has not entered yet would be stranded. */
static void stranded(void)
{
    int one = 1, two = 2, got[2];
    MPI_Status status;
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Request request;
            MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 7, WORLD, &request);
            MPI_Barrier(WORLD);
            MPI_Wait(&request, &status);
            wrong += got[0] != 2 || status.MPI_SOURCE != 2;
            MPI_Recv(&got[1], 1, MPI_INT, 1, 7, WORLD, &status);
            wrong += got[1] != 1;
        } else if (rank == 1) {
            MPI_Barrier(WORLD);
            MPI_Send(&one, 1, MPI_INT, 0, 7, WORLD);
        } else {
            if (rank == 2) {
                stall(LATE);
                MPI_Ssend(&two, 1, MPI_INT, 0, 7, WORLD);
            }
            MPI_Barrier(WORLD);
        }
    }
}

/* All that was sent before the barrier is found by probing after it, and nothing of what comes later. */
static void absence(void)
{
    int value, found;
    for (long i = 0; i < rounds; i++) {
        if (rank) {
            stall(rank == 1 ? LATE : 0);
            value = (int)i;
            MPI_Send(&value, 1, MPI_INT, 0, 3, WORLD);
            MPI_Barrier(WORLD);
        } else {
            MPI_Barrier(WORLD);
            for (int r = 1; r < size; r++) {
                MPI_Iprobe(MPI_ANY_SOURCE, 3, WORLD, &found, MPI_STATUS_IGNORE);
                wrong += !found;
                value = -1;
                if (found)
                    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, WORLD, MPI_STATUS_IGNORE);
                wrong += value != (int)i;
            }
            MPI_Iprobe(MPI_ANY_SOURCE, 3, WORLD, &found, MPI_STATUS_IGNORE);
            wrong += found;
        }
        MPI_Barrier(WORLD);
    }
}

/* A test of a named receive fails until the sender's barrier allows it to send. */
static void too_early(void)
{
    int value = 0, flag;
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Request request;
            MPI_Irecv(&value, 1, MPI_INT, 1, 5, WORLD, &request);
            stall(LATE);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            wrong += flag; /* it is sent after a barrier that this rank has not entered */
            MPI_Barrier(WORLD);
            if (!flag)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Barrier(WORLD);
            if (rank == 1)
                MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
        }
    }
}

/* That a synchronous send has been received by a receive posted after a barrier says that all have entered
 * that. */
static void answer(void)
{
    int value = 0, flag;
    for (long i = 0; i < rounds; i++) {
        MPI_Request request;
        if (rank == 0) {
            MPI_Issend(&value, 1, MPI_INT, 1, 5, WORLD, &request);
            stall(LATE);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            wrong += flag;
            MPI_Barrier(WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Barrier(WORLD);
            if (rank == 1)
                MPI_Recv(&value, 1, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Which of two messages comes first: not the one that is sent after a barrier which nobody can have passed.
 */
static void choice(void)
{
    int values[2], index, value = 0;
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Request requests[2];
            MPI_Irecv(&values[0], 1, MPI_INT, 1, 5, WORLD, &requests[0]);
            MPI_Irecv(&values[1], 1, MPI_INT, 2, 5, WORLD, &requests[1]);
            stall(LATE / 2);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            wrong += index != 1;
            MPI_Barrier(WORLD);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            if (rank == 2) {
                stall(LATE);
                MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
            }
            MPI_Barrier(WORLD);
            if (rank == 1)
                MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
        }
    }
}

/* Barriers {A,B}, {C,D}, {B,C}: with one clock a process B's message to A would never be deliverable. */
static void single_clock(void)
{
    MPI_Comm pair, middle;
    int value = 0;
    MPI_Comm_split(WORLD, rank / 2, rank, &pair);
    MPI_Comm_split(WORLD, rank == 1 || rank == 2 ? 0 : MPI_UNDEFINED, rank, &middle);
    for (long i = 0; i < rounds; i++) {
        if (rank == 3)
            stall(LATE);
        MPI_Barrier(pair);
        if (rank == 1 || rank == 2)
            MPI_Barrier(middle);
        value = (int)i;
        if (rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, 1, WORLD);
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE);
            wrong += value != (int)i;
        }
    }
}

/* What a rank learns from a barrier that only overlaps with another one, a third one must not hear too early:
 * rank 1 passes {0,1}, then {1,2}; rank 2 then sends to rank 0, which has not entered {0,1} and takes what
 * comes first. */
static void hearsay(void)
{
    MPI_Comm left, right;
    int first, second, one = 1, two = 2;
    MPI_Comm_split(WORLD, rank == 0 || rank == 1 ? 0 : MPI_UNDEFINED, rank, &left);
    MPI_Comm_split(WORLD, rank == 1 || rank == 2 ? 0 : MPI_UNDEFINED, rank, &right);
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD,
                     MPI_STATUS_IGNORE); /* rank 3's, sent late */
            MPI_Barrier(left);
            MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, MPI_STATUS_IGNORE);
            wrong += first != 1 || second != 2;
        } else if (rank == 1) {
            MPI_Barrier(left);
            MPI_Barrier(right);
        } else if (rank == 2) {
            MPI_Barrier(right);
            MPI_Send(&two, 1, MPI_INT, 0, 2, WORLD);
        } else {
            stall(LATE);
            MPI_Send(&one, 1, MPI_INT, 0, 2, WORLD);
        }
        int unused = 0;
        MPI_Allreduce(MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, WORLD);
    }
}

/* Barriers over nested groups, many in a row, the later one complete first for some. */
static void nested(void)
{
    MPI_Comm half;
    int value, sum;
    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    for (long i = 0; i < rounds; i++) {
        if (i % size == rank)
            stall(LATE / 2);
        MPI_Barrier(half);
        MPI_Barrier(WORLD);
        MPI_Barrier(half);
        value = (int)i;
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 4, &sum, 1, MPI_INT, (rank + size - 1) % size, 4,
                     WORLD, MPI_STATUS_IGNORE);
        wrong += sum != (int)i;
        MPI_Barrier(WORLD);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
        wrong += sum != (int)i * ((size + 1 - rank % 2) / 2);
    }
}

/* Rules R1 and R2: a reduction after a barrier completes at its root only after the barrier; data of a
 * broadcast likewise. */
static void collectives(void)
{
    for (long i = 0; i < rounds; i++) {
        int value = (int)i, sum = 0, root = (int)(i % size), token = rank == root ? (int)i : -1;
        if ((i + 1) % size == rank)
            stall(LATE / 2);
        MPI_Barrier(WORLD);
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, WORLD);
        wrong += rank == root && sum != (int)i * size;
        MPI_Barrier(WORLD);
        MPI_Bcast(&token, 1, MPI_INT, root, WORLD);
        wrong += token != (int)i;
        MPI_Request request;
        MPI_Barrier(WORLD);
        MPI_Ibarrier(WORLD, &request);
        MPI_Barrier(WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
        wrong += rank && sum != (int)i * rank;
    }
}

/* Large messages started before a barrier go on although their sender computes after it. */
static void progress(void)
{
    enum { MANY = 1 << 20 };
    static int out[MANY], in[MANY];
    for (long i = 0; i < rounds / 10; i++) {
        MPI_Request requests[2];
        MPI_Irecv(in, MANY, MPI_INT, (rank + 1) % size, 6, WORLD, &requests[0]);
        out[MANY - 1] = (int)i;
        MPI_Isend(out, MANY, MPI_INT, (rank + size - 1) % size, 6, WORLD, &requests[1]);
        MPI_Barrier(WORLD);
        if (rank == 0)
            stall(LATE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += in[MANY - 1] != (int)i;
        MPI_Barrier(WORLD);
    }
}

/* Many barriers and nothing else: bounded run-ahead, and the end of the program is an observation. */
static void run_ahead(void)
{
    for (long i = 0; i < rounds * 100; i++) {
        if (rank == 0 && i % 1000 == 0)
            stall(LATE);
        MPI_Barrier(WORLD);
    }
}

/* Small receives that were posted before a barrier, by name and from anybody, get what was sent before it and
 * after it. */
static void posted(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (long i = 0; i < rounds; i++) {
        int out[2] = {(int)(2 * i), (int)(2 * i + 1)}, before = -1, after = -1;
        MPI_Request requests[2];
        MPI_Irecv(&before, 1, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, 7, WORLD, &requests[0]);
        MPI_Irecv(&after, 1, MPI_INT, i % 4 < 2 ? left : MPI_ANY_SOURCE, 8, WORLD, &requests[1]);
        if (i % size == rank)
            stall(LATE / 2);
        MPI_Send(&out[0], 1, MPI_INT, right, 7, WORLD);
        MPI_Barrier(WORLD);
        MPI_Send(&out[1], 1, MPI_INT, right, 8, WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += before != out[0] || after != out[1];
    }
}

/* Communicators that come and go, each with barriers of its own between barriers of all: what was sent before
 * one is found after it. */
static void short_lived(void)
{
    for (long i = 0; i < rounds / 2; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(WORLD, &copy);
        for (int turn = 0; turn < 4; turn++) {
            MPI_Comm by = turn < 3 ? copy : WORLD;
            int value = (int)i, found;
            if (rank == 0) {
                for (int n = 0; n < 5; n++)
                    MPI_Barrier(by);
                for (int r = 1; r < size; r++) {
                    MPI_Iprobe(r, turn, WORLD, &found, MPI_STATUS_IGNORE);
                    wrong += !found;
                    MPI_Recv(&value, 1, MPI_INT, r, turn, WORLD, MPI_STATUS_IGNORE);
                }
            } else {
                for (int n = 0; n < 5; n++) {
                    if (n == turn && i % size == rank)
                        stall(LATE / 8);
                    if (n == turn)
                        MPI_Send(&value, 1, MPI_INT, 0, turn, WORLD);
                    MPI_Barrier(by);
                }
            }
        }
        MPI_Comm_free(&copy);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whoever receives from anybody what was sent after a barrier does so after all have entered it. By the clock
 * of the machine, which all read without asking anybody. */
static void entered(void)
{
    int value = 0;
    for (long i = 0; i < rounds; i++) {
        if (rank == 2)
            stall(LATE);
        double moment = now();
        MPI_Barrier(WORLD);
        if (rank == 0) {
            double theirs;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, WORLD, MPI_STATUS_IGNORE);
            moment = now();
            MPI_Recv(&theirs, 1, MPI_DOUBLE, 2, 8, WORLD, MPI_STATUS_IGNORE);
            wrong += moment < theirs;
        } else if (rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 9, WORLD);
        } else if (rank == 2) {
            MPI_Send(&moment, 1, MPI_DOUBLE, 0, 8, WORLD);
        }
    }
}

static const struct litmus cases[] = {
    {"stranded", stranded, 3},       {"absence", absence, 2},
    {"too-early", too_early, 2},     {"single-clock", single_clock, 4},
    {"hearsay", hearsay, 4},         {"nested", nested, 2},
    {"collectives", collectives, 2}, {"progress", progress, 2},
    {"run-ahead", run_ahead, 2},     {"answer", answer, 2},
    {"choice", choice, 3},           {"entered", entered, 3},
    {"posted", posted, 2},           {"short-lived", short_lived, 2},
};

int main(int argc, char **argv) { return litmus(argc, argv, cases, sizeof cases / sizeof *cases); }
