/* Three nodes, each a thread: a barrier, a contest, data and events, and invalid calls. Prints OK. */
#include "evenkeel_primitives.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 3
#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, evenkeel_last_error()); \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static const uint32_t all[NODES] = {0, 1, 2};
static evenkeel_unconnected *unconnected[NODES];
static void *addresses[NODES];
static size_t lengths[NODES];
static int winners[NODES];

static void barrier(evenkeel_node *me, uint64_t epoch)
{
    evenkeel_failure failure;
    int held;
    CHECK(evenkeel_set(me, 0, epoch) == EVENKEEL_YES);
    while ((held = evenkeel_compare_and_write(me, all, NODES, 0, EVENKEEL_GREATER_OR_EQUAL, epoch, NULL,
                                              &failure)) == EVENKEEL_NO)
        evenkeel_serve(me, 1);
    CHECK(held == EVENKEEL_YES);
}

static void *run(void *argument)
{
    uint32_t node = (uint32_t)(size_t)argument;
    evenkeel_node *me;
    evenkeel_failure failure;
    CHECK(evenkeel_connect(unconnected[node], node, NODES, (const void *const *)addresses, lengths, 20000,
                           &me) == EVENKEEL_YES);
    barrier(me, 1);
    evenkeel_word_write mine = {8, node + 1};
    int won = evenkeel_compare_and_write(me, all, NODES, 8, EVENKEEL_EQUAL, 0, &mine, &failure);
    CHECK(won == EVENKEEL_YES || won == EVENKEEL_NO);
    winners[node] = won;
    barrier(me, 2);
    if (node == 2)
        CHECK(evenkeel_xfer_and_signal(me, all, NODES, 100, "to all of you", 14, 5, 6) == EVENKEEL_YES);
    CHECK(evenkeel_test_event(me, 6, 20000, &failure) == EVENKEEL_YES);
    CHECK(evenkeel_test_event(me, 6, 0, &failure) == EVENKEEL_NO); /* taken */
    if (node == 2)
        CHECK(evenkeel_test_event(me, 5, 20000, &failure) == EVENKEEL_YES);
    char text[14];
    CHECK(evenkeel_read(me, 100, text, 14, 20000) == EVENKEEL_YES && !strcmp(text, "to all of you"));
    uint64_t winner;
    CHECK(evenkeel_read(me, 8, &winner, 8, 20000) == EVENKEEL_YES && winner >= 1 && winner <= NODES);
    CHECK(won == (winner == node + 1));

    uint32_t missing = 9;
    CHECK(evenkeel_compare_and_write(me, &missing, 1, 0, EVENKEEL_LESS, 0, NULL, &failure) == EVENKEEL_ERROR);
    CHECK(strstr(evenkeel_last_error(), "node 9"));
    CHECK(evenkeel_compare_and_write(me, NULL, 0, 0, EVENKEEL_LESS, 0, NULL, &failure) == EVENKEEL_ERROR);
    CHECK(evenkeel_compare_and_write(me, all, NODES, 0, (evenkeel_comparison)6, 0, NULL, &failure) ==
          EVENKEEL_ERROR);
    CHECK(evenkeel_read(me, 4090, text, 14, 0) == EVENKEEL_ERROR && evenkeel_set(me, 4, 0) == EVENKEEL_ERROR);
    CHECK(evenkeel_xfer_and_signal(me, all, NODES, 0, "", 1, -7, EVENKEEL_NO_EVENT) == EVENKEEL_ERROR);
    barrier(me, 3);
    for (int i = 0; i < 20; i++) /* other nodes may still need answers */
        evenkeel_serve(me, 10);
    evenkeel_close(me);
    return NULL;
}

int main(void)
{
    pthread_t threads[NODES];
    for (size_t i = 0; i < NODES; i++) {
        CHECK(evenkeel_open(NODES, 4096, &unconnected[i]) == EVENKEEL_YES);
        const void *address = evenkeel_address(unconnected[i], &lengths[i]);
        memcpy(addresses[i] = malloc(lengths[i]), address, lengths[i]);
    }
    for (size_t i = 0; i < NODES; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (size_t i = 0; i < NODES; i++)
        pthread_join(threads[i], NULL);
    CHECK(winners[0] + winners[1] + winners[2] == 1);
    puts("OK");
    return 0;
}
