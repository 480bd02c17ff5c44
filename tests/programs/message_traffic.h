/* Random messages between all ranks. Every rank knows all messages of a round, so that contents, order and
 * number can be checked. */
#ifndef EVENKEEL_TESTS_MESSAGE_TRAFFIC_H
#define EVENKEEL_TESTS_MESSAGE_TRAFFIC_H
#include "message_rules.h"

enum { MOST = 48, LARGEST = 40000 };

typedef struct message {
    int from, to, tag, is_synchronous;
    size_t bytes;
    uint64_t seed;
} message;

/* One round: its messages, and what becomes of them on this rank. */
typedef struct traffic {
    message messages[MOST];
    int n, is_by_name; /* receives name their source; otherwise they are from any source */
    MPI_Request requests[MOST];
    unsigned char *sent[MOST];
    int sent_count;
    char is_received[MOST];
} traffic;

static void write_message(unsigned char *place, const message *m)
{
    for (size_t i = 0; i < m->bytes; i++)
        place[i] = (unsigned char)(m->seed >> (8 * (i % 8)) ^ i);
}

/* Draws the messages of a round, the same on all ranks. */
static void draw_messages(traffic *t, rng *all)
{
    t->n = 1 + below(all, MOST), t->is_by_name = one_in(all, 2);
    for (int i = 0; i < t->n; i++) {
        message *m = &t->messages[i];
        m->from = below(all, world_size), m->to = below(all, world_size);
        m->bytes = one_in(all, 4) ? (size_t)below(all, LARGEST) : (size_t)below(all, 200);
        m->tag = below(all, 3), m->is_synchronous = below(all, 3) == 1, m->seed = draw(all);
    }
}

static void send_messages(traffic *t, rng *own)
{
    for (int i = 0; i < t->n; i++) {
        const message *m = &t->messages[i];
        if (m->from != world_rank)
            continue;
        unsigned char *data = t->sent[t->sent_count] = malloc(m->bytes + 1);
        write_message(data, m);
        (m->is_synchronous ? MPI_Issend : MPI_Isend)(data, (int)m->bytes, MPI_BYTE, m->to, m->tag, WORLD,
                                                     &t->requests[t->sent_count]);
        t->sent_count++;
        if (one_in(own, 5))
            MPI_Barrier(MPI_COMM_SELF);
    }
}

/* The message that a receive must have got: the first that is left of this sender, and of the tag if the
 * receive names one. Returns n if there is none. */
static int find_message(const traffic *t, int source, int tag)
{
    for (int i = 0; i < t->n; i++) {
        const message *m = &t->messages[i];
        if (m->to == world_rank && !t->is_received[i] && m->from == source &&
            (tag == MPI_ANY_TAG || m->tag == tag))
            return i;
    }
    return t->n;
}

/* Receives one message and checks it. Returns 0 if it was not sent in this round. */
static int receive_message(traffic *t, uint64_t round, int is_probing, rng *own)
{
    static unsigned char got[LARGEST];
    MPI_Status status;
    int first = 0, bytes;
    while (t->messages[first].to != world_rank || t->is_received[first])
        first++;
    int source = t->is_by_name ? t->messages[first].from : MPI_ANY_SOURCE;
    int tag = t->is_by_name && one_in(own, 2) ? t->messages[first].tag : MPI_ANY_TAG;
    if (is_probing) {
        MPI_Probe(source, tag, WORLD, &status);
        MPI_Recv(got, LARGEST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, &status);
    } else {
        MPI_Recv(got, LARGEST, MPI_BYTE, source, tag, WORLD, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    int which = find_message(t, status.MPI_SOURCE, tag);
    checks++;
    if (which == t->n) {
        fail("round %llu: a message from %d that was not sent", (unsigned long long)round, status.MPI_SOURCE);
        return 0;
    }
    const message *m = &t->messages[which];
    unsigned char *expected = malloc(m->bytes + 1);
    write_message(expected, m);
    CHECK(status.MPI_TAG == m->tag && (size_t)bytes == m->bytes && !memcmp(got, expected, m->bytes),
          "round %llu: from %d came tag %d, %d bytes; message %d has tag %d, %zu bytes",
          (unsigned long long)round, m->from, status.MPI_TAG, bytes, which, m->tag, m->bytes);
    t->is_received[which] = 1;
    free(expected);
    return 1;
}

static void exchange(uint64_t round)
{
    static traffic t;
    rng all = {mix3(round, 99, 7)}, own = {mix3(round, (uint64_t)world_rank, 1234)};
    int is_probing = one_in(&own, 3), wanted = 0;
    memset(&t, 0, sizeof t);
    draw_messages(&t, &all);
    send_messages(&t, &own);
    stall(&own, 4, 300);
    for (int i = 0; i < t.n; i++)
        wanted += t.messages[i].to == world_rank;
    while (wanted > 0 && receive_message(&t, round, is_probing, &own))
        wanted--;
    MPI_Waitall(t.sent_count, t.requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < t.sent_count; i++)
        free(t.sent[i]);
}
#endif
