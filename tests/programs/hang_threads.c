/* Rank 0 receives from rank 1, which waits for rank 0 in a barrier. Both may have several threads in MPI.
 *
 *   hang_threads other=none            A job that hangs.
 *   hang_threads other=asleep          The same, and each rank has a thread that waits for a condition.
 *   hang_threads other=sleeps|waits|reads|calls until=FILE
 *     Another thread of rank 1 sends the message, once FILE exists. Until then it sleeps, waits for a
 * condition for some time again and again, reads what a process writes, or receives from rank 2, which looks
 * for FILE: no rank hangs. */
#include "check.h"
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static const char *file, *other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void sleep_shortly(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
}

static void wait_shortly(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&condition, &lock, &end);
    pthread_mutex_unlock(&lock);
}

static void read_from_a_process(void)
{
    char line[4096];
    snprintf(line, sizeof line, "until [ -e '%s' ]; do sleep 0.1; done; echo", file);
    FILE *pipe = popen(line, "r");
    if (pipe) {
        (void)fgetc(pipe);
        pclose(pipe);
    }
}

static void *thread(void *ignored)
{
    int word = 0;
    if (!strcmp(other, "reads"))
        read_from_a_process();
    if (!strcmp(other, "calls"))
        MPI_Recv(&word, 1, MPI_INT, 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_lock(&lock);
    while (!strcmp(other, "asleep"))
        pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    while (access(file, F_OK))
        if (!strcmp(other, "sleeps"))
            sleep_shortly();
        else
            wait_shortly();
    MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    return ignored;
}

int main(int argc, char **argv)
{
    int provided, word = 0;
    pthread_t second;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    file = argument(argc, argv, "until", "");
    other = argument(argc, argv, "other", "none");
    bool has_second = strcmp(other, "none") && (world_rank == 1 || !strcmp(other, "asleep"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_second)
        pthread_create(&second, NULL, thread, NULL);
    if (world_rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (world_rank == 2 && !strcmp(other, "calls")) {
        while (access(file, F_OK))
            sleep_shortly();
        MPI_Send(&word, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_second)
        pthread_join(second, NULL);
    MPI_Finalize();
    return provided == MPI_THREAD_MULTIPLE ? 0 : 77;
}
