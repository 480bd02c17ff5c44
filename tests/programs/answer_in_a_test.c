/* A rank that tests answers the synchronous sends of one that sleeps, and must wake it. If that system call
 * were caught while barriers are pending, the rank would take in the message a second time.
 *
 *   answer_in_a_test way=status|null|any [rounds=200] */
#include "check.h"

/* One test of something, while `request` is under way. Returns whether the request is complete. */
static int look(const char *way, MPI_Request *request)
{
    MPI_Request null = MPI_REQUEST_NULL;
    int done = 0, index;
    if (!strcmp(way, "status")) {
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
        return done;
    }
    if (!strcmp(way, "null")) /* a test that takes in messages, and then says nothing about this one */
        MPI_Test(&null, &done, MPI_STATUS_IGNORE);
    else
        MPI_Testany(1, &null, &index, &done, MPI_STATUS_IGNORE);
    MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    return done;
}

/* The next message may be there already. */
static int tag_of(long round) { return (int)(round % 2); }

static void receive(const char *way, long round)
{
    long word = -1;
    int arrived = 0;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_LONG, 1, tag_of(round), MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD); /* pending: the other rank sleeps until its message is received */
    while (!look(way, &request))
        ;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(word == round, "round %ld: received %ld", round, word);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(1, tag_of(round), MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    CHECK(!arrived, "round %ld: the message is there once more", round);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *way = argument(argc, argv, "way", "status");
    const long rounds = number(argc, argv, "rounds", 200);
    for (long round = 0; round < rounds; round++) {
        if (world_rank == 0) {
            receive(way, round);
        } else {
            MPI_Ssend(&round, 1, MPI_LONG, 0, tag_of(round), MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    int code = report_result((uint64_t)rounds);
    MPI_Finalize();
    return code;
}
