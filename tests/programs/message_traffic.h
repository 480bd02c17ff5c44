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

/* Completes a receive with MPI_Wait, MPI_Test, MPI_Waitany or MPI_Testall. */
static void complete_receive(MPI_Request *request, MPI_Status *status, rng *own)
{
    int way = below(own, 4), flag = 0, index;
    if (way == 0)
        MPI_Wait(request, status);
    else if (way == 1)
        MPI_Waitany(1, request, &index, status);
    while (way >= 2 && !flag)
        if (way == 2)
            MPI_Test(request, &flag, status);
        else
            MPI_Testall(1, request, &flag, status);
}

/* Receives one message by one of the ways that MPI has. */
static void receive(unsigned char *got, int source, int tag, MPI_Status *status, rng *own)
{
    MPI_Message found;
    MPI_Request request;
    int flag = 0;
    switch (below(own, 5)) {
    case 0:
        MPI_Mprobe(source, tag, WORLD, &found, status);
        MPI_Mrecv(got, LARGEST, MPI_BYTE, &found, status);
        break;
    case 1:
        while (!flag)
            MPI_Improbe(source, tag, WORLD, &flag, &found, status);
        MPI_Imrecv(got, LARGEST, MPI_BYTE, &found, &request);
        complete_receive(&request, status, own);
        break;
    case 2:
        MPI_Recv_init(got, LARGEST, MPI_BYTE, source, tag, WORLD, &request);
        MPI_Start(&request);
        complete_receive(&request, status, own);
        MPI_Request_free(&request);
        break;
    case 3:
        MPI_Irecv(got, LARGEST, MPI_BYTE, source, tag, WORLD, &request);
        complete_receive(&request, status, own);
        break;
    default: MPI_Recv(got, LARGEST, MPI_BYTE, source, tag, WORLD, status);
    }
}

/* A receive in front of the barrier that ends a round: this rank has received all messages of the round, and
 * those of the next are sent behind the barrier. So nothing comes, and it can be cancelled. */
static void cancel_receive(uint64_t round, rng *own)
{
    unsigned char none;
    int flag, source = one_in(own, 2) ? MPI_ANY_SOURCE : below(own, world_size);
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&none, 1, MPI_BYTE, source, one_in(own, 2) ? MPI_ANY_TAG : below(own, 3), WORLD, &request);
    stall(own, 2, 300);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag, "round %llu: a message of the next round has come", (unsigned long long)round);
    if (flag)
        return;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "round %llu: a receive was not cancelled", (unsigned long long)round);
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
        receive(got, source, tag, &status, own);
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
    for (int n = below(&own, 4); n > 0; n--)
        cancel_receive(round, &own);
}
#endif
