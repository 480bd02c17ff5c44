/* Operations of random.c that are under way: their buffers, and their completion by random calls. */
#ifndef EVENKEEL_TESTS_RANDOM_REQUESTS_H
#define EVENKEEL_TESTS_RANDOM_REQUESTS_H
#include "layouts.h"

typedef struct pending {
    MPI_Request request;
    unsigned char *recv, *expected, *send;
    size_t bytes;
    void *arrays; /* counts, displacements and types, which must outlive the operation */
    layout *layouts;
    int layouts_count;
    int source, tag; /* of a receive; -1 otherwise */
    uint64_t step;
    const char *what;
} pending;

enum { DEEP_MAX = 512 };
static pending *waiting[DEEP_MAX];
static int waiting_count;
static uint64_t checks;

static unsigned char *allocate(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * MARGIN);
    memset(p, 0x5a, bytes + 2 * MARGIN);
    return p;
}

static pending *new_pending(uint64_t step, const char *what)
{
    pending *p = calloc(1, sizeof *p);
    p->request = MPI_REQUEST_NULL, p->source = -1, p->step = step, p->what = what;
    return p;
}

/* Checks the result of a completed operation and frees it. */
static void settle(pending *p, const MPI_Status *status)
{
    if (p->recv && memcmp(p->recv, p->expected, p->bytes)) {
        size_t i = 0;
        while (p->recv[i] == p->expected[i])
            i++;
        fail("step %llu, %s: byte %ld of %zu is %02x, not %02x", (unsigned long long)p->step, p->what,
             (long)i - MARGIN, p->bytes - 2 * MARGIN, p->recv[i], p->expected[i]);
    }
    if (p->source >= 0 && status && (status->MPI_SOURCE != p->source || status->MPI_TAG != p->tag))
        fail("step %llu: a receive from %d says it came from %d", (unsigned long long)p->step, p->source,
             status->MPI_SOURCE);
    checks++;
    free(p->recv), free(p->expected), free(p->send), free(p->arrays), free(p->layouts);
    free(p);
}

static void settle_waiting(int which, const MPI_Status *status)
{
    settle(waiting[which], status);
    waiting[which] = NULL;
}

static void remove_settled(void)
{
    int n = 0;
    for (int i = 0; i < waiting_count; i++)
        if (waiting[i])
            waiting[n++] = waiting[i];
    waiting_count = n;
}

/* What one of MPI's waits or tests is called with, and what it says. */
typedef struct completion {
    MPI_Request requests[2 * DEEP_MAX];
    MPI_Status statuses[2 * DEEP_MAX];
    int which[2 * DEEP_MAX];   /* index in `waiting`, or -1 for a null request */
    int indices[2 * DEEP_MAX]; /* of completed requests */
    int n, count;
} completion;

static void wait_for_all(completion *c, rng *own)
{
    if (one_in(own, 2)) {
        MPI_Waitall(c->n, c->requests, c->statuses);
    } else {
        MPI_Waitall(c->n, c->requests, MPI_STATUSES_IGNORE);
        memset(c->statuses, 0, sizeof c->statuses);
        for (int i = 0; i < c->n; i++)
            if (c->which[i] >= 0)
                waiting[c->which[i]]->source = -1; /* there is no status to compare with */
    }
    c->count = c->n;
}

/* MPI_Request_get_status says whether a request is complete, and leaves it. */
static void look_then_test(completion *c, rng *own)
{
    int flag = 0;
    c->indices[0] = below(own, c->n);
    MPI_Request *request = &c->requests[c->indices[0]];
    MPI_Request_get_status(*request, &c->count, c->statuses);
    if (c->count) {
        MPI_Test(request, &flag, c->statuses);
        CHECK(flag, "Request_get_status said complete, Test says not");
        c->count = flag;
    }
}

/* Calls the wait or test of this number. */
static void call_completion(completion *c, int choice, rng *own)
{
    int flag = 0, n = c->n;
    if (choice <= 1)
        for (int i = 0; i < n; i++)
            c->indices[i] = i;
    switch (choice) {
    case 0: wait_for_all(c, own); break;
    case 1:
        MPI_Testall(n, c->requests, &flag, c->statuses);
        c->count = flag ? n : 0;
        break;
    case 2:
        MPI_Waitany(n, c->requests, &c->indices[0], c->statuses);
        c->count = c->indices[0] != MPI_UNDEFINED;
        break;
    case 3:
        MPI_Testany(n, c->requests, &c->indices[0], &flag, c->statuses);
        c->count = flag && c->indices[0] != MPI_UNDEFINED;
        break;
    case 4: MPI_Waitsome(n, c->requests, &c->count, c->indices, c->statuses); break;
    case 5: MPI_Testsome(n, c->requests, &c->count, c->indices, c->statuses); break;
    case 6:
        c->indices[0] = below(own, n), c->count = 1;
        MPI_Wait(&c->requests[c->indices[0]], c->statuses);
        break;
    case 7:
        c->indices[0] = below(own, n);
        MPI_Test(&c->requests[c->indices[0]], &c->count, c->statuses);
        break;
    default: look_then_test(c, own);
    }
    if (c->count == MPI_UNDEFINED)
        c->count = 0;
}

/* Completes some of what is outstanding by a random call; with `all`, all of it by MPI_Waitall. Null requests
 * are mixed in. */
static void complete(rng *own, int all)
{
    static completion c;
    int choice = all ? 0 : below(own, 9), keep_one_in = all ? 1 : 1 + below(own, 3);
    c.n = c.count = 0;
    for (int i = 0; i < waiting_count; i++) {
        if (one_in(own, 5))
            c.requests[c.n] = MPI_REQUEST_NULL, c.which[c.n++] = -1;
        if (one_in(own, keep_one_in))
            c.requests[c.n] = waiting[i]->request, c.which[c.n++] = i;
    }
    if (c.n == 0)
        return;
    call_completion(&c, choice, own);
    for (int i = 0; i < c.count; i++) {
        int at = c.indices[i];
        CHECK(c.requests[at] == MPI_REQUEST_NULL, "choice %d: a completed request is not MPI_REQUEST_NULL",
              choice);
        if (c.which[at] >= 0)
            settle_waiting(c.which[at], choice <= 1 ? &c.statuses[at] : &c.statuses[i]);
    }
    remove_settled();
}
#endif
