/* Random large messages between all ranks at once: of all sizes around the chunks in which they are copied,
 * sent and received in several ways, early and late, into buffers that fit, are longer, or are too short.
 *
 *   large_messages [rounds=20] [seed=1] [most=6291456]
 *
 * Every byte that a receive may write is checked, and those behind. What a send has sent is overwritten as
 * soon as the send is complete. */
#include "check.h"

enum { MESSAGES = 6, BEHIND = 64, CHUNK = 64 * 1024 };

typedef struct message {
    int sender, receiver, tag;
    int bytes, room;
    int synchronous;
    unsigned char *data, *buffer;
    MPI_Request send, receive;
} message;

static uint64_t checks;

static int size_of_message(rng *r, int most)
{
    switch (below(r, 4)) {
    case 0: /* about a number of whole chunks */
        return CHUNK * (1 + below(r, most / CHUNK)) + below(r, 3) - 1;
    case 1: return 1 + below(r, most / 20);
    default: return 1 + below(r, most);
    }
}

static uint64_t word(const message *m, size_t at, uint64_t round)
{
    return mix(round * 64 + m->tag) + at * 0x9e37u;
}

static void fill(message *m, uint64_t round)
{
    m->data = malloc((size_t)m->bytes + 8);
    for (size_t at = 0; at < (size_t)m->bytes; at += 8) {
        uint64_t value = word(m, at, round);
        memcpy(m->data + at, &value, 8);
    }
}

static void check_received(const message *m, uint64_t round, int code, const MPI_Status *status)
{
    int error_class = MPI_SUCCESS, count = -1;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &error_class);
    CHECK(error_class == (m->bytes > m->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
          "error class %d: %d bytes into %d", error_class, m->bytes, m->room);
    CHECK(status->MPI_SOURCE == m->sender && status->MPI_TAG == m->tag, "source %d, tag %d instead of %d, %d",
          status->MPI_SOURCE, status->MPI_TAG, m->sender, m->tag);
    if (m->bytes <= m->room) {
        MPI_Get_count(status, MPI_BYTE, &count);
        CHECK(count == m->bytes, "%d bytes came instead of %d", count, m->bytes);
        for (size_t at = 0; at < (size_t)m->bytes; at += 8) {
            uint64_t value = word(m, at, round);
            size_t bytes = (size_t)m->bytes - at < 8 ? (size_t)m->bytes - at : 8;
            if (memcmp(m->buffer + at, &value, bytes)) {
                fail("byte %zu of %d from rank %d is wrong", at, m->bytes, m->sender);
                break;
            }
        }
    }
    for (int at = m->bytes < m->room ? m->bytes : m->room; at < m->room + BEHIND; at++)
        if (m->buffer[at] != 0x5a) {
            fail("byte %d was written: %d bytes into %d", at, m->bytes, m->room);
            break;
        }
    checks++;
}

static void start_send(message *m, uint64_t round)
{
    fill(m, round);
    if (m->synchronous)
        MPI_Issend(m->data, m->bytes, MPI_BYTE, m->receiver, m->tag, MPI_COMM_WORLD, &m->send);
    else
        MPI_Isend(m->data, m->bytes, MPI_BYTE, m->receiver, m->tag, MPI_COMM_WORLD, &m->send);
}

static void start_receive(message *m)
{
    m->buffer = malloc((size_t)m->room + BEHIND);
    memset(m->buffer, 0x5a, (size_t)m->room + BEHIND);
    MPI_Irecv(m->buffer, m->room, MPI_BYTE, m->sender, m->tag, MPI_COMM_WORLD, &m->receive);
}

static int complete(rng *r, MPI_Request *request, MPI_Status *status)
{
    int done = 0, code = MPI_SUCCESS;
    if (one_in(r, 2))
        return MPI_Wait(request, status);
    while (!done)
        code = MPI_Test(request, &done, status);
    return code;
}

static void play(uint64_t seed, uint64_t round, int most)
{
    rng shared = {mix3(seed, round, 0)}, own = {mix3(seed, round, 1 + (uint64_t)world_rank)};
    message messages[MESSAGES] = {0};
    int count = 1 + below(&shared, MESSAGES), order[2 * MESSAGES];
    for (int i = 0; i < count; i++) {
        message *m = &messages[i];
        m->sender = below(&shared, world_size);
        m->receiver = below(&shared, world_size);
        m->tag = i;
        m->bytes = m->room = size_of_message(&shared, most);
        m->synchronous = one_in(&shared, 4);
        if (one_in(&shared, 4))
            m->room += below(&shared, 100000);
        else if (one_in(&shared, 6) && m->sender != m->receiver)
            m->room = below(&shared, m->bytes);
    }
    /* Number 2i is the send of message i, number 2i + 1 its receive; each rank has an order of its own. */
    for (int i = 0; i < 2 * count; i++) {
        int other = below(&own, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < 2 * count; i++) {
        message *m = &messages[order[i] / 2];
        stall(&own, 4, 2000);
        if (order[i] % 2 == 0 && m->sender == world_rank)
            start_send(m, round);
        else if (order[i] % 2 == 1 && m->receiver == world_rank)
            start_receive(m);
    }
    for (int i = 0; i < count; i++) {
        message *m = &messages[i];
        MPI_Status status;
        stall(&own, 4, 2000);
        /* In the order of the messages on all ranks: no rank waits for one that waits for it. */
        if (m->receiver == world_rank) {
            int code = complete(&own, &m->receive, &status);
            check_received(m, round, code, &status);
        }
        if (m->sender == world_rank) {
            complete(&own, &m->send, MPI_STATUS_IGNORE);
            memset(m->data, 0xee, (size_t)m->bytes);
        }
    }
    for (int i = 0; i < count; i++) {
        free(messages[i].data);
        free(messages[i].buffer);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    long rounds = number(argc, argv, "rounds", 20);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    for (long r = 0; r < rounds; r++)
        play(seed, (uint64_t)r, (int)number(argc, argv, "most", 6 << 20));
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
