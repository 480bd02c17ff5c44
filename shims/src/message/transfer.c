/* One direction of a call: packing, the call to the engine, unpacking, the status. See message.h. */
#include "message/message.h"

/* ---- statuses ---- */

void ek_status(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    ek_host.Status_set_elements_x(status, ek_handles.byte, (MPI_Count)bytes);
    ek_host.Status_set_cancelled(status, cancelled);
}

void ek_status_empty(MPI_Status *status) { ek_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false); }

/* ---- data that need no packing ---- */

/* The last datatype that was asked for and is predefined and dense: programs use one again and again. */
static struct {
    uintptr_t type;
    MPI_Count size;
} plain;

static bool remember_plain(MPI_Datatype type)
{
    ek_type scratch;
    const ek_type *t = ek_type_of(type, &scratch);
    if (!t || !t->named || !t->dense)
        return false;
    plain.type = (uintptr_t)type;
    plain.size = t->size;
    return true;
}

/* Whether these are so many bytes from `buf` on; false also if something is wrong with them. */
static inline bool is_plain(const void *buf, MPI_Count count, MPI_Datatype type, size_t *bytes)
{
    MPI_Count product;
    if (EK_UNLIKELY((uintptr_t)type != plain.type || !plain.type) && !remember_plain(type))
        return false;
    if (EK_UNLIKELY(count < 0 || __builtin_mul_overflow(count, plain.size, &product) ||
                    product > PTRDIFF_MAX / 4))
        return false;
    *bytes = (size_t)product;
    return buf || !product;
}

/* ---- halves ---- */

void ek_half_drop(ek_half *h)
{
    free(h->packed);
    if (h->own_type)
        ek_host.Type_free(&h->type);
    *h = (ek_half){0};
}

static int send_other(ek_half *h, ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                      int tag, enum ek_mode mode)
{
    ek_side side;
    if (!ek_measure(&side, count, type))
        return EK_HOST_SHALL;
    const void *data = buf;
    if (!side.type->dense || mode == EK_BUFFERED) {
        if (!(h->packed = malloc(side.bytes + 1)))
            return MPI_ERR_NO_MEM;
        if (!side.type->dense && ek_pack(buf, count, type, side.type, h->packed)) {
            ek_half_drop(h);
            return EK_HOST_SHALL; /* the host will say what is wrong */
        }
        if (side.type->dense && side.bytes)
            memcpy(h->packed, buf, side.bytes);
        data = h->packed;
    } else if (!buf && side.bytes) {
        return EK_HOST_SHALL;
    }
    h->message = ek_message_send(e->ek, dest, tag, mode == EK_SYNCHRONOUS, data, side.bytes);
    if (!h->message && h->packed)
        ek_half_drop(h);
    return MPI_SUCCESS;
}

int ek_half_send(ek_half *h, ek_entry *e, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                 int tag, enum ek_mode mode)
{
    size_t bytes;
    *h = (ek_half){0};
    if (!ek_message_peer(e, dest, false) || !ek_message_tag(tag, false))
        return EK_HOST_SHALL;
    if (EK_LIKELY(mode != EK_BUFFERED && is_plain(buf, count, type, &bytes))) {
        h->message = ek_message_send(e->ek, dest, tag, mode == EK_SYNCHRONOUS, buf, bytes);
        return MPI_SUCCESS;
    }
    return send_other(h, e, buf, count, type, dest, tag, mode);
}

static int receive_other(ek_half *h, ek_entry *e, void *buf, MPI_Count count, MPI_Datatype type, int source,
                         int tag, void *matched)
{
    ek_side side;
    if (!ek_measure(&side, count, type) || (side.type->dense && !buf && side.bytes))
        return EK_HOST_SHALL;
    void *room = buf;
    if (!side.type->dense && side.bytes) {
        if (!(h->packed = malloc(side.bytes)))
            return MPI_ERR_NO_MEM;
        h->type = type;
        /* The program may free the type while the receive is under way. */
        if (!side.type->named && !(h->own_type = !ek_host.Type_dup(type, &h->type))) {
            ek_half_drop(h);
            return MPI_ERR_TYPE;
        }
        room = h->packed;
    }
    h->user = buf;
    h->count = count;
    h->size = side.type->size;
    h->extent = side.type->extent;
    h->message = matched ? ek_message_receive_matched(e->ek, matched, room, side.bytes)
                         : ek_message_receive(e->ek, source == MPI_ANY_SOURCE ? -1 : source,
                                              tag == MPI_ANY_TAG ? -1 : tag, room, side.bytes);
    return MPI_SUCCESS;
}

int ek_half_receive(ek_half *h, ek_entry *e, void *buf, MPI_Count count, MPI_Datatype type, int source,
                    int tag, void *matched)
{
    size_t bytes;
    *h = (ek_half){0};
    if (!matched && (!ek_message_peer(e, source, true) || !ek_message_tag(tag, true)))
        return EK_HOST_SHALL;
    if (EK_UNLIKELY(matched || !is_plain(buf, count, type, &bytes)))
        return receive_other(h, e, buf, count, type, source, tag, matched);
    h->user = buf;
    h->count = count;
    h->size = h->extent = plain.size;
    h->message = ek_message_receive(e->ek, source == MPI_ANY_SOURCE ? -1 : source,
                                    tag == MPI_ANY_TAG ? -1 : tag, buf, bytes);
    return MPI_SUCCESS;
}

/* Fewer bytes may have come than the buffer holds, and they may end within an element. */
static int unpack(const ek_half *h, size_t bytes)
{
    MPI_Count whole = (MPI_Count)bytes / h->size;
    size_t rest = bytes % (size_t)h->size;
    int code = ek_unpack(h->packed, whole, h->type, h->size, h->extent, h->user);
    if (code || !rest)
        return code;
    const ek_type one = {.size = h->size, .extent = h->extent};
    char *element = malloc((size_t)h->size), *place = (char *)h->user + whole * h->extent;
    if (!element)
        return MPI_ERR_NO_MEM;
    code = ek_pack(place, 1, h->type, &one, element);
    if (!code) {
        memcpy(element, h->packed + whole * h->size, rest);
        code = ek_unpack(element, 1, h->type, h->size, h->extent, place);
    }
    free(element);
    return code;
}

int ek_half_finish(ek_half *h, MPI_Status *status)
{
    const ek_message *m = h->message;
    if (EK_LIKELY(m && !h->packed && !m->truncated && status == MPI_STATUS_IGNORE)) {
        ek_message_free(h->message);
        h->message = NULL;
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    if (m && h->size && h->packed && !m->cancelled) { /* a receive; its buffer may be MPI_BOTTOM */
        size_t room = (size_t)(h->count * h->size);
        code = unpack(h, m->bytes < room ? m->bytes : room);
    }
    if (m && m->truncated) {
        code = MPI_ERR_TRUNCATE;
    }
    if (status != MPI_STATUS_IGNORE) {
        size_t room = (size_t)(h->count * h->size);
        if (m)
            ek_status(status, m->source < 0 ? MPI_ANY_SOURCE : m->source,
                      m->source < 0 ? MPI_ANY_TAG : m->tag,
                      m->cancelled   ? 0
                      : m->truncated ? room
                                     : m->bytes,
                      m->cancelled);
        else
            ek_status_empty(status);
    }
    if (h->message)
        ek_message_free(h->message);
    ek_half_drop(h);
    return code;
}
