/* Reductions of random floating-point numbers: in whatever order ranks arrive, the result has the same bits
 * and is close to the exact one.
 *
 *   float_sums n=60 repeats=4 seed=1 blocking=0
 *
 * blocking=1: without nonblocking ones, of which the library carries out those of long vectors where ranks
 * may not read each other's memory.
 *
 * Every reduction is computed `repeats` times, with random stalls before each call. All repetitions, and all
 * ranks that receive the same result, must agree bit for bit. Two runs with one seed print the same digest.
 */
#include "check.h"
#include <math.h>

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, IREDUCE_SCATTER_BLOCK, KINDS };

static const size_t counts[] = {1, 2, 5, 7, 8, 100, 128, 1000, 4096, 12800, 131072};
static uint64_t checks;
static int is_blocking;

typedef struct reduction {
    int index, kind, is_single, root;
    size_t n, vector, width; /* elements of the result and of the input; bytes of an element */
    uint64_t content;
    int is_receiving;
    unsigned char *send, *recv, *first;
} reduction;

static double contribution(uint64_t content, int rank, size_t i)
{
    return (double)(mix3(content, (uint64_t)rank, i % 509) >> 11) / 9007199254740992.0 - 0.25;
}

static double element(const reduction *r, const unsigned char *at, size_t i)
{
    return r->is_single ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

static reduction draw_reduction(rng *shared, int index)
{
    reduction r = {.index = index};
    r.n = counts[below(shared, sizeof counts / sizeof *counts)];
    r.is_single = one_in(shared, 3), r.kind = below(shared, is_blocking ? IREDUCE_SCATTER_BLOCK : KINDS),
    r.root = below(shared, world_size);
    r.content = draw(shared);
    int scatters = r.kind >= REDUCE_SCATTER_BLOCK;
    if (scatters && r.n > 13000) /* the vector is n elements per rank there */
        r.n = 4096;
    r.width = r.is_single ? 4 : 8, r.vector = scatters ? r.n * (size_t)world_size : r.n;
    r.is_receiving = r.kind == REDUCE ? world_rank == r.root : r.kind != EXSCAN || world_rank != 0;
    r.send = malloc(r.vector * r.width), r.recv = malloc(r.n * r.width), r.first = malloc(r.n * r.width);
    for (size_t i = 0; i < r.vector; i++) {
        double x = contribution(r.content, world_rank, i);
        if (r.is_single)
            ((float *)r.send)[i] = (float)x;
        else
            ((double *)r.send)[i] = x;
    }
    return r;
}

static void call(const reduction *r)
{
    MPI_Datatype t = r->is_single ? MPI_FLOAT : MPI_DOUBLE;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    int n = (int)r->n;
    switch (r->kind) {
    case REDUCE: MPI_Reduce(r->send, r->recv, n, t, MPI_SUM, r->root, comm); break;
    case ALLREDUCE: MPI_Allreduce(r->send, r->recv, n, t, MPI_SUM, comm); break;
    case SCAN: MPI_Scan(r->send, r->recv, n, t, MPI_SUM, comm); break;
    case EXSCAN: MPI_Exscan(r->send, r->recv, n, t, MPI_SUM, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(r->send, r->recv, n, t, MPI_SUM, comm); break;
    default:
        MPI_Ireduce_scatter_block(r->send, r->recv, n, t, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void check_repetitions(const reduction *r, int repeats, rng *own)
{
    for (int repeat = 0; repeat < repeats; repeat++) {
        memset(r->recv, 0, r->n * r->width);
        stall(own, 2, 3000);
        call(r);
        if (!r->is_receiving)
            continue;
        if (repeat == 0)
            memcpy(r->first, r->recv, r->n * r->width);
        CHECK(!memcmp(r->first, r->recv, r->n * r->width),
              "reduction %d (kind %d, %zu %s): repetition %d has other bits", r->index, r->kind, r->n,
              r->is_single ? "floats" : "doubles", repeat);
        checks++;
    }
}

/* The error may be a rounding of each partial sum. */
static void check_accuracy(const reduction *r)
{
    int last = r->kind == SCAN ? world_rank : r->kind == EXSCAN ? world_rank - 1 : world_size - 1;
    size_t begin = r->kind >= REDUCE_SCATTER_BLOCK ? (size_t)world_rank * r->n : 0;
    for (size_t i = 0; r->is_receiving && i < r->n; i++) {
        double exact = 0, sizes = 0, got = element(r, r->recv, i);
        for (int rank = 0; rank <= last; rank++) {
            double x = contribution(r->content, rank, begin + i);
            exact += r->is_single ? (double)(float)x : x;
            sizes += fabs(x);
        }
        if (!(fabs(got - exact) <= world_size * sizes * (r->is_single ? 1.2e-7 : 2.3e-16))) {
            fail("reduction %d (kind %d, %zu %s) element %zu: %.17g, not %.17g", r->index, r->kind, r->n,
                 r->is_single ? "floats" : "doubles", i, got, exact);
            break;
        }
    }
}

/* An Allreduce gives all ranks the same bits: neighbours compare hashes by messages. */
static void check_equal_on_all_ranks(const reduction *r)
{
    uint64_t before = digest, hash, theirs;
    int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
    digest = 1, digest_bytes(r->recv, r->n * r->width), hash = digest, digest = before;
    MPI_Sendrecv(&hash, 1, MPI_UINT64_T, next, 3, &theirs, 1, MPI_UINT64_T, previous, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(hash == theirs, "reduction %d: Allreduce gave different bits to ranks %d and %d", r->index,
          world_rank, previous);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    is_blocking = (int)number(argc, argv, "blocking", 0);
    int reductions = (int)number(argc, argv, "n", 60), repeats = (int)number(argc, argv, "repeats", 4);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 77)};
    for (int i = 0; i < reductions; i++) {
        reduction r = draw_reduction(&shared, i);
        check_repetitions(&r, repeats, &own);
        check_accuracy(&r);
        if (r.kind == ALLREDUCE)
            check_equal_on_all_ranks(&r);
        if (r.is_receiving)
            digest_bytes(r.recv, r.n * r.width);
        free(r.send), free(r.recv), free(r.first);
    }
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
