/* MPI's rules for point-to-point messages, one function for each, between ranks 0 and 1. */
#ifndef EVENKEEL_TESTS_MESSAGE_RULES_H
#define EVENKEEL_TESTS_MESSAGE_RULES_H
#include "check.h"

#define WORLD MPI_COMM_WORLD
static uint64_t checks;

#define IS(what, got, wanted)                                            \
    do {                                                                 \
        long got_ = (long)(got), wanted_ = (long)(wanted);               \
        checks++;                                                        \
        CHECK(got_ == wanted_, "%s: %ld, not %ld", what, got_, wanted_); \
    } while (0)

static int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int n;
    MPI_Get_count(status, type, &n);
    return n;
}

static void truncation(int me)
{
    int data[5000], few[8] = {0}, code, class;
    MPI_Comm comm;
    MPI_Status status;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Some libraries report errors of several requests to the handler of this one. */
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5000; i++)
        data[i] = i;
    for (int large = 0; large < 2; large++) {
        int n = large ? 5000 : 6;
        if (me == 0) {
            MPI_Send(data, n, MPI_INT, 1, 1, comm);
            MPI_Send(data, n, MPI_INT, 1, 1, comm);
            MPI_Send(data, 1, MPI_INT, 1, 2, comm);
        } else {
            code = MPI_Recv(few, 4, MPI_INT, 0, 1, comm, &status);
            MPI_Error_class(code, &class);
            IS("error of a message that is too long", class, MPI_ERR_TRUNCATE);
            if (!large) /* some libraries write on */
                IS("what stands behind the buffer", few[4], 0);
            MPI_Request requests[2];
            MPI_Status statuses[2];
            MPI_Irecv(few, 4, MPI_INT, 0, 1, comm, &requests[0]);
            MPI_Irecv(&few[5], 1, MPI_INT, 0, 2, comm, &requests[1]);
            code = MPI_Waitall(2, requests, statuses);
            MPI_Error_class(code, &class);
            IS("error of MPI_Waitall", class, MPI_ERR_IN_STATUS);
            MPI_Error_class(statuses[0].MPI_ERROR, &class);
            IS("error in the status", class, MPI_ERR_TRUNCATE);
            IS("error of the other",
               statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING, 1);
            IS("request", requests[0] == MPI_REQUEST_NULL, 1);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* null, or still pending */
            few[4] = 0;
        }
    }
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

