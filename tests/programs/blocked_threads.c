/* MPI_THREAD_MULTIPLE: on rank 0 one thread waits in a blocking call, and only then another one starts
 * nonblocking collectives and makes no further call of MPI. The other ranks complete these first and then end
 * the blocking call. The thread in there must move the collectives on meanwhile.
 *
 *   blocked_threads in=receive|wait|probe|barrier|split started=400 elements=1 */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static const char *in;
static MPI_Comm others; /* for the blocking call */

/* Returns when the other ranks have made the counterpart of this call. */
static void *block(void *unused)
{
    int token = 0, last = world_size - 1;
    (void)unused;
    if (!strcmp(in, "receive")) {
        MPI_Recv(&token, 1, MPI_INT, last, 0, others, MPI_STATUS_IGNORE);
    } else if (!strcmp(in, "wait")) {
        MPI_Request request;
        MPI_Irecv(&token, 1, MPI_INT, last, 0, others, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(in, "probe")) {
        MPI_Probe(last, 0, others, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, last, 0, others, MPI_STATUS_IGNORE);
    } else if (!strcmp(in, "barrier")) {
        MPI_Barrier(others);
    } else if (!strcmp(in, "split")) {
        MPI_Comm part;
        MPI_Comm_split(others, 0, world_rank, &part);
        MPI_Comm_free(&part);
    } else {
        fail("no such call: %s", in);
    }
    return NULL;
}

/* The other ranks' side of it. */
static void release(void)
{
    int token = 1;
    if (!strcmp(in, "barrier") || !strcmp(in, "split"))
        block(NULL);
    else if (world_rank == world_size - 1)
        MPI_Send(&token, 1, MPI_INT, 0, 0, others);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("NO THREADS");
        MPI_Finalize();
        return 0;
    }
    in = argument(argc, argv, "in", "receive");
    int count = (int)number(argc, argv, "started", 400), elements = (int)number(argc, argv, "elements", 1);
    MPI_Request *requests = calloc((size_t)count, sizeof *requests);
    int *data = calloc((size_t)(2 * count * elements), sizeof *data);
    MPI_Comm_dup(MPI_COMM_WORLD, &others);
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        if (world_rank == 0) {
            pthread_create(&thread, NULL, block, NULL);
            usleep(20000); /* the thread waits there by now */
        }
        for (int i = 0; i < count; i++) {
            int *mine = data + 2 * i * elements;
            for (int j = 0; j < elements; j++)
                mine[j] = world_rank + i + j;
            MPI_Iallreduce(mine, mine + elements, elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        }
        if (world_rank == 0)
            pthread_join(thread, NULL);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        if (world_rank != 0)
            release();
        for (int i = 0; i < count; i++)
            for (int j = 0; j < elements; j++) {
                int sum = data[(2 * i + 1) * elements + j];
                int expected = world_size * (world_size - 1) / 2 + world_size * (i + j);
                CHECK(sum == expected, "sum %d of %d: %d, not %d", j, i, sum, expected);
            }
    }
    int code = report_result(3);
    MPI_Comm_free(&others);
    MPI_Finalize();
    return code;
}
