#include "host/reduce_local.h"
#include "host/pack.h"
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 16,           /* what compilers assume of a long double */
    STACK_BYTES = 2048,       /* for a copy on the stack */
    UNPACKED_BYTES = 1 << 16, /* about so much is laid out at once */
};

static void reduce(const ek_host_operator *o, const void *in, void *inout, size_t count)
{
#ifdef EK_HAS_Pack_c
    ek_host.Reduce_local_c(in, inout, (MPI_Count)count, o->layout.type, o->op);
#else
    const size_t step = 1 << 30;
    for (size_t done = 0; done < count; done += step) {
        size_t n = count - done < step ? count - done : step, at = done * (size_t)o->layout.extent;
        ek_host.Reduce_local((const char *)in + at, (char *)inout + at, (int)n, o->layout.type, o->op);
    }
#endif
}

void ek_reduce_laid_out(void *host_operator, const void *in, void *inout, size_t count)
{
    const ek_host_operator *o = host_operator;
    size_t unit = (size_t)o->layout.extent;
    if (unit % ALIGNMENT || (((uintptr_t)in | (uintptr_t)inout) & (ALIGNMENT - 1)) == 0) {
        reduce(o, in, inout, count);
        return;
    }
    /* The engine's buffers are aligned to 8 bytes: elements that need more are copied. */
    _Alignas(ALIGNMENT) char few_in[STACK_BYTES], few_inout[STACK_BYTES];
    char *many = unit > sizeof few_in ? aligned_alloc(ALIGNMENT, 2 * unit) : NULL;
    char *x = many ? many : few_in, *y = many ? many + unit : few_inout;
    size_t at_once = many ? 1 : sizeof few_in / unit;
    if (!at_once) {
        reduce(o, in, inout, count); /* no memory */
        return;
    }
    for (size_t done = 0; done < count; done += at_once) {
        size_t n = count - done < at_once ? count - done : at_once, at = done * unit;
        memcpy(x, (const char *)in + at, n * unit);
        memcpy(y, (char *)inout + at, n * unit);
        reduce(o, x, y, n);
        memcpy((char *)inout + at, y, n * unit);
    }
    free(many);
}

/* The program's function wants elements as it declared them: they are laid out, combined and packed again. A
 * few at a time, so that memory stays bounded. An element reaches from its lower bound on, which may be
 * negative, and past its extent. */
void ek_reduce_packed(void *host_operator, const void *in, void *inout, size_t count)
{
    const ek_host_operator *o = host_operator;
    const ek_layout *layout = &o->layout;
    MPI_Count span = o->high - o->low, stride = layout->extent < 0 ? -layout->extent : layout->extent;
    size_t few = 1 + (size_t)(UNPACKED_BYTES / (stride + span + 1));
    if (few > count)
        few = count;
    size_t room = (few * (size_t)stride + (size_t)span + 47) & ~(size_t)(ALIGNMENT - 1);
    char *memory = calloc(2, room);
    if (!memory) {
        ek_note("no memory to combine elements of a derived datatype; results of a reduction are incomplete");
        return;
    }
    /* What MPI calls the buffer's address: element 0 begins `low` bytes after it. As aligned as the
     * allocation. */
    MPI_Count shift = ((layout->extent < 0 ? (MPI_Count)(few - 1) * stride : 0) - o->low + ALIGNMENT - 1) &
                      ~(MPI_Count)(ALIGNMENT - 1);
    char *x = memory + shift, *y = memory + room + shift;
    for (size_t done = 0; done < count; done += few) {
        size_t n = count - done < few ? count - done : few, at = done * (size_t)layout->size;
        ek_unpack((const char *)in + at, (MPI_Count)n, layout, x);
        ek_unpack((char *)inout + at, (MPI_Count)n, layout, y);
        ek_host.Reduce_local(x, y, (int)n, layout->type, o->op);
        ek_pack(y, (MPI_Count)n, layout, (char *)inout + at);
    }
    free(memory);
}
