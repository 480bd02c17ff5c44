/* Collectives of which a repetition has to notice that their data are others.
 *
 *     replayed_collectives KIND WHO N [inter|same|line|graph] [derived]
 *
 * KIND: a function's name without MPI_, blocking or nonblocking, in lower case ("allreduce",
 * "ialltoallw"), or with a p, persistent ("pallreduce": started twice, with other data). It is called three
 * times, with other buffers each time; nonblocking ones are waited for in another order. In the second call,
 * rank WHO contributes numbers that are N larger than otherwise; WHO -1: the operator adds N. `inter`:
 * between the two halves of the ranks. `same`: each call is waited for at once. Collectives of neighbours:
 * `line` is a grid without an edge around, `graph` a directed graph, otherwise they use a ring. `derived`:
 * elements are two numbers in reverse order with a hole between them, which holds another number in each run,
 * and the type is freed before calls are waited for. Rank 0 prints a number that depends on all results. */
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
static MPI_Aint addresses[MOST];
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
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define IF_PERSISTENT(small, Name, ...)                                \
    if (!strcmp(kind, "p" small)) {                                    \
        MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
        MPI_Start(&request);                                           \
    } else
#else
#define IF_PERSISTENT(small, Name, ...)
#endif
/* Blocking or, with an i, nonblocking, or, with a p, persistent. */
#define EITHER(small, Name, Iname, ...)           \
    if (!strcmp(kind, small))                     \
        MPI_##Name(__VA_ARGS__, comm);            \
    else if (!strcmp(kind, "i" small))            \
        MPI_##Iname(__VA_ARGS__, comm, &request); \
    else                                          \
        IF_PERSISTENT(small, Name, __VA_ARGS__)
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
    EITHER("neighbor_allgather", Neighbor_allgather, Ineighbor_allgather, s, BLOCK, type, r, BLOCK, type)
    EITHER("neighbor_allgatherv", Neighbor_allgatherv, Ineighbor_allgatherv, s, BLOCK, type, r, counts,
           places, type)
    EITHER("neighbor_alltoall", Neighbor_alltoall, Ineighbor_alltoall, s, BLOCK, type, r, BLOCK, type)
    EITHER("neighbor_alltoallv", Neighbor_alltoallv, Ineighbor_alltoallv, s, counts, places, type, r, counts,
           places, type)
    EITHER("neighbor_alltoallw", Neighbor_alltoallw, Ineighbor_alltoallw, s, counts, addresses, types, r,
           counts, addresses, types)
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

/* Rank 0 sends to all others, which send to the next. */
static void make_graph(void)
{
    const int next = 1 + rank % (size - 1), last = rank > 1 ? rank - 1 : size - 1;
    const int sources[] = {last, 0};
    int destinations[MOST];
    for (int i = 1; i < size; i++)
        destinations[i - 1] = rank == 0 ? i : next;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? 0 : 2, sources, MPI_UNWEIGHTED,
                                   rank == 0 ? size - 1 : 1, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    others = rank == 0 ? size - 1 : 2;
}

static void make_neighbors(bool is_line, bool is_graph)
{
    const int wraps = !is_line;
    others = 2;
    if (is_graph)
        make_graph();
    else
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wraps, 0, &comm);
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
    bool is_of_neighbors = strstr(kind, "neighbor") != NULL, is_line = has_word(argc, argv, "line");
    const int untouched = is_line ? (int)getpid() : 0;
    if (is_of_neighbors)
        make_neighbors(is_line, has_word(argc, argv, "graph"));
    for (int i = 0; i < MOST; i++) {
        counts[i] = BLOCK;
        places[i] = 2 * BLOCK * (others - 1 - i);
        bytes[i] = places[i] * (int)sizeof(int) * (is_derived ? 3 : 1);
        addresses[i] = bytes[i];
        types[i] = type;
    }
    MPI_Op_create(add, 1, &sum);
    for (int i = 0; i < CALLS; i++) {
        for (int j = 0; j < ROOM; j++) {
            received[i][j] = untouched;
            sent[i][j] = is_hole(j) ? (int)getpid()
                                    : 1000 * rank + 100 * i + j + (who == rank && i == 1 ? peculiarity : 0);
        }
        offset = who < 0 && i == 1 ? peculiarity : 0;
        requests[i] = call(kind, sent[i], received[i]);
        if (is_one_by_one)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    if (is_derived)
        MPI_Type_free(&type);
    for (int i = CALLS; i-- > 0;)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < CALLS && requests[i] != MPI_REQUEST_NULL; i++)
        sent[i][0] += 7;
    if (requests[0] != MPI_REQUEST_NULL) {
        MPI_Startall(CALLS, requests);
        MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < CALLS; i++)
            MPI_Request_free(&requests[i]);
    }
    long mine = 0, all = 0;
    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < ROOM; j++)
            if (!is_hole(j))
                mine += (sent[i][j] + (received[i][j] == untouched ? 0 : received[i][j])) *
                        (long)(i * ROOM + j + 1);
    MPI_Op_free(&sum);
    if (is_inter || is_of_neighbors)
        MPI_Comm_free(&comm);
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
