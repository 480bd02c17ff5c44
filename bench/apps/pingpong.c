/* Latency and bandwidth between ranks 0 and 1, by size of message. The other ranks only wait at the end.
 *
 * mode=pingpong: one message there and one back. The time is half of a round trip in nanoseconds, the median
 * of `rounds` blocks of `count` round trips.
 * mode=stream: `window` messages one way, then an answer of no bytes. The time is that of one message.
 *
 * Prints a line `bytes=B ns=T` for each size; message_ns in the RESULT line is that of the largest. The first
 * and the last byte of each message are checked. */
#include "app.h"

static parameter parameters[] = {
    {"mode", "pingpong", "pingpong|stream", "what is measured", 0},
    {"from", "8", "N", "smallest message in bytes", 0},
    {"to", "4194304", "N", "largest message in bytes; each size is 8 times the last", 0},
    {"count", "1000", "N", "messages in a block; fewer if they would exceed about 64 MiB", 0},
    {"rounds", "11", "N", "blocks", 0},
    {"window", "32", "N", "stream: messages in flight", 0},
    {0}};

static app self = {"pingpong", "Latency and bandwidth of messages between two ranks.", parameters, 0, 0};

static long wrong;

static void check(const char *data, long bytes, char expected)
{
    if (bytes > 0)
        wrong += data[0] != expected || data[bytes - 1] != expected;
}

static void mark(char *data, long bytes, char value)
{
    if (bytes > 0)
        data[0] = data[bytes - 1] = value;
}

static void ping_pong(char *out, char *in, int bytes, long count)
{
    for (long i = 0; i < count; i++) {
        char value = (char)(i % 100 + 1);
        if (self.rank == 0) {
            mark(out, bytes, value);
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(in, bytes, MPI_BYTE, 1 - self.rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, bytes, value);
        if (self.rank == 1) {
            mark(out, bytes, value);
            MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

enum { WINDOW = 1024 };

static void stream(char *out, char *in, int bytes, long count, int window)
{
    MPI_Request requests[WINDOW];
    for (long i = 0; i < count; i += window) {
        for (int w = 0; w < window; w++) {
            if (self.rank == 0)
                MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[w]);
            else
                MPI_Irecv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[w]);
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (self.rank == 0) {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            check(in, bytes, 1);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of a message; rank 0's value is the one to use. */
static double measure(int bytes, long rounds, int window)
{
    int streams = app_is(&self, "mode", "stream");
    long most = (64L << 20) / (bytes + 1), count = app_long(&self, "count");
    count = count < most ? count : most;
    count = streams ? (count + window - 1) / window * window : count;
    count = count < 1 ? 1 : count;
    char *out = allocate((size_t)bytes, 1), *in = allocate((size_t)bytes, 1);
    double *times = allocate((size_t)rounds, sizeof *times);
    mark(out, bytes, 1);
    for (long round = -1; round < rounds; round++) {
        uint64_t start = now_ns();
        if (streams)
            stream(out, in, bytes, count, window);
        else
            ping_pong(out, in, bytes, count);
        if (round >= 0) /* the first block warms up */
            times[round] = (double)(now_ns() - start) / (double)(count * (streams ? 1 : 2));
    }
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    double median = times[rounds / 2];
    free(times);
    free(in);
    free(out);
    return median;
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long from = app_size(&self, "from", 0), to = app_size(&self, "to", from),
         rounds = app_size(&self, "rounds", 1);
    int window = (int)app_size(&self, "window", 1);
    if (self.ranks < 2 || window > WINDOW)
        app_refuse(&self, "needs at least two ranks and a window of at most %d", WINDOW);
    uint64_t start = start_together_ns();
    double ns = 0;
    for (long bytes = from; self.rank < 2 && bytes <= to; bytes = bytes ? 8 * bytes : 8) {
        ns = measure((int)bytes, rounds, window);
        if (self.rank == 0)
            printf("bytes=%ld ns=%.1f\n", bytes, ns);
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    return app_finish(&self, wrong == 0, seconds, "mode=%s wrong=%ld message_ns=%.1f",
                      app_text(&self, "mode"), wrong, ns);
}
