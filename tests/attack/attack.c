/* Attacks deferred barriers: random programs that try to see that a barrier has returned too early.
 *
 *   attack dir=DIRECTORY [seed=1] [first=0] [rounds=1000] [channels=file-size,message] [contexts=all]
 *          [signal=1] [way=0] [stall=60] [explain=0]
 *
 * Channels and contexts (contexts.h) marked `alone` are used only if they are named.
 *
 * In each round all ranks generate the same history (history.h) of barriers, collectives, messages, actions
 * and observations, and carry out their own part of it. An observation that no run with strict barriers could
 * make is printed with its history. `explain` prints every history. A round depends on `seed` and its number
 * only, so first=N rounds=1 repeats one. The last line is `RESULT rounds R observations O wrong W`. */
#define _GNU_SOURCE
#include "channels_alone.h"
#include "channels_files.h"
#include "channels_ipc.h"
#include "channels_mpi.h"
#include "channels_process.h"
#include "contexts.h"
#include "traffic.h"

/* clang-format off */
static const struct channel all_channels[] = {
    {"file-size", 1u << 30, file_make, file_open, size_act, size_seen, .most = 6},
    {"file-time", 1u << 30, NULL, NULL, time_act, time_seen, .most = 6},
    {"file-mode", 512, NULL, NULL, mode_act, mode_seen, .most = 6},
    {"file-name", 2, NULL, NULL, name_act, name_seen},
    {"file-attribute", 1u << 30, attribute_make, NULL, attribute_act, attribute_seen, .most = 6},
    {"file-lock", 2, NULL, NULL, lock_act, lock_seen},
    {"fifo", 1u << 30, fifo_make, fifo_open, fifo_act, fifo_seen, .settle = fifo_settle, .most = 6},
    {"stream", 1u << 30, stream_make, stream_open, stream_act, stream_seen, .settle = stream_settle,
     .most = 6},
    {"semaphore", 30000, semaphore_make, NULL, semaphore_act, semaphore_seen, .most = 6},
    {"queue", 1u << 30, queue_make, queue_open, queue_act, queue_seen, .settle = queue_settle, .most = 6},
    {"posix-queue", 1u << 30, posix_queue_make, posix_queue_open, posix_queue_act, posix_queue_seen,
     .settle = posix_queue_settle, .most = 6,
     .ready = posix_queue_ready},
    {"offset", 1u << 30, shared_make, shared_open, offset_act, offset_seen, .most = 6},
    {"flags", 2, NULL, NULL, flags_act, flags_seen},
    {"signal-number", 60, NULL, NULL, signal_number_act, signal_number_seen, .most = 6},
    {"event", 1u << 30, NULL, NULL, event_act, event_seen, .settle = event_settle, .most = 1},
    {"nice", 4, nice_make, NULL, nice_act, nice_seen},
    {"io-priority", 8, NULL, NULL, io_priority_act, io_priority_seen},
    {"affinity", 2, affinity_make, NULL, affinity_act, affinity_seen},
    {"policy", 2, NULL, NULL, policy_act, policy_seen},
    {"limit", 1u << 30, limit_make, NULL, limit_act, limit_seen, .most = 6},
    {"name-of-process", NAMES, name_of_process_make, name_of_process_open, name_of_process_act,
     name_of_process_seen, .most = 6},
    {"message", 1u << 30, NULL, NULL, message_act, message_seen, .settle = message_settle,
     .most = MOST_MESSAGES, .may_be_late = true},
    {"match", 1u << 30, NULL, NULL, match_act, match_seen, .begin = match_begin, .settle = match_settle,
     .most = MOST_MATCHES, .may_be_late = true},
    {"mpi-file", 1u << 30, mpi_file_make, mpi_file_open, mpi_file_act, mpi_file_seen, .most = 6},
    {"their-limit", 1u << 30, their_limit_make, NULL, their_limit_act, their_limit_seen, .most = 6,
     .alone = true},
    {"signal", 1u << 30, signal_make, NULL, signal_act, signal_seen, .settle = signal_settle, .most = 1,
     .alone = true},
    {"memory", 1u << 30, cell_make, cell_open, cell_act, cell_seen, .most = 6, .alone = true},
    {"thread", 1u << 30, thread_make, thread_open, thread_act, thread_seen, .most = 6, .alone = true},
};
/* clang-format on */
enum { ALL_CHANNELS = sizeof all_channels / sizeof *all_channels };

/* Those of this run. */
static const struct channel *channels[ALL_CHANNELS];
static const struct context *entered[CONTEXTS];
static unsigned most_actions[ALL_CHANNELS], done[ALL_CHANNELS][MAX_RANKS];
static struct choices choices;

