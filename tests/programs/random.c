/* Property test: random operations on random communicators against a serial oracle.
 *
 *   random seed=1 steps=400 deep=100 stall=8 comms=1 careful=0 largest=8000 hosts=0
 *
 * All ranks of the world walk through the same random scenario. Communicators of many shapes come and go,
 * some of them while operations on them are under way. Blocking and nonblocking operations with random roots,
 * sizes, in place and derived datatypes overlap. Up to `deep` requests are outstanding, the host library's
 * point-to-point requests among them. Each rank completes requests at random times by random calls, and
 * stalls at random times.
 *
 * careful=1 leaves out what MPI allows and Open MPI does not survive: freeing a communicator that is still in
 * use, Ialltoallv in place. (A communicator of one member is always the host library's, and never freed while
 * in use.) hosts=1: ranks may be on several hosts. largest: units of 12 ints that a rank's block may have.
 *
 * communicators.h and layouts.h make communicators and datatypes, random_reductions.h and random_movements.h
 * make the calls, random_requests.h completes them. */
#include "random_movements.h"
#include "random_reductions.h"

static int verbose, careful, largest;

static void operate(const group *g, uint64_t step, rng *shared, rng *own)
{
    random_call c = {.g = g};
    c.kind = below(shared, OPERATIONS), c.root = below(shared, g->n), c.base = random_size(shared);
    c.in_place = one_in(shared, 4), c.user_operator = one_in(shared, 3), c.blocking = one_in(shared, 2);
    if (several_hosts) /* MPICH applies what does not commute in another order there, also without evenkeel */
        c.user_operator = 0;
    if (careful && c.kind >= ALLTOALL && c.kind <= ALLTOALLW)
        c.in_place = 0;
    c.base = c.base < largest ? c.base : largest;
    if (c.base > 1000 && g->n > 4)
        c.base = 1000;
    if (g->me < 0)
        return;
    if (verbose)
        fprintf(stderr, "[%d]   %s%s, base %d, root %d, in place %d, user %d\n", world_rank,
                c.blocking ? "" : "i", operation_names[c.kind], c.base, c.root, c.in_place, c.user_operator);
    pending *p = new_pending(step, operation_names[c.kind]);
    if (c.kind == BARRIER)
        c.blocking ? MPI_Barrier(g->comm) : MPI_Ibarrier(g->comm, &p->request);
    else if (c.kind >= REDUCE)
        reduce(&c, p);
    else
        move(&c, p, own);
    if (c.blocking)
        settle(p, NULL);
    else
        waiting[waiting_count++] = p;
}

/* Point-to-point messages around a ring of the communicator's ranks. */
static void send_around(const group *g, uint64_t step, rng *shared)
{
    int n = 4 * random_size(shared), tag = (int)(step % 30000);
    if (g->me < 0)
        return;
    int next = (g->me + 1) % g->n, before = (g->me + g->n - 1) % g->n;
    layout l = make_layout(0);
    pending *r = new_pending(step, "receive"), *s = new_pending(step, "send");
    r->recv = allocate((size_t)n * 4), r->expected = allocate((size_t)n * 4);
    r->bytes = (size_t)n * 4 + 2 * MARGIN, r->source = before, r->tag = tag;
    s->send = allocate((size_t)n * 4);
    write_ints(r->expected + MARGIN, &l, n, step, before, g->me);
    write_ints(s->send, &l, n, step, g->me, next);
    MPI_Irecv(r->recv + MARGIN, n, MPI_INT, before, tag, g->comm, &r->request);
    MPI_Isend(s->send, n, MPI_INT, next, tag, g->comm, &s->request);
    waiting[waiting_count++] = r, waiting[waiting_count++] = s;
}

/* Makes communicators out of the one with this index; frees others to make room. */
static void change_communicators(int from, int step, rng *shared, rng *own)
{
    while (careful && waiting_count)
        complete(own, 1);
    while (groups_count > COMMS_MAX - 4) {
        int which = 1 + below(shared, groups_count - 1); /* perhaps with operations under way */
        /* A communicator of one member is the host library's: Open MPI does not survive that. */
        while (groups[which].n == 1 && waiting_count)
            complete(own, 1);
        free_communicator(which);
    }
    int constructor = below(shared, CONSTRUCTORS);
    from = from < groups_count ? from : 0;
    if (verbose)
        fprintf(stderr, "[%d]   new from %d, constructor %d\n", world_rank, from, constructor);
    make_communicators(&groups[from], constructor, shared, step);
}

static void keep_world(void)
{
    group world = {.comm = MPI_COMM_WORLD, .n = world_size};
    for (int i = 0; i < world_size; i++)
        world.members[i] = i;
    keep(world);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    int steps = (int)number(argc, argv, "steps", 400), deep = (int)number(argc, argv, "deep", 100);
    int stalls = (int)number(argc, argv, "stall", 8), shapes = (int)number(argc, argv, "comms", 1);
    verbose = (int)number(argc, argv, "verbose", 0), largest = (int)number(argc, argv, "largest", 8000);
    several_hosts = (int)number(argc, argv, "hosts", 0), careful = (int)number(argc, argv, "careful", 0);
    rng shared = {mix(seed)}, own = {mix3(seed, (uint64_t)world_rank, 11)};
    if (world_size > RANKS_MAX || deep > DEEP_MAX - 4)
        return 2;
    MPI_Op_create(compose_function, 0, &compose);
    keep_world();
    for (int step = 1; step <= steps; step++) {
        uint64_t id = mix3(seed, (uint64_t)step, 0);
        int percent = below(&shared, 100), on = below(&shared, groups_count);
        if (verbose)
            fprintf(stderr, "[%d] step %d, %d %%, on %d of %d, %d waiting\n", world_rank, step, percent, on,
                    groups[on].n, waiting_count);
        if (percent < 8 && shapes)
            change_communicators(on, step, &shared, &own);
        else if (percent < 20)
            send_around(&groups[on], id, &shared);
        else
            operate(&groups[on], id, &shared, &own);
        if (stalls)
            stall(&own, stalls, 2000);
        if (one_in(&own, 6))
            complete(&own, 0);
        while (waiting_count > deep)
            complete(&own, 0);
    }
    while (waiting_count)
        complete(&own, 1);
    while (groups_count > 1)
        free_communicator(groups_count - 1);
    MPI_Op_free(&compose);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
