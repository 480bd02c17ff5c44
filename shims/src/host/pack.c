#include "host/pack.h"
#include <limits.h>

/* MPICH's MPI_Pack and MPI_Unpack refuse MPI_BOTTOM, which is a null pointer there. So absolute addresses are
 * made relative to an address that is not null: that of `anchor`. */
static char anchor;

/* One type for `count` elements at absolute addresses, relative to the anchor. The caller frees it. */
static int anchored(MPI_Count count, const ek_layout *layout, ek_layout *all)
{
    int length = (int)count;
    MPI_Aint displacement = -(MPI_Aint)(uintptr_t)&anchor;
    if (count > INT_MAX)
        return MPI_ERR_COUNT;
    int code = ek_host.Type_create_hindexed(1, &length, &displacement, layout->type, &all->type);
    if (!code && (code = ek_host.Type_commit(&all->type)))
        ek_host.Type_free(&all->type);
    all->size = count * layout->size;
    all->extent = 0;
    return code;
}

#ifdef EK_HAS_Pack_c

static int pack(const void *elements, MPI_Count count, const ek_layout *layout, char *bytes)
{
    MPI_Count length = count * layout->size, position = 0;
    int code = ek_host.Pack_c(elements, count, layout->type, bytes, length, &position, ek_handles.self);
    return code ? code : position == length ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static int unpack(const char *bytes, MPI_Count count, const ek_layout *layout, void *elements)
{
    MPI_Count position = 0;
    return ek_host.Unpack_c(bytes, count * layout->size, &position, elements, count, layout->type,
                            ek_handles.self);
}

#else

/* The host's MPI_Pack counts in int: a long vector is packed in parts. Elements of more than 2 GiB cannot
 * be. */
static MPI_Count elements_at_once(const ek_layout *layout)
{
    return layout->size > INT_MAX ? 0 : INT_MAX / (layout->size ? layout->size : 1);
}

static int pack(const void *elements, MPI_Count count, const ek_layout *layout, char *bytes)
{
    MPI_Count step = elements_at_once(layout);
    if (!step)
        return MPI_ERR_TYPE;
    for (MPI_Count done = 0; done < count; done += step) {
        int n = (int)(count - done < step ? count - done : step);
        int length = n * (int)layout->size, position = 0;
        int code = ek_host.Pack((const char *)elements + done * layout->extent, n, layout->type,
                                bytes + done * layout->size, length, &position, ek_handles.self);
        if (code || position != length)
            return code ? code : MPI_ERR_TYPE;
    }
    return MPI_SUCCESS;
}

static int unpack(const char *bytes, MPI_Count count, const ek_layout *layout, void *elements)
{
    MPI_Count step = elements_at_once(layout);
    if (!step)
        return MPI_ERR_TYPE;
    for (MPI_Count done = 0; done < count; done += step) {
        int n = (int)(count - done < step ? count - done : step), position = 0;
        int code = ek_host.Unpack(bytes + done * layout->size, n * (int)layout->size, &position,
                                  (char *)elements + done * layout->extent, n, layout->type, ek_handles.self);
        if (code)
            return code;
    }
    return MPI_SUCCESS;
}

#endif

int ek_pack(const void *elements, MPI_Count count, const ek_layout *layout, char *bytes)
{
    if (count == 0 || layout->size == 0)
        return MPI_SUCCESS;
    if (layout->map) {
        ek_type_map_pack(layout->map, elements, (size_t)count, 0, bytes, (size_t)(count * layout->size));
        return MPI_SUCCESS;
    }
    if (elements)
        return pack(elements, count, layout, bytes);
    ek_layout all;
    int code = anchored(count, layout, &all);
    if (!code) {
        code = pack(&anchor, 1, &all, bytes);
        ek_host.Type_free(&all.type);
    }
    return code;
}

int ek_unpack(const char *bytes, MPI_Count count, const ek_layout *layout, void *elements)
{
    if (count == 0 || layout->size == 0)
        return MPI_SUCCESS;
    if (layout->map) {
        ek_type_map_unpack(layout->map, bytes, (size_t)(count * layout->size), elements, (size_t)count, 0);
        return MPI_SUCCESS;
    }
    if (elements)
        return unpack(bytes, count, layout, elements);
    ek_layout all;
    int code = anchored(count, layout, &all);
    if (!code) {
        code = unpack(bytes, 1, &all, &anchor);
        ek_host.Type_free(&all.type);
    }
    return code;
}

int ek_copy_elements(const void *from, MPI_Count count, const ek_layout *layout, void *to)
{
    char packed[1024];
    MPI_Count at_once = layout->size ? (MPI_Count)sizeof packed / layout->size : 0;
    if (!at_once) /* no predefined type is so large */
        return count && layout->size ? MPI_ERR_TYPE : MPI_SUCCESS;
    for (MPI_Count done = 0; done < count; done += at_once) {
        MPI_Count n = count - done < at_once ? count - done : at_once;
        int code = ek_pack((const char *)from + done * layout->extent, n, layout, packed);
        if (!code)
            code = ek_unpack(packed, n, layout, (char *)to + done * layout->extent);
        if (code)
            return code;
    }
    return MPI_SUCCESS;
}