static const char *text_option(int count, char **words, const char *name, const char *otherwise)
{
    size_t length = strlen(name);
    for (int i = 1; i < count; i++)
        if (!strncmp(words[i], name, length) && words[i][length] == '=')
            return words[i] + length + 1;
    return otherwise;
}

static long option(int count, char **words, const char *name, long otherwise)
{
    const char *text = text_option(count, words, name, NULL);
    return text ? atol(text) : otherwise;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* ---- preparing ---- */

static void prepare_ranks(void)
{
    pid_t pid = getpid();
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(ranks >= 2 && ranks <= MAX_RANKS, "2 to 8 ranks are needed");
    MPI_Allgather(&pid, sizeof pid, MPI_BYTE, pids, sizeof pid, MPI_BYTE, MPI_COMM_WORLD);
    choices.ranks = ranks;
    choices.members[0] = (1 << ranks) - 1;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &traffic);
    attach_buffer();
    for (int c = 1; c < COMMS && ranks > 2; c++) {
        int out = c == 1 ? ranks - 1 : 0; /* all but the last; all but the first */
        choices.members[c] = choices.members[0] & ~(1 << out);
        MPI_Comm_split(MPI_COMM_WORLD, me == out ? MPI_UNDEFINED : 0, me, &comms[c]);
    }
}

/* Channels that are missing in any rank are left out by all. Some need what another has made. */
static void prepare_channels(const char *list)
{
    for (int i = 0; i < ALL_CHANNELS; i++) {
        const struct channel *c = &all_channels[i];
        bool wanted = list ? is_listed(list, c->name) : !c->alone;
        int here = (wanted || !c->alone) && (!c->make || c->make());
        MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        if (!here && !wanted)
            continue;
        here = here && (!c->open || c->open());
        MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        if (c->ready)
            c->ready();
        if (here && wanted) {
            most_actions[choices.channels] = c->most ? c->most : c->modulus - 1;
            channels[choices.channels++] = c;
        } else if (wanted && me == 0) {
            fprintf(stderr, "attack: channel %s does not exist here\n", c->name);
        }
    }
    choices.most_actions = most_actions;
}

static void prepare_contexts(const char *list)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (list ? is_listed(list, contexts[i].name) || i == 0 : !contexts[i].alone)
            entered[choices.contexts++] = &contexts[i];
    if (choices.contexts > 1) /* fewer calls pass pending barriers in a program that has error handlers */
        contexts_make();
}

/* ---- carrying out ---- */

struct job {
    const struct event *event;
    unsigned count; /* an action's: what the counter becomes */
    long seen;
};

static void act_or_observe(void *argument)
{
    struct job *job = argument;
    const struct event *e = job->event;
    if (e->kind == ACT)
        channels[e->channel]->act(job->count, e->variant);
    else
        job->seen = channels[e->channel]->observe(e->peer, e->variant);
}

/* The root's rank in the communicator. */
static int root_of(const struct event *e)
{
    int root = 0;
    for (int r = 0; r < e->rank; r++)
        root += choices.members[e->comm] >> r & 1;
    return root;
}

/* This rank's part. Nothing here makes a system call of its own: that would complete what is pending. */
static void run_history(const struct history *h, long *seen, unsigned stall_us)
{
    unsigned acted[ALL_CHANNELS] = {0};
    for (int i = 0; i < h->events; i++) {
        const struct event *e = &h->event[i];
        if (is_collective(e->kind)) {
            if (is_member(&choices, e, me))
                run_collective(e, root_of(e));
        } else if (e->kind == MESSAGE) {
            run_message(e, i);
        } else if (e->rank == me && e->kind == STALL) {
            stall_for(1e3 * (e->variant % (stall_us + 1)));
        } else if (e->rank == me) {
            struct job job = {e, 0, 0};
            if (e->kind == ACT)
                job.count = done[e->channel][me] + ++acted[e->channel];
            run_in(entered[e->context], act_or_observe, &job);
            seen[i] = job.seen;
        }
    }
}

/* ---- judging ---- */

static void print_event(const struct history *h, int i)
{
    const struct event *e = &h->event[i];
    fprintf(stderr, "  %2d rank %d: %s", i, e->rank, kind_names[e->kind]);
    if (is_collective(e->kind))
        fprintf(stderr, " of communicator %d (members %#x)", e->comm, (unsigned)choices.members[e->comm]);
    else if (e->kind == MESSAGE)
        fprintf(stderr, " rank %d", e->peer);
    else if (e->kind != STALL)
        fprintf(stderr, "%s %s in %s, variant %u", e->kind == OBSERVE ? " of" : "",
                channels[e->channel]->name, entered[e->context]->name, e->variant);
    if (e->kind == OBSERVE)
        fprintf(stderr, ", counter of rank %d", e->peer);
    fputc('\n', stderr);
}

