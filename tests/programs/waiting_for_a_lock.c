/* One thread of rank 0 waits in the MPI library for rank 1, which waits for messages of another thread of
 * rank 0: that one must get the library's lock.
 *
 * calls=N  how=sends|tests */
#include "check.h"
#include <pthread.h>
#include <stdbool.h>

enum { ANSWER = 1, MESSAGE = 2 };

static long calls;
static bool tests;

static void *send_all(void *unused)
{
    (void)unused;
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        int flag = 0;
        if (!tests) {
            EXPECT_OK(MPI_Send(&i, 1, MPI_LONG, 1, MESSAGE, MPI_COMM_WORLD));
            continue;
        }
        EXPECT_OK(MPI_Isend(&i, 1, MPI_LONG, 1, MESSAGE, MPI_COMM_WORLD, &request));
        while (!flag)
            EXPECT_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void wait_and_send(void)
{
    pthread_t sender;
    long answer = 0;
    pthread_create(&sender, NULL, send_all, NULL);
    EXPECT_OK(MPI_Recv(&answer, 1, MPI_LONG, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(answer == calls, "the answer is %ld", answer);
    pthread_join(sender, NULL);
}

static void receive_all(void)
{
    long got = -1, right = 0;
    for (long i = 0; i < calls; i++) {
        EXPECT_OK(MPI_Recv(&got, 1, MPI_LONG, 0, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        right += got == i;
    }
    EXPECT_OK(MPI_Send(&right, 1, MPI_LONG, 0, ANSWER, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("NO THREADS");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    calls = number(argc, argv, "calls", 2000);
    tests = !strcmp(argument(argc, argv, "how", "sends"), "tests");
    if (world_rank == 0)
        wait_and_send();
    else if (world_rank == 1)
        receive_all();
    int code = report_result((uint64_t)calls);
    MPI_Finalize();
    return code;
}
