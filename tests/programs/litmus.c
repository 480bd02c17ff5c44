/* Litmus tests of messages and barriers: what a program must not see, even if barriers return before they are
 * complete.
 *
 *   litmus case=NAME [rounds=200] [held=1] [ahead=64]
 *
 * A test passes if it ends and prints RESULT wrong 0. With held=1, in some of the cases, ranks that come late
 * come when others have passed them, which never happens where barriers are complete. */
#include "litmus_requests.h"

/* A synchronous send to rank 0; ends the run if it is not received. */
static void send_or_give_up(int *value)
{
    const time_t began = time(NULL);
    MPI_Request request;
    int done = 0;
    for (MPI_Issend(value, 1, MPI_INT, 0, 7, WORLD, &request); !done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (time(NULL) - began > 5) {
            printf("RESULT wrong 1\n");
            fflush(stdout);
            MPI_Abort(WORLD, 3);
        }
    }
}

/* A wildcard receive posted before a barrier must not get a message sent after it. Otherwise the synchronous
 * send of a rank that has not entered the barrier would never complete. */
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
            make_step();
        } else {
            if (rank == 2) {
                be_late(LATE, 1, i + 1);
                if (is_held)
                    send_or_give_up(&two);
                else
                    MPI_Ssend(&two, 1, MPI_INT, 0, 7, WORLD);
            }
            MPI_Barrier(WORLD);
        }
    }
}

/* A probe after a barrier finds every message sent before it, and no message sent later. */
static void absence(void)
{
    int value, found;
    for (long i = 0; i < rounds; i++) {
        if (rank) {
            if (rank == 1)
                be_late(LATE, 0, i + 1);
            value = (int)i;
            MPI_Send(&value, 1, MPI_INT, 0, 3, WORLD);
            MPI_Barrier(WORLD);
        } else {
            MPI_Barrier(WORLD);
            for (int r = 1; r < size; r++) {
                MPI_Iprobe(MPI_ANY_SOURCE, 3, WORLD, &found, MPI_STATUS_IGNORE);
                wrong += !found;
                value = -1;
                if (r == 1)
                    make_step();
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

/* MPI_Test of a receive does not find a message that the sender sends after a barrier which this rank has not
 * entered. */
static void too_early(void)
{
    int value = 0, flag;
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Request request;
            MPI_Irecv(&value, 1, MPI_INT, 1, 5, WORLD, &request);
            be_late(LATE, 1, i + 1);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            wrong += flag; /* this rank has not entered the barrier */
            MPI_Barrier(WORLD);
            if (!flag)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Barrier(WORLD);
            if (rank == 1)
                MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
            make_step();
        }
    }
}

/* A synchronous send that is received after a barrier does not complete before its sender has entered the
 * barrier: its completion would tell the sender that all have entered. */
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

/* Of two receives, MPI_Waitany does not complete the one whose message is sent after a barrier that this rank
 * has not entered. */
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

/* Barriers of {0,1}, {2,3} and {1,2}: with one logical clock per process, rank 1's message to rank 0 could
 * never be delivered. */
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

/* Order is transitive over barriers that share a rank. Rank 1 passes the barrier of
 * {0,1}, then that of {1,2}; rank 2 then sends to rank 0. If rank 0 has not entered the barrier of {0,1}, its
 * wildcard receive must not get this message. */
static void hearsay(void)
{
    MPI_Comm left, right;
    int first, second, one = 1, two = 2;
    MPI_Comm_split(WORLD, rank == 0 || rank == 1 ? 0 : MPI_UNDEFINED, rank, &left);
    MPI_Comm_split(WORLD, rank == 1 || rank == 2 ? 0 : MPI_UNDEFINED, rank, &right);
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            /* Rank 3 sends this one late. */
            MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, MPI_STATUS_IGNORE);
            MPI_Barrier(left);
            MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, MPI_STATUS_IGNORE);
            wrong += first != 1 || second != 2;
        } else if (rank == 1) {
            MPI_Barrier(left);
            MPI_Barrier(right);
        } else if (rank == 2) {
            MPI_Barrier(right);
            MPI_Send(&two, 1, MPI_INT, 0, 2, WORLD);
            make_step();
        } else {
            be_late(LATE, 2, i + 1);
            MPI_Send(&one, 1, MPI_INT, 0, 2, WORLD);
        }
        int unused = 0;
        MPI_Allreduce(MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, WORLD);
    }
}

/* Many barriers over nested groups in a row; for some ranks a later one is complete first. */
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

/* A reduction after a barrier completes at its root only after the barrier (rule R1), and so do the data of a
 * broadcast (rule R2). */
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

/* Large messages that were started before a barrier go on while their sender computes after it. */
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

/* Many barriers and nothing else: ranks run ahead by a bounded number, and the end of the program
 * completes all barriers. */
static void run_ahead(void)
{
    for (long i = 0; i < rounds * 100; i++) {
        for (int r = 1; r < size && rank == 0 && i % 1000 == 20; r++)
            be_late(LATE, r, i + ahead);
        MPI_Barrier(WORLD);
        make_step();
    }
}

/* Small receives that are posted before a barrier, from one source or any, get messages that are sent before
 * the barrier and after it. */
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

/* Communicators that live for a few barriers, between barriers of all ranks: a message sent before a barrier
 * is found after it. */
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

/* A rank that receives from any source a message sent after a barrier does so after all ranks have entered
 * the barrier, by the clock of the machine. */
static void entered(void)
{
    int value = 0;
    for (long i = 0; i < rounds; i++) {
        if (rank == 2)
            be_late(LATE, 0, i + 1);
        double moment = now();
        MPI_Barrier(WORLD);
        if (rank == 0) {
            double theirs;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, WORLD, MPI_STATUS_IGNORE);
            moment = now();
            make_step();
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
    {"cancelled", cancelled, 2},     {"cancelled-too-late", cancelled_too_late, 3},
    {"buffered", buffered, 2},       {"buffer-is-full", buffer_is_full, 2},
};

int main(int argc, char **argv) { return run_litmus(argc, argv, cases, sizeof cases / sizeof *cases); }
