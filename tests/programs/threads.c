/* MPI_THREAD_MULTIPLE: threads use a communicator each, all at once; then one thread starts requests that
 * another completes.
 *
 *   threads threads=4 rounds=200 */
#include "check.h"
#include <pthread.h>

static int rounds;
typedef struct worker {
    int id;
    MPI_Comm comm;
    uint64_t checks;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    rng own = {mix3((uint64_t)world_rank, (uint64_t)w->id, 1)};
    int all[64];
    for (int round = 0; round < rounds; round++) {
        int root = round % world_size, mine = world_rank * 10 + w->id + round, out = -1, expected = 0;
        for (int r = 0; r < world_size; r++)
            expected += r * 10 + w->id + round;
        stall(&own, 20, 500);
        MPI_Allreduce(&mine, &out, 1, MPI_INT, MPI_SUM, w->comm);
        CHECK(out == expected, "thread %d round %d: sum %d, not %d", w->id, round, out, expected);
        out = world_rank == root ? round * 7 + w->id : -1;
        MPI_Bcast(&out, 1, MPI_INT, root, w->comm);
        CHECK(out == round * 7 + w->id, "thread %d round %d: bcast %d", w->id, round, out);
        MPI_Request requests[2];
        MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, w->comm, &requests[0]);
        MPI_Ibarrier(w->comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int r = 0; r < world_size; r++)
            CHECK(all[r] == r * 10 + w->id + round, "thread %d round %d: from %d came %d", w->id, round, r,
                  all[r]);
        /* A message from this thread to the same thread of the next rank. */
        int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size, got;
        MPI_Sendrecv(&mine, 1, MPI_INT, next, w->id, &got, 1, MPI_INT, before, w->id, w->comm,
                     MPI_STATUS_IGNORE);
        CHECK(got == before * 10 + w->id + round, "thread %d round %d: message %d", w->id, round, got);
        w->checks += 4;
    }
    return NULL;
}

/* Requests that the main thread starts and another one completes. */
typedef struct started {
    MPI_Request requests[8];
    int in[8], out[8];
    int choice; /* of the completing call */
} started;

static void *complete(void *argument)
{
    started *s = argument;
    int flag = 0, index;
    if (s->choice == 0)
        MPI_Waitall(8, s->requests, MPI_STATUSES_IGNORE);
    else if (s->choice == 1)
        while (!flag)
            MPI_Testall(8, s->requests, &flag, MPI_STATUSES_IGNORE);
    else
        for (int i = 0; i < 8; i++)
            MPI_Waitany(8, s->requests, &index, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, count;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    count = (int)number(argc, argv, "threads", 4), rounds = (int)number(argc, argv, "rounds", 200);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("NO THREADS");
        MPI_Finalize();
        return 0;
    }
    worker *workers = calloc((size_t)count, sizeof *workers);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    uint64_t checks = 0;
    for (int i = 0; i < count; i++) {
        workers[i].id = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL), checks += workers[i].checks;
    for (int round = 0; round < 30; round++) {
        started s = {.choice = round % 3};
        for (int i = 0; i < 8; i++) {
            s.in[i] = world_rank + i + round;
            MPI_Iallreduce(&s.in[i], &s.out[i], 1, MPI_INT, MPI_SUM,
                           i % 2 ? workers[i % count].comm : MPI_COMM_WORLD, &s.requests[i]);
        }
        pthread_t other;
        pthread_create(&other, NULL, complete, &s);
        pthread_join(other, NULL);
        for (int i = 0; i < 8; i++)
            CHECK(s.out[i] == world_size * (world_size - 1) / 2 + world_size * (i + round),
                  "request %d of round %d: %d", i, round, s.out[i]);
        checks++;
    }
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&workers[i].comm);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
