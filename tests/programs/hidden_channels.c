/* Checks that what one rank does before a barrier is seen by another rank after it, by means that MPI knows
 * nothing of.
 *
 *   hidden_channels channel=NAME [rounds=1000] [seed=1] [dir=/tmp/x] [held=1]
 *
 * In each round one rank, the writer, stalls at random and then writes the number of the round. After a
 * barrier all others look at once whether it is there. The next writer may write only after a second barrier.
 * With held=1 the writer writes when all others have looked, which never happens where barriers are complete.
 * Prints how often the number was not there: RESULT checks N wrong N */
#include "hidden_files.h"
#include "hidden_memory.h"
#include "hidden_plugins.h"
#include "hidden_processes.h"
#include "hidden_services.h"
#include "hold.h"
#include <time.h>

static const struct channel channels[] = {
    {"file", file_open, file_put, file_there, file_close},
    {"inline", file_open, inline_put, inline_there, file_close},
    {"mkdir", do_nothing, mkdir_put, mkdir_there, do_nothing},
    {"pipe", pipe_open, pipe_put, pipe_there, do_nothing},
    {"socket", socket_open, socket_put, socket_there, file_close},
    {"signal", signal_open, signal_put, signal_there, do_nothing},
    {"hangup", hangup_open, signal_put, signal_there, do_nothing},
    {"terminate", terminate_open, signal_put, signal_there, do_nothing},
    {"lost-gate", lost_gate_open, file_put, file_there, file_close},
    {"room", room_open, room_put, room_there, room_close},
    {"limit", limit_open, limit_put, limit_there, do_nothing},
    {"posix-shm", shm_begin, shm_put, shm_there, do_nothing},
    {"private-map", map_open, file_put, shm_there, file_close},
    {"raw-map", raw_map_begin, shm_put, shm_there, file_close},
    {"library-map", library_map_begin, shm_put, shm_there, file_close},
    {"stream", stream_open, stream_put, stream_there, stream_close},
    {"second-library", second_library_begin, shm_put, shm_there, file_close},
    {"sysv-shm", sysv_begin, shm_put, shm_there, do_nothing},
    {"mpi-shm", mpishm_open, shm_put, shm_there, window_close},
    {"rma", rma_open, rma_put, rma_there, window_close},
    {"refused-free", refused_free_open, rma_put, rma_there, window_close},
    {"mpi-io", mpiio_open, mpiio_put, mpiio_there, mpiio_close},
    {"fork", file_open, fork_put, fork_there, file_close},
    {"thread", thread_open, thread_put, thread_there, thread_close},
    {"raw-thread", raw_thread_open, thread_put, thread_there, raw_thread_close},
    {"late-twin", late_twin_open, thread_put, thread_there, twin_close},
    {"twin", twin_open, thread_put, thread_there, twin_close},
    {"aio", file_open, aio_put, aio_there, file_close},
    {"aio-list", file_open, list_put, list_there, file_close},
    {"timer", timer_open, thread_put, thread_there, timer_close},
    {"lookup", file_open, name_put, name_there, file_close},
    {"notified-queue", queue_open, queue_put, queue_there, do_nothing},
    {"io-uring", ring_open, ring_put, file_there, file_close},
    {"kernel-aio", older_ring_open, older_ring_put, older_ring_there, do_nothing},
    {"cxx-plugin", plugin_open, thread_put, thread_there, plugin_close},
    {"raw-handler", raw_handler_open, signal_put, signal_there, do_nothing},
    {"remote-writer", remote_open, remote_put, queue_there, do_nothing},
};

static unsigned state; /* of this rank's random numbers */
static int is_held;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Burns time without a system call. */
static void stall(double most)
{
    double until = now() + most * (double)rand_r(&state) / RAND_MAX;
    while (now() < until)
        ;
}

static const struct channel *channel_named(const char *name)
{
    for (size_t c = 0; c < sizeof channels / sizeof *channels; c++)
        if (!strcmp(name, channels[c].name))
            return &channels[c];
    return NULL;
}

/* Writes and looks for so many rounds. Sets how often this rank looked, and how often it looked in vain. */
static void run(const struct channel *channel, long rounds, long *checks, long *wrong)
{
    const double most = 300e-6;
    for (long round = 0; round < rounds; round++) {
        int writer = (int)(round % size);
        if (rank == writer) {
            if (is_held)
                hold_until_all(rank, size, round + 1);
            else
                stall(most);
            channel->put(round);
        } else if (rand_r(&state) % 4 == 0) {
            stall(most / 4);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != writer) {
            ++*checks;
            *wrong += !channel->is_there(round);
        }
        make_step();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct channel *channel = NULL;
    long rounds = 1000, mine[2] = {0, 0}, all[2];
    unsigned seed = 1;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "channel=", 8))
            channel = channel_named(argv[i] + 8);
        if (!strncmp(argv[i], "rounds=", 7))
            rounds = atol(argv[i] + 7);
        is_held |= !strcmp(argv[i], "held=1");
        if (!strncmp(argv[i], "seed=", 5))
            seed = (unsigned)atoi(argv[i] + 5);
        if (!strncmp(argv[i], "dir=", 4))
            snprintf(dir, sizeof dir, "%s", argv[i] + 4);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!channel) {
        fprintf(stderr, "hidden_channels: channel=NAME is missing or unknown\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    state = seed * 1000 + (unsigned)rank;
    if (is_held)
        hold_begin();
    channel->open();
    MPI_Barrier(MPI_COMM_WORLD);
    run(channel, rounds, &mine[0], &mine[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    meet(); /* also where barriers are never complete */
    channel->close();
    if (rank == 0)
        printf("RESULT checks %ld wrong %ld\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
