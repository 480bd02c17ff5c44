/* Litmus tests of what a program does with requests besides waiting for them. */
#include "litmus.h"

/* A receive can be cancelled before this rank has entered the barrier behind which its message is sent: with
 * a strict barrier the message could not have been sent. The next receive that fits gets it, whole. */
static void cancelled(void)
{
    enum { MANY = 1 << 13 };
    static int out[2][MANY], in[2][MANY];
    for (long i = 0; i < rounds; i++) {
        int count = i % 3 == 2 ? MANY : 1, small, flag;
        if (rank == 0) {
            MPI_Request first, second;
            MPI_Status status;
            MPI_Irecv(&small, i % 2, MPI_INT, 1, 5, WORLD, &first);
            MPI_Irecv(in[0], count, MPI_INT, i % 4 < 2 ? 1 : MPI_ANY_SOURCE, 5, WORLD, &second);
            stall(LATE);
            MPI_Test(&first, &flag, MPI_STATUS_IGNORE);
            wrong += flag;
            MPI_Cancel(&first);
            MPI_Wait(&first, &status);
            MPI_Test_cancelled(&status, &flag);
            wrong += !flag;
            MPI_Barrier(WORLD);
            MPI_Wait(&second, MPI_STATUS_IGNORE);
            MPI_Recv(in[1], count, MPI_INT, 1, 5, WORLD, MPI_STATUS_IGNORE);
            wrong += in[0][count - 1] != (int)i || in[1][count - 1] != (int)i + 1;
        } else {
            MPI_Barrier(WORLD);
            for (int n = 0; n < 2 && rank == 1; n++) {
                out[n][count - 1] = (int)i + n;
                MPI_Send(out[n], count, MPI_INT, 0, 5, WORLD);
            }
        }
    }
}

/* A receive cannot be cancelled when this rank has got a message that its sender sent later. */
static void cancelled_too_late(void)
{
    for (long i = 0; i < rounds; i++) {
        int value = (int)i, got = -1, later, flag;
        if (rank == 0) {
            MPI_Request request;
            MPI_Status status;
            MPI_Irecv(&got, 1, MPI_INT, i % 2 ? 1 : MPI_ANY_SOURCE, 7, WORLD, &request);
            MPI_Barrier(WORLD);
            MPI_Recv(&later, 1, MPI_INT, 1, 8, WORLD, MPI_STATUS_IGNORE);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
            wrong += flag || got != (int)i;
            if (flag)
                MPI_Recv(&got, 1, MPI_INT, 1, 7, WORLD, MPI_STATUS_IGNORE);
        } else {
            if (rank == 2)
                stall(LATE);
            MPI_Barrier(WORLD);
            for (int tag = 7; tag <= 8 && rank == 1; tag++)
                MPI_Send(&value, 1, MPI_INT, 0, tag, WORLD);
        }
    }
}

static char data[100000], buffer[sizeof data + MPI_BSEND_OVERHEAD]; /* of large buffered sends */
static int refused;

/* An error handler. */
static void count_refusal(MPI_Comm *comm, int *code, ...)
{
    int class;
    (void)comm;
    MPI_Error_class(*code, &class);
    wrong += class != MPI_ERR_BUFFER;
    refused++;
}

/* The buffer has room for one message. When the receiver has it and all have entered a barrier, there is room
 * again. */
static void buffered(void)
{
    int bytes = sizeof buffer;
    void *detached;
    MPI_Request request;
    MPI_Buffer_attach(buffer, bytes);
    for (long i = 0; i < rounds; i++) {
        data[sizeof data - 1] = rank == 0 ? (char)i : -1;
        if (rank == 0 && i % 2) {
            MPI_Bsend(data, sizeof data, MPI_BYTE, 1, 5, WORLD);
        } else if (rank == 0) {
            MPI_Ibsend(data, sizeof data, MPI_BYTE, 1, 5, WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, sizeof data, MPI_BYTE, 0, 5, WORLD, MPI_STATUS_IGNORE);
            wrong += data[sizeof data - 1] != (char)i;
        }
        MPI_Barrier(WORLD);
    }
    MPI_Buffer_detach(&detached, &bytes);
    wrong += detached != buffer || bytes != sizeof buffer;
}

/* While the message is not received there is no room for another one, and the error handler is called once.
 * In Open MPI a send after a refused one does not arrive, so this is for messages of evenkeel's. */
static void buffer_is_full(void)
{
    int bytes = sizeof buffer;
    void *detached;
    MPI_Errhandler handler;
    MPI_Request persistent;
    MPI_Comm_create_errhandler(count_refusal, &handler);
    MPI_Comm_set_errhandler(WORLD, handler);
    MPI_Bsend_init(data, sizeof data, MPI_BYTE, 1, 5, WORLD, &persistent);
    MPI_Buffer_attach(buffer, bytes);
    for (long i = 0; i < rounds; i++) {
        refused = 0;
        if (rank == 0) {
            MPI_Start(&persistent);
            MPI_Bsend(data, sizeof data, MPI_BYTE, 1, 5, WORLD);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        }
        wrong += refused != (rank == 0);
        MPI_Barrier(WORLD);
        if (rank == 1)
            MPI_Recv(data, sizeof data, MPI_BYTE, 0, 5, WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
    }
    MPI_Buffer_detach(&detached, &bytes);
    MPI_Request_free(&persistent);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}
