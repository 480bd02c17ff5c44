/* Passes device memory (device_library.c) to collectives and messages, on some ranks only.
 *
 * In turn all ranks, one, or all but one have their data on the device. */
#include "check.h"
#include <dlfcn.h>

enum { COUNT = 4096, WAYS = 3 };
static void (*device_open)(void), (*device_close)(void);
static double *device, host[2][COUNT];
static int rank, size, checks;

static double *buffer(int which, int way)
{
    const int here = way == 0 || (way == 1) == (rank == 0);
    return here ? device + which * COUNT : host[which];
}

static void fill(double *data, double value)
{
    device_open();
    for (int i = 0; i < COUNT; i++)
        data[i] = value + i;
    device_close();
}

static void expect(const double *data, double value, double factor, const char *what)
{
    int right = 1;
    device_open();
    for (int i = 0; i < COUNT; i++)
        right &= data[i] == value + factor * i;
    device_close();
    checks++;
    CHECK(right, "%s", what);
}

static void run_collectives(int way, int count)
{
    double *in = buffer(0, way), *out = buffer(1, way);
    const double sum = (double)size * (size - 1) / 2;
    fill(in, rank);
    fill(out, -1);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    device_open();
    CHECK(out[0] == sum && out[count - 1] == sum + (double)size * (count - 1), "allreduce of %d", count);
    device_close();
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    device_open();
    CHECK(rank || out[count - 1] == size - 1 + count - 1, "reduce of %d", count);
    device_close();
    fill(in, rank);
    MPI_Bcast(in, COUNT, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    expect(in, size - 1, 1, "broadcast");
}

static void run_messages(int way)
{
    double *in = buffer(0, way), *out = buffer(1, way);
    fill(in, rank);
    if (rank % 2 == 0 && rank + 1 < size)
        MPI_Send(in, COUNT, MPI_DOUBLE, rank + 1, 7, MPI_COMM_WORLD);
    if (rank % 2) {
        MPI_Recv(out, COUNT, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(out, rank - 1, 1, "message");
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world_rank = rank, world_size = size;
    void *(*device_memory)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "device_memory");
    device_open = (void (*)(void))dlsym(RTLD_DEFAULT, "device_open");
    device_close = (void (*)(void))dlsym(RTLD_DEFAULT, "device_close");
    if (!device_memory || !device_open || !device_close) {
        fprintf(stderr, "device_buffers: device_library.c is not loaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    device = device_memory();
    for (int round = 0; round < 20; round++) {
        run_collectives(round % WAYS, 1);
        run_collectives(round % WAYS, COUNT);
        MPI_Barrier(MPI_COMM_WORLD);
        run_messages(round % WAYS);
    }
    const int code = report_result((uint64_t)checks);
    MPI_Finalize();
    return code;
}