static bool judge(const struct history *h, int at, long seen)
{
    const struct event *e = &h->event[at];
    const struct channel *channel = channels[e->channel];
    struct bounds b = bounds_of(h, at);
    long before = channel->settle ? 0 : (long)(done[e->channel][e->peer] % channel->modulus);
    long value = (seen - before + (long)channel->modulus) % (long)channel->modulus;
    if ((value >= (long)b.least || channel->may_be_late) && value <= (long)b.most)
        return true;
    fprintf(
        stderr,
        "WRONG event %d of rank %d: saw %ld actions of rank %d, at least %u and at most %u are possible\n",
        at, me, value, e->peer, b.least, b.most);
    return false;
}

static int judge_all(const struct history *h, const long *seen, long *observations)
{
    int wrong = 0;
    for (int i = 0; i < h->events; i++)
        if (h->event[i].kind == OBSERVE && h->event[i].rank == me) {
            ++*observations;
            wrong += !judge(h, i, seen[i]);
        }
    return wrong;
}

static void begin_channels(const struct history *h, bool settle)
{
    for (int c = 0; c < choices.channels; c++) {
        bool used = false;
        for (int i = 0; i < h->events; i++)
            used |= h->event[i].kind >= ACT && h->event[i].kind != STALL && h->event[i].channel == c;
        if (used && settle && channels[c]->settle)
            channels[c]->settle();
        else if (used && !settle && channels[c]->begin)
            channels[c]->begin();
        for (int r = 0; r < ranks && settle; r++)
            done[c][r] = channels[c]->settle ? 0 : done[c][r] + actions_of(h, c, r);
    }
}

static void begin_contexts(const struct history *h)
{
    for (int i = 0; i < h->events; i++) {
        const struct event *e = &h->event[i];
        bool runs_code = e->kind == ACT || e->kind == OBSERVE;
        if (runs_code && e->rank == me && entered[e->context]->begin)
            entered[e->context]->begin();
    }
}

static int run_round(uint64_t seed, uint64_t round, unsigned stall_us, bool explain, long *observations)
{
    struct history h;
    long seen[MAX_EVENTS] = {0};
    int wrong, everywhere;
    seed_round(seed, round);
    generate(&h, &choices);
    begin_channels(&h, false);
    begin_contexts(&h);
    post_early(&h);
    run_history(&h, seen, stall_us);
    wrong = judge_all(&h, seen, observations);
    MPI_Allreduce(&wrong, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && (everywhere || explain)) {
        fprintf(stderr, "seed %llu round %llu:\n", (unsigned long long)seed, (unsigned long long)round);
        for (int i = 0; i < h.events; i++)
            print_event(&h, i);
    }
    begin_channels(&h, true);
    late_truncation_settle();
    MPI_Allreduce(&wrong, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return everywhere;
}

int main(int count, char **words)
{
    long observations = 0, all_observations = 0, wrong = 0;
    int level = option(count, words, "multiple", 0) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &words, level, &level);
    uint64_t seed = (uint64_t)option(count, words, "seed", 1),
             first = (uint64_t)option(count, words, "first", 0);
    uint64_t rounds = (uint64_t)option(count, words, "rounds", 1000);
    unsigned stall_us = (unsigned)option(count, words, "stall", 60);
    bool explain = option(count, words, "explain", 0);
    directory = text_option(count, words, "dir", NULL);
    must(directory, "dir=DIRECTORY is missing");
    signal_chosen = (int)option(count, words, "signal", SIGHUP);
    mapping_way = (int)option(count, words, "way", 0);
    prepare_ranks();
    prepare_channels(text_option(count, words, "channels", NULL));
    prepare_contexts(text_option(count, words, "contexts", NULL));
    must(choices.channels, "no channel to attack");
    for (uint64_t r = first; r < first + rounds && wrong < 5; r++)
        wrong += run_round(seed, r, stall_us, explain, &observations);
    MPI_Reduce(&observations, &all_observations, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    remove_ipc();
    if (me == 0)
        printf("RESULT rounds %llu observations %ld wrong %ld\n", (unsigned long long)rounds,
               all_observations, wrong);
    MPI_Finalize();
    return 0;
}