static void statuses(int me)
{
    int value = 7, got = 0, flag;
    MPI_Status status;
    MPI_Request request;
    if (me == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 42, WORLD);
        MPI_Send(NULL, 0, MPI_INT, 1, 43, WORLD);
    } else {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        IS("source", status.MPI_SOURCE, 0);
        IS("tag", status.MPI_TAG, 42);
        IS("count", count_of(&status, MPI_INT), 1);
        IS("value", got, 7);
        MPI_Recv(NULL, 0, MPI_INT, 0, MPI_ANY_TAG, WORLD, &status);
        IS("tag of nothing", status.MPI_TAG, 43);
        IS("count of nothing", count_of(&status, MPI_INT), 0);
    }
    request = MPI_REQUEST_NULL;
    MPI_Wait(&request, &status);
    IS("source of no request", status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD, &status);
    IS("source of a receive from MPI_PROC_NULL", status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Sendrecv(&value, 1, MPI_INT, me == 0 ? 1 : MPI_PROC_NULL, 5, &got, 1, MPI_INT,
                 me == 0 ? MPI_PROC_NULL : 0, 5, WORLD, &status);
    IS("source of half a sendrecv", status.MPI_SOURCE, me == 0 ? MPI_PROC_NULL : 0);
    MPI_Irecv(&got, 1, MPI_INT, 1 - me, 77, WORLD, &request);
    MPI_Test(&request, &flag, &status);
    IS("found a message that was not sent", flag, 0);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    IS("cancelled", flag, 1);
    IS("request", request == MPI_REQUEST_NULL, 1);
    /* To itself. */
    MPI_Isend(&value, 1, MPI_INT, me, 6, WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, me, 6, WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    IS("source of a message to itself", status.MPI_SOURCE, me);
    got = me;
    MPI_Sendrecv_replace(&got, 1, MPI_INT, 1 - me, 8, 1 - me, 8, WORLD, &status);
    IS("value that changed places", got, 1 - me);
}

/* Structures, of which a whole number arrives or only a part. */
static void structures(int me)
{
    struct pair {
        double x;
        int n;
    } pairs[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, got[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    MPI_Datatype pair, packed, parts[2] = {MPI_DOUBLE, MPI_INT};
    int lengths[2] = {1, 1}, elements, n;
    MPI_Aint places[2] = {0, sizeof(double)};
    MPI_Status status;
    MPI_Request request;
    MPI_Type_create_struct(2, lengths, places, parts, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct pair), &pair);
    MPI_Type_commit(&pair);
    if (me == 0) {
        MPI_Send(pairs, 3, pair, 1, 1, WORLD);
        MPI_Send(pairs, 1, MPI_DOUBLE, 1, 2, WORLD);
        MPI_Type_free(&pair);
    } else {
        MPI_Irecv(got, 4, pair, 0, 1, WORLD, &request);
        MPI_Type_free(&pair); /* it lives as long as it is needed */
        MPI_Wait(&request, &status);
        IS("third pair", got[2].n, 6);
        IS("fourth pair", got[3].n, 0);
        MPI_Get_elements(&status, MPI_INT, &n);
        MPI_Type_commit(&packed); /* it has the same signature */
        IS("pairs", count_of(&status, packed), 3);
        MPI_Recv(got, 1, packed, 0, 2, WORLD, &status);
        IS("whole pairs of a part", count_of(&status, packed), MPI_UNDEFINED);
        MPI_Get_elements(&status, packed, &elements);
        IS("elements of a part", elements, 1);
        IS("what was not sent", got[0].n, 2);
    }
    MPI_Type_free(&packed);
}

/* A column of a matrix arrives as three integers. */
static void columns(int me)
{
    int matrix[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, line[3] = {0};
    MPI_Datatype column;
    MPI_Type_vector(3, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (me == 0) {
        MPI_Send(matrix, 1, column, 1, 3, WORLD);
    } else {
        MPI_Recv(line, 3, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE);
        IS("column", line[0] + 10 * line[1] + 100 * line[2], 741);
    }
    MPI_Type_free(&column);
}

/* Absolute addresses, from MPI_BOTTOM, which is a null pointer in some libraries. */
static void absolute_addresses(int me)
{
    MPI_Datatype apart;
    MPI_Aint addresses[2];
    MPI_Request request;
    MPI_Status status;
    int ends[2] = {me ? -1 : 5, me ? -1 : 6}, lengths[2] = {1, 1};
    MPI_Get_address(&ends[0], &addresses[1]);
    MPI_Get_address(&ends[1], &addresses[0]);
    MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    if (me == 0) {
        MPI_Send(MPI_BOTTOM, 1, apart, 1, 4, WORLD);
        MPI_Send(MPI_BOTTOM, 1, apart, 1, 4, WORLD);
    } else {
        MPI_Recv(MPI_BOTTOM, 1, apart, 0, 4, WORLD, MPI_STATUS_IGNORE);
        IS("from absolute addresses", 10 * ends[0] + ends[1], 56);
        ends[0] = ends[1] = 0;
        MPI_Irecv(MPI_BOTTOM, 1, apart, 0, 4, WORLD, &request);
        MPI_Wait(&request, &status);
        IS("the same by a nonblocking receive", 10 * ends[0] + ends[1], 56);
    }
    MPI_Type_free(&apart);
}

static void persistent(int me)
{
    int out = 0, in = -1, index, flag;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Ssend_init(&out, 1, MPI_INT, 1 - me, 9, WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, 1 - me, 9, WORLD, &requests[1]);
    MPI_Wait(&requests[1], &status);
    IS("source of an inactive request", status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Waitany(2, requests, &index, &status);
    IS("index among inactive ones", index, MPI_UNDEFINED);
    for (int i = 0; i < 20; i++) {
        out = 100 * me + i;
        MPI_Startall(2, requests);
        if (i % 3 == 0) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int done = 0; done < 2; done++) {
                if (i % 3 == 1)
                    MPI_Waitany(2, requests, &index, &status);
                else
                    do
                        MPI_Testany(2, requests, &index, &flag, &status);
                    while (!flag);
            }
        }
        IS("value by a persistent request", in, 100 * (1 - me) + i);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void modes(int me)
{
    int value = 5, got, flag = 0, bytes = 3 * (1000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD), array[1000];
    void *buffer = malloc((size_t)bytes), *detached;
    MPI_Request request;
    MPI_Status status;
    if (me == 0) {
        MPI_Issend(&value, 1, MPI_INT, 1, 1, WORLD, &request);
        MPI_Test(&request, &flag, &status);
        IS("synchronous send that is not received", flag, 0);
        MPI_Send(&value, 1, MPI_INT, 1, 2, WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Buffer_attach(buffer, bytes);
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < 1000; i++)
                array[i] = n;
            MPI_Bsend(array, 1000, MPI_INT, 1, 3, WORLD);
        }
        MPI_Buffer_detach(&detached, &got);
        IS("size of the buffer", got, bytes);
        IS("the buffer", detached == buffer, 1);
        MPI_Recv(NULL, 0, MPI_INT, 1, 5, WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(&value, 1, MPI_INT, 1, 6, WORLD);
    } else {
        MPI_Recv(&got, 1, MPI_INT, 0, 2, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&got, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        for (int n = 0; n < 3; n++) {
            MPI_Recv(array, 1000, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE);
            IS("buffered", array[999], n);
        }
        MPI_Irecv(&got, 1, MPI_INT, 0, 6, WORLD, &request);
        MPI_Send(NULL, 0, MPI_INT, 0, 5, WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        IS("ready", got, 5);
    }
    free(buffer);
}

static void probes(int me)
{
    int array[3000] = {0}, got[3000], flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    if (me == 0) {
        array[2999] = 1;
        MPI_Isend(array, 3000, MPI_INT, 1, 1, WORLD, &request);
        MPI_Send(array, 1, MPI_INT, 1, 2, WORLD);
        MPI_Send(array, 2, MPI_INT, 1, 1, WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Probe(0, 2, WORLD, &status);
        IS("count probed", count_of(&status, MPI_INT), 1);
        MPI_Mprobe(MPI_ANY_SOURCE, 1, WORLD, &message, &status);
        IS("count of the matched", count_of(&status, MPI_INT), 3000);
        MPI_Probe(0, 1, WORLD, &status);
        IS("count behind the matched", count_of(&status, MPI_INT), 2);
        MPI_Recv(got, 2, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Imrecv(got, 3000, MPI_INT, &message, &request);
        IS("message handle", message == MPI_MESSAGE_NULL, 1);
        MPI_Wait(&request, &status);
        IS("tag of the matched", status.MPI_TAG, 1);
        IS("its last element", got[2999], 1);
        while (!flag)
            MPI_Improbe(0, MPI_ANY_TAG, WORLD, &flag, &message, &status);
        MPI_Mrecv(got, 1, MPI_INT, &message, &status);
        IS("the rest", status.MPI_TAG, 2);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &status);
        IS("nothing is left", flag, 0);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, WORLD);
    }
}

static void order(int me)
{
    enum { N = 3000 };
    static int values[N];
    static MPI_Request requests[N];
    if (me == 0) {
        for (int i = 0; i < N; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 1, MPI_INT, 1, i % 3, WORLD, &requests[i]);
        }
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    } else {
        int wrong = 0;
        for (int i = 0; i < N; i += 3) { /* messages of one tag, while the others wait */
            MPI_Recv(&values[0], 1, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE);
            wrong += values[0] != i;
        }
        for (int i = 0; i < N; i++) {
            if (i % 3 == 0)
                continue;
            MPI_Recv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
            wrong += values[0] != i;
        }
        IS("out of order", wrong, 0);
    }
}

static void huge(int me)
{
    size_t bytes = (size_t)1 << 30;
    unsigned char *data = calloc(bytes, 1);
    MPI_Status status;
    if (me == 0) {
        for (size_t i = 0; i < bytes; i += 4093)
            data[i] = (unsigned char)mix(i);
        MPI_Send(data, 1 << 30, MPI_BYTE, 1, 1, WORLD);
    } else {
        MPI_Recv(data, 1 << 30, MPI_BYTE, 0, 1, WORLD, &status);
        IS("bytes", count_of(&status, MPI_BYTE), 1 << 30);
        long wrong = 0;
        for (size_t i = 0; i < bytes; i += 4093)
            wrong += data[i] != (unsigned char)mix(i);
        IS("bytes that are wrong", wrong, 0);
    }
    free(data);
}
#endif
