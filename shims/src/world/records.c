/* Where evenkeel serves MPI_COMM_WORLD, its own collectives gather the records, as ranks that wait in them
 * for a slow rank leave it the core. Elsewhere the host's do. */
#include "world/records.h"
#include "process/call_line.h"
#include "process/communicator.h"
#include <limits.h>
#include <stdlib.h>

/* One rank's record, and on rank 0 those of all. */
typedef struct records {
    int size, rank;
    ek_comm *engine; /* NULL: the host gathers */
    char *mine;
    int length;
    int *lengths, *starts; /* NULL but on rank 0 */
    char *all;
    size_t total;
} records;

/* Gathers the lengths of all records on rank 0. Nonzero: that failed. */
static int gather_lengths(records *r)
{
    ek_call call = {.kind = EK_KIND_GATHER,
                    .bytes = sizeof r->length,
                    .send = (const uint8_t *)&r->length,
                    .recv = (uint8_t *)r->lengths};
    int code = r->engine ? ek_run(r->engine, &call) : EK_DECLINED;
    return code == EK_DECLINED ? ek_host.Gather(&r->length, sizeof r->length, ek_handles.byte, r->lengths,
                                                sizeof r->length, ek_handles.byte, 0, ek_handles.world)
                               : code;
}

/* Says on rank 0 where each rank's record goes. Records beyond INT_MAX bytes are left out. */
static void lay_out(records *r)
{
    for (int rank = 0; rank < r->size; rank++) {
        r->starts[rank] = (int)r->total;
        if (r->total + (size_t)r->lengths[rank] > INT_MAX)
            r->lengths[rank] = 0;
        r->total += (size_t)r->lengths[rank];
    }
    r->all = malloc(r->total + 1);
}

/* Gathers all records on rank 0. Nonzero: that failed. */
static int gather_texts(records *r)
{
    ek_span *spans = r->rank ? NULL : calloc((size_t)r->size, sizeof *spans);
    if (r->rank == 0 && (!spans || !r->all)) {
        free(spans);
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; spans && rank < r->size; rank++)
        spans[rank] = (ek_span){.offset = r->starts[rank], .bytes = (size_t)r->lengths[rank]};
    ek_call call = {.kind = EK_KIND_GATHERV,
                    .bytes = (size_t)r->length,
                    .send = (const uint8_t *)r->mine,
                    .recv = (uint8_t *)r->all,
                    .recv_spans = spans};
    int code = r->engine ? ek_run(r->engine, &call) : EK_DECLINED;
    free(spans);
    return code == EK_DECLINED ? ek_host.Gatherv(r->mine, r->length, ek_handles.byte, r->all, r->lengths,
                                                 r->starts, ek_handles.byte, 0, ek_handles.world)
                               : code;
}

static void write_report(const records *r)
{
    const char **texts = calloc((size_t)r->size, sizeof *texts);
    size_t *lengths = calloc((size_t)r->size, sizeof *lengths);
    for (int rank = 0; texts && lengths && rank < r->size; rank++) {
        texts[rank] = r->all + r->starts[rank];
        lengths[rank] = (size_t)r->lengths[rank];
    }
    if (texts && lengths)
        ek_write_report(texts, lengths, r->size);
    free(texts);
    free(lengths);
}

static void gather(records *r)
{
    if (gather_lengths(r))
        return;
    if (r->lengths)
        lay_out(r);
    if (gather_texts(r))
        return;
    if (r->all && r->total)
        write_report(r);
}

void ek_records_gather(void)
{
    const ek_comm_entry *e = ek_comm_find(ek_handles.world);
    if (e && e->engine && ek_comm_is_revoked(e->engine))
        return; /* nothing can be gathered there any more */
    size_t bytes = 0;
    records r = {.mine = ek_record_json(&bytes)};
    r.engine = e && e->on_one_node ? e->engine : NULL;
    r.length = r.mine && bytes <= INT_MAX ? (int)bytes : 0;
    ek_host.Comm_size(ek_handles.world, &r.size);
    ek_host.Comm_rank(ek_handles.world, &r.rank);
    if (r.rank == 0)
        r.lengths = calloc(2 * (size_t)r.size, sizeof *r.lengths);
    if (r.lengths)
        r.starts = r.lengths + r.size;
    /* Every other rank sends its record only when it comes to MPI_Finalize. */
    if (r.rank == 0)
        ek_mark_traffic(EK_WAITS_FOR_ALL);
    gather(&r);
    if (r.rank == 0)
        ek_unmark_traffic(EK_WAITS_FOR_ALL);
    free(r.all);
    free(r.lengths);
    ek_record_free(r.mine);
}
