/* Messages of random datatypes between ranks 0 and 1, byte by byte against the library's MPI_Pack and
 * MPI_Unpack.
 *
 *   random_layouts [types=1000] [seed=1] [truncate=1] [elements=1]
 *
 * truncate=0: no message is too large for its receive, as Open MPI 4 by itself may then write into holes.
 *
 * elements=0: MPI_Get_elements is not called. It ends programs for some types under MPICH 4.
 *
 * Both ranks make the same types and the same data, so the receiver knows what must come. Types are freed
 * while messages of theirs are under way, and their handles are used again. */
#include "check.h"

enum { MOST_BYTES = 60000, DEEPEST = 4, TAG = 3 };

typedef struct base_type {
    MPI_Datatype type;
    int bytes;
} base_type;

typedef struct memory {
    unsigned char *block, *start; /* where displacement 0 of the first element is */
    size_t bytes;
} memory;

typedef struct layout {
    MPI_Datatype type;
    int count, size, base_bytes;
    MPI_Aint extent, low, high; /* of all elements */
    int overlaps;
} layout;

static uint64_t checks;
static int asks_for_elements;

/* ---- random types ---- */

static base_type random_base(rng *r)
{
    const base_type all[] = {{MPI_BYTE, 1},
                             {MPI_SHORT, 2},
                             {MPI_INT, 4},
                             {MPI_DOUBLE, 8},
                             {MPI_INT, 4},
                             {MPI_CHAR, 1},
                             {MPI_C_DOUBLE_COMPLEX, 16}};
    return all[below(r, 7)];
}

static MPI_Datatype make(rng *r, MPI_Datatype base, int depth);

static MPI_Datatype make_struct(rng *r, MPI_Datatype base, int depth)
{
    int n = 1 + below(r, 4), lengths[4];
    MPI_Aint displacements[4], at = below(r, 3) * 8;
    MPI_Datatype inner[4], made;
    for (int i = 0; i < n; i++) {
        MPI_Aint lower, extent;
        inner[i] = make(r, base, depth - 1);
        lengths[i] = below(r, 4);
        MPI_Type_get_true_extent(inner[i], &lower, &extent);
        displacements[i] = at - lower;
        MPI_Aint step;
        MPI_Type_get_extent(inner[i], &lower, &step);
        at += extent + (step < 0 ? -step : step) * lengths[i] + below(r, 3) * 8;
    }
    MPI_Type_create_struct(n, lengths, displacements, inner, &made);
    for (int i = 0; i < n; i++)
        MPI_Type_free(&inner[i]);
    return made;
}

