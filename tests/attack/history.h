/* Random histories: what each rank does in one round, and what each observation may see.
 *
 * All ranks derive the same history from the same seed. Each event carries the set of events that precede it
 * (happens-before, by barriers, collectives and messages). An observation of a counter that only its writer
 * advances must see every action that precedes it, and no action that it precedes. Whatever runs strictly
 * satisfies this; what lies between is left to chance. So no second run is needed as the oracle. */
#ifndef ATTACK_HISTORY_H
#define ATTACK_HISTORY_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_RANKS = 8, MAX_EVENTS = 24, COMMS = 3 };

typedef enum { BARRIER, BROADCAST, REDUCE, ALLREDUCE, DUPLICATE, MESSAGE, ACT, OBSERVE, STALL } event_kind;
static const char *const kind_names[] = {"barrier",    "broadcast", "reduce",  "allreduce", "duplicate",
                                         "message to", "act",       "observe", "stall"};

/* A duplicate is a new communicator, and a barrier of it. */
static bool is_collective(event_kind kind) { return kind <= DUPLICATE; }

struct event {
    event_kind kind;
    int rank;         /* acts, observes, stalls or sends; is the root of a collective */
    int peer;         /* the receiver of a message; the rank whose actions are observed */
    int comm;         /* of a barrier or collective */
    int channel;      /* of an action or observation */
    int context;      /* in which an action or observation runs: contexts.h */
    unsigned variant; /* random bits for the channel to choose a way by */
    uint64_t before;  /* the events that precede it, one bit each */
};

struct history {
    int events;
    struct event event[MAX_EVENTS];
};

/* What generate() may choose from. */
struct choices {
    int ranks;
    int members[COMMS]; /* of each communicator, one bit a rank; 0: there is none */
    int channels, contexts;
    const unsigned *most_actions; /* of one rank on a channel, in one round */
};

/* ---- random numbers: splitmix64 ---- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int below(int n) { return (int)(random_bits() % (uint64_t)n); }

static void seed_round(uint64_t seed, uint64_t round)
{
    random_state = seed * 0x2545f4914f6cdd1du + round;
    random_bits();
}

/* ---- happens-before ---- */

static bool is_member(const struct choices *c, const struct event *e, int rank)
{
    return c->members[e->comm] >> rank & 1;
}

static void order_collective(const struct choices *c, const struct event *e, uint64_t bit, uint64_t *known)
{
    uint64_t all = bit, root = known[e->rank] | bit;
    for (int r = 0; r < c->ranks; r++)
        if (is_member(c, e, r))
            all |= known[r];
    for (int r = 0; r < c->ranks; r++) {
        if (!is_member(c, e, r))
            continue;
        known[r] |= bit;
        bool learns_all = e->kind == REDUCE ? r == e->rank : e->kind != BROADCAST;
        if (learns_all)
            known[r] |= all;
        else if (e->kind == BROADCAST)
            known[r] |= root;
    }
}

static void order_events(struct history *h, const struct choices *c)
{
    uint64_t known[MAX_RANKS] = {0};
    for (int i = 0; i < h->events; i++) {
        struct event *e = &h->event[i];
        uint64_t bit = (uint64_t)1 << i;
        e->before = known[e->rank];
        if (is_collective(e->kind)) {
            order_collective(c, e, bit, known);
            continue;
        }
        known[e->rank] |= bit;
        if (e->kind == MESSAGE)
            known[e->peer] |= known[e->rank];
    }
}

/* ---- generating ---- */

static event_kind random_kind(void)
{
    int n = below(100);
    return n < 35   ? BARRIER
           : n < 58 ? OBSERVE
           : n < 78 ? ACT
           : n < 88 ? STALL
           : n < 95 ? MESSAGE
           : n < 96 ? BROADCAST
           : n < 97 ? REDUCE
           : n < 99 ? ALLREDUCE
                    : DUPLICATE;
}

static int another_rank(int rank, int ranks) { return (rank + 1 + below(ranks - 1)) % ranks; }

static int random_comm(const struct choices *c)
{
    int comm = below(4) ? 0 : below(COMMS);
    return c->members[comm] ? comm : 0;
}

static void fill_event(struct event *e, const struct choices *c, const int chosen[2])
{
    e->rank = below(c->ranks);
    e->peer = another_rank(e->rank, c->ranks);
    e->comm = random_comm(c);
    while (is_collective(e->kind) && !is_member(c, e, e->rank))
        e->rank = (e->rank + 1) % c->ranks;
    e->channel = chosen[below(2)];
    e->context = below(2) ? 0 : below(c->contexts);
    e->variant = (unsigned)random_bits();
}

static void generate(struct history *h, const struct choices *c)
{
    const int chosen[2] = {below(c->channels), below(c->channels)};
    unsigned actions[2][MAX_RANKS] = {{0}};
    memset(h, 0, sizeof *h);
    h->events = 5 + below(MAX_EVENTS - 5);
    for (int i = 0; i < h->events; i++) {
        struct event *e = &h->event[i];
        e->kind = random_kind();
        fill_event(e, c, chosen);
        if (e->kind == ACT) {
            unsigned *done = &actions[e->channel == chosen[1]][e->rank];
            if (*done >= c->most_actions[e->channel])
                e->kind = BARRIER, e->comm = 0;
            else
                ++*done;
        }
    }
    order_events(h, c);
}

/* ---- judging ---- */

struct bounds {
    unsigned least, most;
};

/* How many actions of this round the observation number `at` must see, and may see. */
static struct bounds bounds_of(const struct history *h, int at)
{
    const struct event *seen = &h->event[at];
    struct bounds found = {0, 0};
    for (int i = 0; i < h->events; i++) {
        const struct event *e = &h->event[i];
        if (e->kind != ACT || e->channel != seen->channel || e->rank != seen->peer)
            continue;
        found.least += (unsigned)(seen->before >> i & 1);
        found.most += !(e->before >> at & 1);
    }
    return found;
}

static unsigned actions_of(const struct history *h, int channel, int rank)
{
    unsigned count = 0;
    for (int i = 0; i < h->events; i++)
        count += h->event[i].kind == ACT && h->event[i].channel == channel && h->event[i].rank == rank;
    return count;
}

#endif
