#include "message/transfer.h"
#include "host/pack.h"
#include "host/status.h"
#include "message/arguments.h"
#include <stdlib.h>
#include <string.h>

/* ---- data that need no packing ---- */

/* The predefined, contiguous datatype that was used last: most programs use one again and again. */
static struct {
    uintptr_t handle;
    ek_layout layout;
} plain;

static bool remember_plain(MPI_Datatype type)
{
    ek_type scratch;
    const ek_type *t = ek_type_of(type, &scratch);
    if (!t || !t->predefined || !t->contiguous)
        return false;
    plain.handle = t->handle;
    plain.layout = t->layout;
    return true;
}

/* Whether the elements are `bytes` contiguous bytes from `buf` on. False also if something is wrong with
 * them. */
static inline bool is_plain(const void *buf, MPI_Count count, MPI_Datatype type, size_t *bytes)
{
    MPI_Count product;
    if (EK_UNLIKELY((uintptr_t)type != plain.handle || !plain.handle) && !remember_plain(type))
        return false;
    if (EK_UNLIKELY(count < 0 || __builtin_mul_overflow(count, plain.layout.size, &product) ||
                    product > PTRDIFF_MAX / 4))
        return false;
    *bytes = (size_t)product;
    return buf || !product;
}

/* ---- starting ---- */

/* Frees what it owns. */
static void drop(ek_transfer *t)
{
    free(t->packed);
    if (t->owns_type)
        ek_host.Type_free(&t->layout.type);
    else if (t->holds_map)
        ek_type_map_release(t->layout.map);
    *t = (ek_transfer){0};
}

/* Data with holes, or a buffered send. */
static int send_copy(ek_transfer *t, const ek_comm_entry *e, const void *buf, MPI_Count count,
                     MPI_Datatype type, int dest, int tag, ek_send_mode mode)
{
    ek_elements elements;
    if (!ek_elements_measure(&elements, count, type))
        return EK_DECLINED;
    bool contiguous = elements.type->contiguous;
    const void *data = buf;
    if (!contiguous || mode == EK_BUFFERED) {
        if (!(t->packed = malloc(elements.bytes + 1)))
            return MPI_ERR_NO_MEM;
        if (!contiguous && ek_pack(buf, count, &elements.type->layout, t->packed)) {
            drop(t);
            return EK_DECLINED; /* the host reports what is wrong */
        }
        if (contiguous && elements.bytes)
            memcpy(t->packed, buf, elements.bytes);
        data = t->packed;
    } else if (!buf && elements.bytes) {
        return EK_DECLINED;
    }
    t->message = ek_message_send(e->engine, dest, tag, mode == EK_SYNCHRONOUS, data, elements.bytes);
    if (!t->message && t->packed)
        drop(t);
    return MPI_SUCCESS;
}

int ek_transfer_send(ek_transfer *t, const ek_comm_entry *e, const void *buf, MPI_Count count,
                     MPI_Datatype type, int dest, int tag, ek_send_mode mode)
{
    size_t bytes;
    *t = (ek_transfer){0};
    if (!ek_message_rank_is_valid(e, dest, false) || !ek_message_tag_is_valid(tag, false))
        return EK_DECLINED;
    if (EK_LIKELY(mode != EK_BUFFERED && is_plain(buf, count, type, &bytes))) {
        t->message = ek_message_send(e->engine, dest, tag, mode == EK_SYNCHRONOUS, buf, bytes);
        return MPI_SUCCESS;
    }
    return send_copy(t, e, buf, count, type, dest, tag, mode);
}

/* Finds out where the data are to be received: in the program's buffer, or to be unpacked. */
static int prepare_receive(ek_transfer *t, void *buf, MPI_Count count, MPI_Datatype type, void **place,
                           size_t *bytes)
{
    ek_elements elements;
    if (!ek_elements_measure(&elements, count, type) || (elements.type->contiguous && !buf && elements.bytes))
        return EK_DECLINED;
    const ek_layout *layout = &elements.type->layout;
    t->buffer = buf;
    t->count = count;
    t->size = layout->size;
    t->extent = layout->extent;
    *place = buf;
    *bytes = elements.bytes;
    if (elements.type->contiguous || !elements.bytes)
        return MPI_SUCCESS;
    if (!(t->packed = malloc(elements.bytes)))
        return MPI_ERR_NO_MEM;
    /* The program may free the type while the receive is under way. */
    if (layout->map) {
        ek_type_map_hold(t->layout.map = layout->map);
        t->holds_map = true;
    } else if (elements.type->predefined) {
        t->layout.type = type;
    } else if (!(t->owns_type = !ek_host.Type_dup(type, &t->layout.type))) {
        drop(t);
        return MPI_ERR_TYPE;
    }
    *place = t->packed;
    return MPI_SUCCESS;
}

