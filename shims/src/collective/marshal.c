#include "collective/marshal.h"
#include "host/pack.h"
#include <stdlib.h>

void ek_marshal_begin(ek_marshal *m, ek_comm_entry *entry, const ek_arguments *a)
{
    m->call = (ek_call){.kind = a->kind, .root = a->root};
    m->entry = entry;
    m->arguments = a;
    m->materialize = NULL;
    m->failure = MPI_SUCCESS;
    m->unpackings = &m->one_unpacking;
    m->unpackings_used = m->allocations_used = 0;
}

int ek_marshal_end(ek_marshal *m)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < m->unpackings_used; i++) {
        const ek_unpacking *u = &m->unpackings[i];
        if (u->laid_out ? ek_copy_elements(u->bytes, u->count, &u->layout, u->elements)
                        : ek_unpack(u->bytes, u->count, &u->layout, u->elements))
            code = MPI_ERR_TYPE;
    }
    while (m->allocations_used)
        free(m->allocations[--m->allocations_used]);
    return code;
}

void ek_marshal_discard(ek_marshal *m)
{
    m->unpackings_used = 0;
    ek_marshal_end(m);
}

int ek_marshal_materialize(ek_marshal *m)
{
    if (m->materialize)
        m->failure = m->materialize(m);
    return m->failure;
}

static int materialize(ek_call *call) { return ek_marshal_materialize(call->materialize_context); }

int ek_marshal_data(ek_marshal *m, bool contiguous, ek_marshal_step *step)
{
    if (contiguous)
        return step(m);
    m->materialize = step;
    m->call.materialize = materialize;
    m->call.materialize_context = m;
    return MPI_SUCCESS;
}

void *ek_marshal_allocate(ek_marshal *m, size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory)
        m->allocations[m->allocations_used++] = memory;
    return memory;
}

/* A null pointer is an error of the program or MPI_BOTTOM. The host knows which, so the call is left to
 * it. */
static int check_buffer(const ek_elements *elements, const void *buffer, MPI_Count count)
{
    return buffer || !count || !elements->type->layout.size ? MPI_SUCCESS : EK_DECLINED;
}

int ek_marshal_send(ek_marshal *m, const ek_elements *elements, const void *buffer, MPI_Count count,
                    char *place, const uint8_t **bytes)
{
    const ek_layout *layout = &elements->type->layout;
    if (elements->type->contiguous) {
        *bytes = buffer;
        return check_buffer(elements, buffer, count);
    }
    if (!place && !(place = ek_marshal_allocate(m, (size_t)(count * layout->size))))
        return MPI_ERR_NO_MEM;
    *bytes = (const uint8_t *)place;
    return ek_pack(buffer, count, layout, place) ? MPI_ERR_TYPE : MPI_SUCCESS;
}

int ek_marshal_receive(ek_marshal *m, const ek_elements *elements, void *buffer, MPI_Count count,
                       uint8_t **bytes)
{
    if (elements->type->contiguous) {
        *bytes = buffer;
        return check_buffer(elements, buffer, count);
    }
    void *place = ek_marshal_allocate(m, (size_t)(count * elements->type->layout.size));
    if (!place)
        return MPI_ERR_NO_MEM;
    ek_marshal_unpack_later(m, elements, buffer, count, place);
    *bytes = place;
    return MPI_SUCCESS;
}

void ek_marshal_unpack_later(ek_marshal *m, const ek_elements *elements, void *buffer, MPI_Count count,
                             const void *bytes)
{
    m->unpackings[m->unpackings_used++] =
        (ek_unpacking){.bytes = bytes, .elements = buffer, .count = count, .layout = elements->type->layout};
}
