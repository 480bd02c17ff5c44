/* Messages of derived datatypes of which a repetition has to notice that their data are others.
 *
 *     replayed_types WHICH N
 *
 * Rank 0 sends each of the types to rank 1 in five ways, and frees it before nonblocking receives are waited
 * for. Of type WHICH, numbers are N larger than otherwise. What lies in holes differs from run to run. Rank 1
 * prints a number that depends on all that has come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPES = 9, COUNT = 3, ROOM = 4096, WAYS = 5 };

static int sent[ROOM], received[WAYS][ROOM];

static MPI_Datatype make(int which)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, inner;
    const int lengths[] = {1, 3, 2}, places[] = {9, 0, 5};
    const MPI_Aint bytes[] = {40, 0, 16};
    const int sizes[] = {5, 6}, part[] = {2, 3}, start[] = {1, 2};
    switch (which) {
    case 0: MPI_Type_vector(3, 2, 4, MPI_INT, &type); break;
    case 1: MPI_Type_indexed(3, lengths, places, MPI_INT, &type); break;
    case 2:
        MPI_Type_create_struct(3, lengths, bytes, (MPI_Datatype[]){MPI_INT, MPI_FLOAT, MPI_UNSIGNED}, &type);
        break;
    case 3: MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type); break;
    case 4: MPI_Type_contiguous(4, MPI_INT, &type); break;
    case 5: MPI_Type_dup(MPI_SHORT_INT, &type); break;
    case 6:
        MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
        MPI_Type_create_resized(inner, -4, 40, &type);
        MPI_Type_free(&inner);
        break;
    case 7:
        MPI_Type_contiguous(2, MPI_DOUBLE_INT, &inner);
        MPI_Type_create_hvector(2, 1, 64, inner, &type);
        MPI_Type_free(&inner);
        break;
    default: MPI_Type_create_hindexed_block(3, 1, bytes, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

/* Gives numbers to what the type covers, and the rest what differs from run to run. */
static void fill(int *buffer, MPI_Datatype type, int base)
{
    static int numbers[ROOM];
    int bytes, position = 0;
    MPI_Pack_size(COUNT, type, MPI_COMM_SELF, &bytes);
    for (int i = 0; i < ROOM; i++) {
        numbers[i] = base + i;
        buffer[i] = (int)getpid();
    }
    MPI_Unpack(numbers, bytes, &position, buffer + 16, COUNT, type, MPI_COMM_SELF);
}

static unsigned long digest(const int *buffer, MPI_Datatype type)
{
    static unsigned char bytes[4 * ROOM];
    int position = 0;
    unsigned long digest = 1469598103934665603ul;
    MPI_Pack((void *)(buffer + 16), COUNT, type, bytes, sizeof bytes, &position, MPI_COMM_SELF);
    for (int i = 0; i < position; i++)
        digest = (digest ^ bytes[i]) * 1099511628211ul;
    return digest;
}

static void send_all(MPI_Datatype type)
{
    MPI_Request requests[3];
    const int *from = sent + 16;
    MPI_Send(from, COUNT, type, 1, 0, MPI_COMM_WORLD);
    MPI_Isend(from, COUNT, type, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend(from, COUNT, type, 1, 2, MPI_COMM_WORLD);
    MPI_Send_init(from, COUNT, type, 1, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Isend(from, COUNT - 1, type, 1, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[1]);
}

/* The last message is shorter than its receive allows. */
static void receive_all(MPI_Datatype *type)
{
    MPI_Request requests[WAYS];
    for (int i = 0; i < WAYS; i++)
        memset(received[i], 0, sizeof received[i]);
    MPI_Recv(received[0] + 16, COUNT, *type, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(received[1] + 16, COUNT, *type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received[2] + 16, COUNT, *type, 0, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(received[3] + 16, COUNT, *type, 0, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Start(&requests[2]);
    MPI_Irecv(received[4] + 16, COUNT, *type, 0, 4, MPI_COMM_WORLD, &requests[3]);
    MPI_Type_free(type);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[2]);
}

int main(int argc, char **argv)
{
    int rank;
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int which = atoi(argv[1]), peculiarity = atoi(argv[2]);
    for (int i = 0; i < TYPES; i++) {
        MPI_Datatype type = make(i), same = make(i);
        if (rank == 0) {
            fill(sent, type, 1000 * i + (i == which ? peculiarity : 0));
            send_all(type);
            MPI_Type_free(&type);
        } else if (rank == 1) {
            receive_all(&type);
            for (int way = 0; way < WAYS; way++)
                all = all * 31 + digest(received[way], same);
        }
        MPI_Type_free(&same);
    }
    if (rank == 1)
        printf("%lu\n", all);
    MPI_Finalize();
    return 0;
}