int ek_transfer_receive(ek_transfer *t, const ek_comm_entry *e, void *buf, MPI_Count count, MPI_Datatype type,
                        int source, int tag)
{
    size_t bytes;
    void *place = buf;
    *t = (ek_transfer){0};
    if (!ek_message_rank_is_valid(e, source, true) || !ek_message_tag_is_valid(tag, true))
        return EK_DECLINED;
    if (EK_LIKELY(is_plain(buf, count, type, &bytes))) {
        t->buffer = buf;
        t->count = count;
        t->size = plain.layout.size;
        t->extent = plain.layout.extent;
    } else {
        int code = prepare_receive(t, buf, count, type, &place, &bytes);
        if (code)
            return code;
    }
    t->message = ek_message_receive(e->engine, ek_engine_source(source), ek_engine_tag(tag), place, bytes);
    return MPI_SUCCESS;
}

int ek_transfer_receive_matched(ek_transfer *t, const ek_comm_entry *e, void *buf, MPI_Count count,
                                MPI_Datatype type, void *matched)
{
    size_t bytes;
    void *place;
    *t = (ek_transfer){0};
    int code = prepare_receive(t, buf, count, type, &place, &bytes);
    if (!code)
        t->message = ek_message_receive_matched(e->engine, matched, place, bytes);
    return code;
}

/* ---- finishing ---- */

/* Fewer bytes may have come than the buffer holds, and they may end within an element. */
static int unpack(const ek_transfer *t, size_t bytes)
{
    if (t->holds_map) {
        ek_type_map_unpack(t->layout.map, t->packed, bytes, t->buffer, (size_t)t->count, 0);
        return MPI_SUCCESS;
    }
    const ek_layout of_host = {.type = t->layout.type, .size = t->size, .extent = t->extent};
    const ek_layout *layout = &of_host;
    MPI_Count whole = (MPI_Count)bytes / layout->size;
    size_t rest = bytes % (size_t)layout->size;
    int code = ek_unpack(t->packed, whole, layout, t->buffer);
    if (code || !rest)
        return code;
    char *element = malloc((size_t)layout->size), *place = (char *)t->buffer + whole * layout->extent;
    if (!element)
        return MPI_ERR_NO_MEM;
    code = ek_pack(place, 1, layout, element);
    if (!code) {
        memcpy(element, t->packed + whole * layout->size, rest);
        code = ek_unpack(element, 1, layout, place);
    }
    free(element);
    return code;
}

static size_t capacity(const ek_transfer *t) { return (size_t)(t->count * t->size); }

int ek_transfer_get_status(const ek_transfer *t, MPI_Status *status)
{
    const ek_message *m = t->message;
    if (!m || m->source < 0)
        ek_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, m && m->cancelled);
    else
        ek_status_set(status, m->source, m->tag, m->truncated ? capacity(t) : m->bytes, m->cancelled);
    return m && m->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static void set_final_status(const ek_transfer *t, MPI_Status *status)
{
    const ek_message *m = t->message;
    if (status == MPI_STATUS_IGNORE)
        return;
    if (!m) {
        ek_status_set_empty(status);
        return;
    }
    bool known = m->source >= 0;
    size_t bytes = m->cancelled ? 0 : m->truncated ? capacity(t) : m->bytes;
    ek_status_set(status, known ? m->source : MPI_ANY_SOURCE, known ? m->tag : MPI_ANY_TAG, bytes,
                  m->cancelled);
}

int ek_transfer_finish(ek_transfer *t, MPI_Status *status)
{
    ek_message *m = t->message;
    if (EK_LIKELY(m && !t->packed && !m->truncated && status == MPI_STATUS_IGNORE)) {
        t->message = NULL;
        ek_message_free(m);
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    bool is_packed_receive = t->size && t->packed; /* its buffer may be MPI_BOTTOM */
    if (m && is_packed_receive && !m->cancelled)
        code = unpack(t, m->bytes < capacity(t) ? m->bytes : capacity(t));
    if (m && m->truncated)
        code = MPI_ERR_TRUNCATE;
    set_final_status(t, status);
    ek_transfer_cancel(t);
    return code;
}

void ek_transfer_cancel(ek_transfer *t)
{
    if (t->message && !t->message->done)
        ek_message_cancel(t->message); /* or its message would be written to memory that is used otherwise */
    if (t->message)
        ek_message_free(t->message);
    drop(t);
}
