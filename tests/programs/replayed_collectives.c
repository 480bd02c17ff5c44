/* Collectives of which a repetition has to notice that their data are others.
 *
 *     replayed_collectives KIND WHO N [inter|same] [derived]
 *
 * KIND: a function's name without MPI_, blocking or nonblocking, in lower case ("allreduce",
 * "ialltoallw"). It is called three times, with other buffers each time; nonblocking ones are waited for in
 * another order. In the second call, rank WHO contributes numbers that are N larger than otherwise; WHO -1:
 * the operator adds N. `inter`: between the two halves of the ranks. `same`: each call is waited for at once.
 * `derived`: elements are two numbers in reverse order with a hole between them, which holds another number
 * in each run, and the type is freed before calls are waited for. Rank 0 prints a number that depends on all
 * results. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 3, BLOCK = 3, MOST = 16, ROOM = 64 * MOST };

static int rank, size, others, root, offset;
static MPI_Comm comm;
static MPI_Op sum;
static MPI_Datatype type = MPI_DATATYPE_NULL;
static bool is_derived;
static int sent[CALLS][ROOM], received[CALLS][ROOM];
static int counts[MOST], places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static bool is_hole(int place) { return is_derived && place % 3 == 1; }

static void add(void *in, void *inout, int *count, MPI_Datatype *ignored)
{
    (void)ignored;
    for (int i = 0; i < *count * (is_derived ? 3 : 1); i++)
        if (!is_hole(i))
            ((int *)inout)[i] += ((int *)in)[i] + offset;
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], word))
            return true;
    return false;
}

static MPI_Datatype reversed_pair(void)
{
    MPI_Datatype pair, resized;
    const int places_of_numbers[] = {2, 0};
    MPI_Type_create_indexed_block(2, 1, places_of_numbers, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&pair);
    return resized;
}

/* Calls the function once. Returns the request, or MPI_REQUEST_NULL. */
static MPI_Request call(const char *kind, int *s, int *r)
{
    MPI_Request request = MPI_REQUEST_NULL;
/* Blocking or, with an i, nonblocking. */
#define EITHER(small, Name, Iname, ...)           \
    if (!strcmp(kind, small))                     \
        MPI_##Name(__VA_ARGS__, comm);            \
    else if (!strcmp(kind, "i" small))            \
        MPI_##Iname(__VA_ARGS__, comm, &request); \
    else
    EITHER("bcast", Bcast, Ibcast, rank == root || root == MPI_ROOT ? s : r, BLOCK, type, root)
    EITHER("reduce", Reduce, Ireduce, s, r, BLOCK, type, sum, root)
    EITHER("allreduce", Allreduce, Iallreduce, s, r, BLOCK, type, sum)
    EITHER("scan", Scan, Iscan, s, r, BLOCK, type, sum)
    EITHER("exscan", Exscan, Iexscan, s, r, BLOCK, type, sum)
    EITHER("gather", Gather, Igather, s, BLOCK, type, r, BLOCK, type, root)
    EITHER("gatherv", Gatherv, Igatherv, s, BLOCK, type, r, counts, places, type, root)
    EITHER("scatter", Scatter, Iscatter, s, BLOCK, type, r, BLOCK, type, root)
    EITHER("scatterv", Scatterv, Iscatterv, s, counts, places, type, r, BLOCK, type, root)
    EITHER("allgather", Allgather, Iallgather, s, BLOCK, type, r, BLOCK, type)
    EITHER("allgatherv", Allgatherv, Iallgatherv, s, BLOCK, type, r, counts, places, type)
    EITHER("alltoall", Alltoall, Ialltoall, s, BLOCK, type, r, BLOCK, type)
    EITHER("alltoallv", Alltoallv, Ialltoallv, s, counts, places, type, r, counts, places, type)
    EITHER("alltoallw", Alltoallw, Ialltoallw, s, counts, bytes, types, r, counts, bytes, types)
    EITHER("reduce_scatter", Reduce_scatter, Ireduce_scatter, s, r, counts, type, sum)
    EITHER("reduce_scatter_block", Reduce_scatter_block, Ireduce_scatter_block, s, r, BLOCK, type, sum)
    EITHER("allreduce in place", Allreduce, Iallreduce, MPI_IN_PLACE, s, BLOCK, type, sum)
    EITHER("allgather in place", Allgather, Iallgather, MPI_IN_PLACE, 0, type, s, BLOCK, type)
    EITHER("alltoallv in place", Alltoallv, Ialltoallv, MPI_IN_PLACE, counts, places, type, s, counts, places,
           type)
    EITHER("reduce_scatter in place", Reduce_scatter, Ireduce_scatter, MPI_IN_PLACE, s, counts, type, sum)
    abort();
    return request;
}

static void split(void)
{
    MPI_Comm half;
    int side = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &comm);
    MPI_Comm_free(&half);
    MPI_Comm_remote_size(comm, &others);
    /* Of rank 1 of MPI_COMM_WORLD, the root. */
    root = side == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
}

int main(int argc, char **argv)
{
    MPI_Request requests[CALLS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4 || size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *kind = argv[1];
    int who = atoi(argv[2]), peculiarity = atoi(argv[3]);
    bool is_inter = has_word(argc, argv, "inter"), is_one_by_one = has_word(argc, argv, "same");
    is_derived = has_word(argc, argv, "derived");
    type = is_derived ? reversed_pair() : MPI_INT;
    comm = MPI_COMM_WORLD;
    others = size;
    root = 1;
    if (is_inter)
        split();
    for (int i = 0; i < MOST; i++) {
        counts[i] = BLOCK;
        places[i] = 2 * BLOCK * (others - 1 - i);
        bytes[i] = places[i] * (int)sizeof(int) * (is_derived ? 3 : 1);
        types[i] = type;
    }
    MPI_Op_create(add, 1, &sum);
    for (int i = 0; i < CALLS; i++) {
        for (int j = 0; j < ROOM; j++)
            sent[i][j] = is_hole(j) ? (int)getpid()
                                    : 1000 * rank + 100 * i + j + (who == rank && i == 1 ? peculiarity : 0);
        offset = who < 0 && i == 1 ? peculiarity : 0;
        requests[i] = call(kind, sent[i], received[i]);
        if (is_one_by_one)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    if (is_derived)
        MPI_Type_free(&type);
    for (int i = CALLS; i-- > 0;)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    long mine = 0, all = 0;
    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < ROOM; j++)
            mine += is_hole(j) ? 0 : (sent[i][j] + received[i][j]) * (long)(i * ROOM + j + 1);
    MPI_Op_free(&sum);
    if (is_inter)
        MPI_Comm_free(&comm);
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