static MPI_Datatype make_array(rng *r, MPI_Datatype inner)
{
    int sizes[3], parts[3], starts[3], kinds[3], arguments[3], grid[3];
    int n = 1 + below(r, 3), order = one_in(r, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, is_darray = one_in(r, 3);
    int processes = 1, size;
    MPI_Datatype made;
    MPI_Type_size(inner, &size);
    if (size == 0) { /* Open MPI 4 refuses some arrays of nothing */
        MPI_Type_dup(inner, &made);
        return made;
    }
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(r, 6);
        parts[i] = 1 + below(r, sizes[i]);
        starts[i] = below(r, sizes[i] - parts[i] + 1);
        const int any[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
        kinds[i] = any[below(r, 3)];
        grid[i] = kinds[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(r, 2);
        arguments[i] = kinds[i] == MPI_DISTRIBUTE_CYCLIC && sizes[i] > 3 && one_in(r, 2)
                           ? 1 + below(r, 2)
                           : MPI_DISTRIBUTE_DFLT_DARG;
        if (sizes[i] < grid[i]) /* Open MPI 4 refuses parts without elements */
            grid[i] = 1;
        processes *= grid[i];
    }
    if (is_darray)
        MPI_Type_create_darray(processes, below(r, processes), n, sizes, kinds, arguments, grid, order, inner,
                               &made);
    else
        MPI_Type_create_subarray(n, sizes, parts, starts, order, inner, &made);
    return made;
}

static MPI_Datatype make_indexed(rng *r, MPI_Datatype inner, MPI_Aint extent, int kind)
{
    int n = 1 + below(r, 12), lengths[12], places[12], at = below(r, 3), length = 1 + below(r, 3);
    MPI_Aint displacements[12];
    MPI_Datatype made;
    if (extent < 0)
        extent = -extent;
    for (int i = 0; i < n; i++) {
        lengths[i] = kind < 2 ? below(r, 4) : length;
        places[i] = at;
        displacements[i] = (MPI_Aint)at * (extent ? extent : 8);
        at += lengths[i] + below(r, 3);
    }
    if (one_in(r, 3)) /* in descending order */
        for (int i = 0; i < n / 2; i++) {
            int l = lengths[i], p = places[i];
            MPI_Aint d = displacements[i];
            lengths[i] = lengths[n - 1 - i], places[i] = places[n - 1 - i];
            displacements[i] = displacements[n - 1 - i];
            lengths[n - 1 - i] = l, places[n - 1 - i] = p, displacements[n - 1 - i] = d;
        }
    switch (kind) {
    case 0: MPI_Type_indexed(n, lengths, places, inner, &made); break;
    case 1: MPI_Type_create_hindexed(n, lengths, displacements, inner, &made); break;
    case 2: MPI_Type_create_indexed_block(n, length, places, inner, &made); break;
    default: MPI_Type_create_hindexed_block(n, length, displacements, inner, &made);
    }
    return made;
}

static MPI_Datatype make(rng *r, MPI_Datatype base, int depth)
{
    MPI_Datatype inner, made;
    MPI_Aint lower, extent, true_lower, true_extent;
    if (depth == 0) {
        MPI_Type_contiguous(1 + below(r, 3), base, &made);
        return made;
    }
    int kind = below(r, 11);
    if (kind == 0)
        return make_struct(r, base, depth);
    inner = make(r, base, depth - 1);
    MPI_Type_get_extent(inner, &lower, &extent);
    MPI_Type_get_true_extent(inner, &true_lower, &true_extent);
    int blocks = 1 + below(r, 9), length = 1 + below(r, 3);
    switch (kind) {
    case 1: MPI_Type_contiguous(below(r, 5), inner, &made); break;
    case 2:
        MPI_Type_vector(blocks, length, (length + below(r, 3)) * (one_in(r, 3) ? -1 : 1), inner, &made);
        break;
    case 3: MPI_Type_create_hvector(blocks, length, length * extent + below(r, 4) * 8, inner, &made); break;
    case 4:
        MPI_Type_create_resized(inner, one_in(r, 3) ? -8 : 0, true_lower + true_extent + below(r, 4) * 8,
                                &made);
        break;
    case 5: MPI_Type_dup(inner, &made); break;
    case 6: made = make_array(r, inner); break;
    default: made = make_indexed(r, inner, extent, kind - 7);
    }
    MPI_Type_free(&inner);
    return made;
}

/* ---- data ---- */

static memory allocate(const layout *l, uint64_t seed)
{
    enum { GUARD = 1 << 14 }; /* Open MPI 4 gives wrong bounds for some types */
    memory m;
    m.bytes = (size_t)(l->high - l->low) + 2 * GUARD;
    m.block = malloc(m.bytes);
    m.start = m.block + GUARD - l->low;
    for (size_t i = 0; i < m.bytes; i++)
        m.block[i] = (unsigned char)((seed + i) * 0x9fb21c651e98df25u >> 40);
    return m;
}

static void pack(const layout *l, const memory *m, unsigned char *to)
{
    int position = 0;
    if (l->size)
        EXPECT_OK(MPI_Pack(m->start, l->count, l->type, to, l->size, &position, MPI_COMM_SELF));
}

static void unpack(const layout *l, unsigned char *from, const memory *m)
{
    int position = 0;
    if (l->size)
        EXPECT_OK(MPI_Unpack(from, l->size, &position, m->start, l->count, l->type, MPI_COMM_SELF));
}

static int has_overlaps(const layout *l)
{
    memory m = allocate(l, 1);
    unsigned char *ones = malloc((size_t)l->size + 1);
    memset(m.block, 0, m.bytes);
    memset(ones, 1, (size_t)l->size);
    unpack(l, ones, &m);
    size_t sum = 0;
    for (size_t i = 0; i < m.bytes; i++)
        sum += m.block[i];
    free(m.block);
    free(ones);
    return sum != (size_t)l->size;
}

/* A committed type; false if it is of no use. */
static int random_layout(rng *r, base_type base, layout *l)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    l->type = make(r, base.type, 1 + below(r, DEEPEST));
    l->count = one_in(r, 3) ? 1 : 1 + below(r, 6);
    l->base_bytes = base.bytes;
    MPI_Type_commit(&l->type);
    MPI_Type_size(l->type, &l->size);
    MPI_Type_get_extent(l->type, &lower, &extent);
    MPI_Type_get_true_extent(l->type, &true_lower, &true_extent);
    l->extent = extent;
    MPI_Aint last = (l->count - 1) * extent;
    l->low = true_lower + (last < 0 ? last : 0);
    l->high = true_lower + true_extent + (last > 0 ? last : 0);
    l->size *= l->count;
    if (!l->size || l->size > MOST_BYTES || l->high - l->low > 4 * MOST_BYTES) {
        MPI_Type_free(&l->type);
        return 0;
    }
    l->overlaps = has_overlaps(l);
    return 1;
}

/* ---- messages ---- */

/* The type is freed, and another one that may get its handle is used, while the message is under way. */
static void reuse_handle(layout *l)
{
    MPI_Datatype other;
    char three[24] = {0};
    MPI_Type_free(&l->type);
    MPI_Type_vector(3, 1, 2, MPI_INT, &other);
    MPI_Type_commit(&other);
    MPI_Sendrecv_replace(three, 1, other, 0, 9, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Type_free(&other);
}

enum { WAYS = 7 };

static void send(rng *r, layout *l, const memory *m, int way)
{
    MPI_Request request;
    switch (way) {
    case 0: EXPECT_OK(MPI_Send(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD)); return;
    case 1: EXPECT_OK(MPI_Ssend(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD)); return;
    case 2: EXPECT_OK(MPI_Bsend(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD)); return;
    case 3: EXPECT_OK(MPI_Send_init(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD, &request)); break;
    case 4: EXPECT_OK(MPI_Issend(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD, &request)); break;
    default: EXPECT_OK(MPI_Isend(m->start, l->count, l->type, 1, TAG, MPI_COMM_WORLD, &request));
    }
    if (one_in(r, 2) && way != 3) { /* MPICH 4 does not keep the type of a persistent request */
        reuse_handle(l);
        l->type = MPI_DATATYPE_NULL;
    }
    if (way == 3)
        EXPECT_OK(MPI_Start(&request));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (way == 3)
        MPI_Request_free(&request);
}

static void receive(rng *r, layout *l, const memory *m, int way, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;
    if (way == 0) {
        EXPECT_OK(MPI_Recv(m->start, l->count, l->type, 0, TAG, MPI_COMM_WORLD, status));
        return;
    }
    if (way == 1) {
        EXPECT_OK(MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        EXPECT_OK(MPI_Mrecv(m->start, l->count, l->type, &message, status));
        return;
    }
    if (way == 2) { /* one that gets nothing comes first */
        EXPECT_OK(MPI_Irecv(m->start, l->count, l->type, 0, TAG + 1, MPI_COMM_WORLD, &request));
        MPI_Cancel(&request);
        EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (way == 3) {
        EXPECT_OK(MPI_Recv_init(m->start, l->count, l->type, 0, TAG, MPI_COMM_WORLD, &request));
        EXPECT_OK(MPI_Start(&request));
    } else {
        EXPECT_OK(MPI_Irecv(m->start, l->count, l->type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request));
        if (one_in(r, 2)) {
            reuse_handle(l);
            l->type = MPI_DATATYPE_NULL;
        }
    }
    EXPECT_OK(MPI_Wait(&request, status));
    if (way == 3)
        MPI_Request_free(&request);
}

/* What memory must be when so many of these bytes have come. */
static void expect(const layout *l, const memory *m, const unsigned char *bytes, int count)
{
    unsigned char *all = malloc((size_t)l->size + 1);
    pack(l, m, all);
    memcpy(all, bytes, (size_t)count);
    unpack(l, all, m);
    free(all);
}

/* From one layout to another. The message may be smaller than the place for it. */
static void exchange(rng *r, uint64_t seed, layout *from, layout *to, const char *what)
{
    int send_way = below(r, WAYS), receive_way = below(r, WAYS);
    rng senders = {draw(r)}, receivers = {draw(r)};
    memory source = allocate(from, seed);
    if (world_rank == 0) {
        send(&senders, from, &source, send_way);
    } else {
        memory place = allocate(to, seed + 1), right = allocate(to, seed + 1);
        unsigned char *bytes = malloc((size_t)from->size + 1);
        MPI_Status status;
        int elements = -1, all = -1;
        pack(from, &source, bytes);
        expect(to, &right, bytes, from->size);
        layout kept = *to;
        MPI_Datatype copy;
        MPI_Type_dup(to->type, &copy);
        receive(&receivers, to, &place, receive_way, &status);
        MPI_Get_count(&status, MPI_BYTE, &all);
        CHECK(all == from->size, "%s: %d bytes of %d", what, all, from->size);
        /* MPICH 4 counts some types wrongly: what it says of so many bytes is right here, too. */
        MPI_Status same;
        int by_library;
        memset(&same, 0, sizeof same);
        MPI_Status_set_elements(&same, MPI_BYTE, from->size);
        by_library = from->size / kept.base_bytes;
        if (asks_for_elements)
            MPI_Get_elements(&same, copy, &by_library);
        elements = by_library;
        if (asks_for_elements)
            MPI_Get_elements(&status, copy, &elements);
        CHECK(elements == from->size / kept.base_bytes || elements == by_library,
              "%s: %d elements of %d bytes in %d", what, elements, kept.base_bytes, from->size);
        MPI_Type_free(&copy);
        CHECK(!memcmp(place.block, right.block, place.bytes),
              "%s: other bytes after %d of %d bytes (extent %ld, ways %d %d, seed %llu)", what, from->size,
              kept.size, (long)kept.extent, send_way, receive_way, (unsigned long long)seed);
        digest_bytes(place.block, place.bytes);
        free(place.block);
        free(right.block);
        free(bytes);
    }
    checks++;
    free(source.block);
}

/* A message that is too large: an error, and nothing but the elements is written. */
static void truncate_one(uint64_t seed, layout *l, MPI_Comm comm)
{
    memory place = allocate(l, seed), before = allocate(l, seed);
    int bytes = l->size + 1 + (int)(seed % 7);
    unsigned char *many = calloc(1, (size_t)bytes);
    if (world_rank == 0) {
        EXPECT_OK(MPI_Send(many, bytes, MPI_BYTE, 1, TAG, comm));
    } else {
        int class = MPI_SUCCESS,
            code = MPI_Recv(place.start, l->count, l->type, 0, TAG, comm, MPI_STATUS_IGNORE);
        if (code)
            MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_TRUNCATE, "a message of %d bytes for %d: class %d", bytes, l->size, class);
        expect(l, &place, many, l->size);
        expect(l, &before, many, l->size);
        CHECK(!memcmp(place.block, before.block, place.bytes), "a truncated message has written elsewhere");
    }
    checks++;
    free(place.block);
    free(before.block);
    free(many);
}

/* To oneself, by absolute addresses. */
static void send_to_self(uint64_t seed, layout *l)
{
    memory source = allocate(l, seed), place = allocate(l, seed + 1), right = allocate(l, seed + 1);
    unsigned char *bytes = malloc((size_t)l->size + 1);
    MPI_Datatype absolute;
    MPI_Aint address;
    MPI_Request request;
    pack(l, &source, bytes);
    expect(l, &right, bytes, l->size);
    MPI_Get_address(source.start, &address);
    MPI_Type_create_hindexed(1, &l->count, &address, l->type, &absolute);
    MPI_Type_commit(&absolute);
    EXPECT_OK(MPI_Irecv(place.start, l->count, l->type, world_rank, TAG, MPI_COMM_WORLD, &request));
    EXPECT_OK(MPI_Send(MPI_BOTTOM, 1, absolute, world_rank, TAG, MPI_COMM_WORLD));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(!memcmp(place.block, right.block, place.bytes), "other bytes from oneself (seed %llu)",
          (unsigned long long)seed);
    MPI_Type_free(&absolute);
    free(source.block);
    free(place.block);
    free(right.block);
    free(bytes);
    checks++;
}

int main(int argc, char **argv)
{
    static char attached[8 * MOST_BYTES];
    begin(&argc, &argv);
    MPI_Comm comm; /* on which errors are returned */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, sizeof attached);
    long types = number(argc, argv, "types", 1000);
    asks_for_elements = (int)number(argc, argv, "elements", 1);
    int truncates = (int)number(argc, argv, "truncate", 1);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    for (long i = 0; i < types && world_rank < 2; i++) {
        rng r = {mix3(seed, (uint64_t)i, 1)};
        base_type base = random_base(&r);
        layout a, b;
        while (!random_layout(&r, base, &a))
            ;
        while (!random_layout(&r, base, &b))
            ;
        layout bytes = {MPI_BYTE, a.size, a.size, 1, 1, 0, a.size, 0}, same = bytes;
        layout once = a;
        uint64_t s = mix3(seed, (uint64_t)i, 2);
        send_to_self(s, &b);
        if (truncates && !b.overlaps)
            truncate_one(s, &b, comm);
        MPI_Type_dup(a.type, &once.type);
        MPI_Type_dup(MPI_BYTE, &bytes.type);
        MPI_Type_dup(MPI_BYTE, &same.type);
        exchange(&r, s, &once, &bytes, "to bytes");
        if (once.type != MPI_DATATYPE_NULL)
            MPI_Type_free(&once.type);
        if (!a.overlaps) {
            once = a;
            MPI_Type_dup(a.type, &once.type);
            exchange(&r, s, &same, &once, "from bytes");
            if (once.type != MPI_DATATYPE_NULL)
                MPI_Type_free(&once.type);
        }
        if (bytes.type != MPI_DATATYPE_NULL)
            MPI_Type_free(&bytes.type);
        if (same.type != MPI_DATATYPE_NULL)
            MPI_Type_free(&same.type);
        if (!b.overlaps && a.size <= b.size) {
            exchange(&r, s, &a, &b, "to another layout");
        } else if (!a.overlaps && b.size <= a.size) {
            exchange(&r, s, &b, &a, "to another layout");
        }
        if (a.type != MPI_DATATYPE_NULL)
            MPI_Type_free(&a.type);
        if (b.type != MPI_DATATYPE_NULL)
            MPI_Type_free(&b.type);
    }
    void *address;
    int attached_bytes;
    MPI_Buffer_detach(&address, &attached_bytes);
    MPI_Comm_free(&comm);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
