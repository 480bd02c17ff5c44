#include "message/abandoned.h"
#include <stdlib.h>

typedef struct abandoned {
    ek_transfer transfer;
    struct abandoned *next;
} abandoned;

static abandoned *list;

void ek_abandoned_reap(void)
{
    for (abandoned **at = &list; *at;) {
        abandoned *a = *at;
        if (!ek_transfer_is_complete(&a->transfer, false)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        ek_transfer_finish(&a->transfer, MPI_STATUS_IGNORE);
        free(a);
    }
}

void ek_transfer_abandon(ek_transfer *t)
{
    ek_abandoned_reap();
    abandoned *a = t->message && t->packed ? malloc(sizeof *a) : NULL;
    if (a) {
        *a = (abandoned){.transfer = *t, .next = list};
        list = a;
    } else if (t->message) {
        ek_message_free(t->message);
    }
    *t = (ek_transfer){0};
}
