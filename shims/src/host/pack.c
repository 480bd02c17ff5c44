/* Elements with holes, in odd order or at absolute addresses: the host turns them into bytes and back. */
#include "shim.h"

#ifndef EK_HAS_Pack_c
/* The host's MPI_Pack counts in int: a long vector goes through in parts. Elements of more than 2 GiB cannot.
 */
static MPI_Count at_a_time(MPI_Count size) { return size > INT_MAX ? 0 : INT_MAX / (size ? size : 1); }
#endif

/* MPICH's MPI_Pack and MPI_Unpack refuse MPI_BOTTOM, which is a null pointer there. So absolute addresses are
 * made relative to a place that is not null: `anchor`. `type` becomes one of the program's `count` elements;
 * the caller frees it. */
static char anchor;

static int anchored(MPI_Count count, MPI_Datatype *type)
{
    int length = (int)count;
    MPI_Aint displacement = -(MPI_Aint)(uintptr_t)&anchor;
    MPI_Datatype moved;
    if (count > INT_MAX)
        return MPI_ERR_COUNT;
    int code = ek_host.Type_create_hindexed(1, &length, &displacement, *type, &moved);
    if (!code && (code = ek_host.Type_commit(&moved)))
        ek_host.Type_free(&moved);
    if (!code)
        *type = moved;
    return code;
}

int ek_pack(const void *from, MPI_Count count, MPI_Datatype type, const ek_type *t, char *to)
{
    if (count == 0 || t->size == 0)
        return MPI_SUCCESS;
    if (!from) {
        const ek_type whole = {.size = count * t->size};
        int code = anchored(count, &type);
        if (!code) {
            code = ek_pack(&anchor, 1, type, &whole, to);
            ek_host.Type_free(&type);
        }
        return code;
    }
#ifdef EK_HAS_Pack_c
    MPI_Count position = 0;
    int code = ek_host.Pack_c(from, count, type, to, count * t->size, &position, ek_handles.self);
    return code ? code : position == count * t->size ? MPI_SUCCESS : MPI_ERR_TYPE;
#else
    MPI_Count step = at_a_time(t->size);
    if (!step)
        return MPI_ERR_TYPE;
    for (MPI_Count done = 0; done < count; done += step) {
        int n = (int)(count - done < step ? count - done : step), bytes = n * (int)t->size, position = 0;
        int code = ek_host.Pack((const char *)from + done * t->extent, n, type, to + done * t->size, bytes,
                                &position, ek_handles.self);
        if (code || position != bytes)
            return code ? code : MPI_ERR_TYPE;
    }
    return MPI_SUCCESS;
#endif
}

int ek_unpack(const char *from, MPI_Count count, MPI_Datatype type, MPI_Count size, MPI_Count extent,
              void *to)
{
    if (count == 0 || size == 0)
        return MPI_SUCCESS;
    if (!to) {
        int code = anchored(count, &type);
        if (!code) {
            code = ek_unpack(from, 1, type, count * size, 0, &anchor);
            ek_host.Type_free(&type);
        }
        return code;
    }
#ifdef EK_HAS_Pack_c
    (void)extent;
    MPI_Count position = 0;
    return ek_host.Unpack_c(from, count * size, &position, to, count, type, ek_handles.self);
#else
    MPI_Count step = at_a_time(size);
    if (!step)
        return MPI_ERR_TYPE;
    for (MPI_Count done = 0; done < count; done += step) {
        int n = (int)(count - done < step ? count - done : step), position = 0;
        int code = ek_host.Unpack(from + done * size, n * (int)size, &position, (char *)to + done * extent, n,
                                  type, ek_handles.self);
        if (code)
            return code;
    }
    return MPI_SUCCESS;
#endif
}

static void reduce_local(const ek_fold *f, const void *in, void *inout, size_t count)
{
#ifdef EK_HAS_Pack_c
    ek_host.Reduce_local_c(in, inout, (MPI_Count)count, f->type, f->op);
#else
    const size_t step = 1 << 30;
    for (size_t done = 0; done < count; done += step) {
        size_t n = count - done < step ? count - done : step, at = done * (size_t)f->extent;
        ek_host.Reduce_local((const char *)in + at, (char *)inout + at, (int)n, f->type, f->op);
    }
#endif
}

void ek_fold_laid_out(void *context, const void *in, void *inout, size_t count)
{
    const ek_fold *f = context;
    size_t unit = (size_t)f->extent;
    if (unit % 16 || (((uintptr_t)in | (uintptr_t)inout) & 15) == 0) {
        reduce_local(f, in, inout, count);
        return;
    }
    /* The engine's deposits are aligned to 8 bytes; compilers take it that a long double is aligned to 16. */
    _Alignas(16) char few_in[2048], few_inout[2048];
    char *many = unit > sizeof few_in ? aligned_alloc(16, 2 * unit) : NULL;
    char *x = many ? many : few_in, *y = many ? many + unit : few_inout;
    size_t at_once = many ? 1 : sizeof few_in / unit;
    if (!at_once) {
        reduce_local(f, in, inout, count); /* no memory */
        return;
    }
    for (size_t done = 0; done < count; done += at_once) {
        size_t n = count - done < at_once ? count - done : at_once, at = done * unit;
        memcpy(x, (const char *)in + at, n * unit);
        memcpy(y, (char *)inout + at, n * unit);
        reduce_local(f, x, y, n);
        memcpy((char *)inout + at, y, n * unit);
    }
    free(many);
}

/* The program's function wants elements as it declared them: lay them out, apply it, pack the result. A few
 * at a time, so that memory stays bounded. An element reaches from its lower bound on, which may be negative,
 * and past its extent. */
void ek_fold_packed(void *context, const void *in, void *inout, size_t count)
{
    const ek_fold *f = context;
    const ek_type t = {.size = f->size, .extent = f->extent};
    MPI_Count span = f->high - f->low, stride = f->extent < 0 ? -f->extent : f->extent;
    size_t few = 1 + (size_t)(65536 / (stride + span + 1));
    if (few > count)
        few = count;
    size_t room = (few * (size_t)stride + (size_t)span + 47) & ~(size_t)15;
    char *a = calloc(2, room);
    if (!a) {
        ek_note("no memory to combine elements of a derived datatype; results of a reduction are incomplete");
        return;
    }
    /* What MPI calls the buffer's address: element 0 begins `low` bytes after it. As aligned as the
     * allocation. */
    MPI_Count shift = ((f->extent < 0 ? (MPI_Count)(few - 1) * stride : 0) - f->low + 15) & ~(MPI_Count)15;
    char *x = a + shift, *y = a + room + shift;
    for (size_t done = 0; done < count; done += few) {
        size_t n = count - done < few ? count - done : few, at = done * (size_t)f->size;
        ek_unpack((const char *)in + at, (MPI_Count)n, f->type, f->size, f->extent, x);
        ek_unpack((char *)inout + at, (MPI_Count)n, f->type, f->size, f->extent, y);
        ek_host.Reduce_local(x, y, (int)n, f->type, f->op);
        ek_pack(y, (MPI_Count)n, f->type, &t, (char *)inout + at);
    }
    free(a);
}
