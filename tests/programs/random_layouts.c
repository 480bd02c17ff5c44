/* Messages of random datatypes between ranks 0 and 1, byte by byte against an interpretation of their type
 * maps.
 *
 *   random_layouts [types=1000] [first=0] [seed=1] [truncate=1] [elements=1] [mixed=1] [alone=0]
 *
 * truncate=0: no message is too large for its receive, as Open MPI 4 by itself may then write into holes.
 *
 * elements=0: MPI_Get_elements is not called. It ends programs for some types under MPICH 4.
 *
 * mixed=0: all elements of a type are of the same predefined type. MPICH 4 by itself takes some large
 * messages of several types for truncated ones.
 *
 * alone=1: the library carries the messages by itself. Libraries move some types wrongly: these are counted
 * as deviations, not as failures. Without it, a deviation is a message whose bytes are those that MPI_Pack
 * and MPI_Unpack of the library make, and not those of the type map: evenkeel left its type to the library.
 *
 * Both ranks make the same types and the same data, so the receiver knows what must come. Types are freed
 * while messages of theirs are under way, and their handles are used again. */
#include "random_types.h"

enum { MOST_BYTES = 60000, DEEPEST = 4, TAG = 3 };

static uint64_t checks, deviations;
static int asks_for_elements, are_mixed, library_is_alone;
static long type_number;

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

/* What the library makes of the same elements by MPI_Pack and MPI_Unpack. `type`: of the receiver. */
static int is_as_library_packs(const layout *from, const memory *source, const layout *to, MPI_Datatype type,
                               uint64_t seed, const memory *place)
{
    layout receiver = *to;
    memory m = allocate(to, seed);
    unsigned char *sent = malloc((size_t)from->size + 1), *all = malloc((size_t)to->size + 1);
    receiver.type = type;
    pack_by_library(from, source->start, sent);
    pack_by_library(&receiver, m.start, all);
    memcpy(all, sent, (size_t)from->size);
    unpack_by_library(&receiver, all, to->size, m.start);
    int is_equal = !memcmp(m.block, place->block, m.bytes);
    free(m.block);
    free(sent);
    free(all);
    return is_equal;
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
        pack(from, source.start, bytes);
        unpack(to, bytes, from->size, right.start);
        MPI_Datatype copy;
        MPI_Type_dup(to->type, &copy);
        receive(&receivers, to, &place, receive_way, &status);
        MPI_Get_count(&status, MPI_BYTE, &all);
        CHECK(all == from->size, "%s: %d bytes of %d", what, all, from->size);
        /* MPICH 4 counts some types wrongly: what it says of so many bytes is right here, too. */
        MPI_Status same;
        int by_library = -1;
        memset(&same, 0, sizeof same);
        MPI_Status_set_elements(&same, MPI_BYTE, from->size);
        if (asks_for_elements && to->base_bytes) {
            MPI_Get_elements(&same, copy, &by_library);
            MPI_Get_elements(&status, copy, &elements);
            CHECK(elements == from->size / to->base_bytes || elements == by_library,
                  "%s: %d elements of %d bytes in %d", what, elements, to->base_bytes, from->size);
        }
        if (memcmp(place.block, right.block, place.bytes)) {
            if (library_is_alone || is_as_library_packs(from, &source, to, copy, seed + 1, &place))
                deviations++;
            else
                fail("type %ld, %s: other bytes after %d of %d bytes (extent %ld, ways %d %d)", type_number,
                     what, from->size, to->size, (long)to->extent, send_way, receive_way);
        }
        MPI_Type_free(&copy);
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
        unpack(l, many, l->size, place.start); /* how much was unpacked before the error is open */
        unpack(l, many, l->size, before.start);
        if (memcmp(place.block, before.block, place.bytes)) {
            unpack_by_library(l, many, l->size, before.start);
            if (memcmp(place.block, before.block, place.bytes))
                fail("type %ld: a truncated message has written elsewhere", type_number);
            else
                deviations++;
        }
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
    pack(l, source.start, bytes);
    unpack(l, bytes, l->size, right.start);
    MPI_Get_address(source.start, &address);
    MPI_Type_create_hindexed(1, &l->count, &address, l->type, &absolute);
    MPI_Type_commit(&absolute);
    EXPECT_OK(MPI_Irecv(place.start, l->count, l->type, world_rank, TAG, MPI_COMM_WORLD, &request));
    EXPECT_OK(MPI_Send(MPI_BOTTOM, 1, absolute, world_rank, TAG, MPI_COMM_WORLD));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (memcmp(place.block, right.block, place.bytes)) {
        if (library_is_alone || is_as_library_packs(l, &source, l, l->type, seed + 1, &place))
            deviations++;
        else
            fail("type %ld: other bytes from oneself", type_number);
    }
    MPI_Type_free(&absolute);
    free(source.block);
    free(place.block);
    free(right.block);
    free(bytes);
    checks++;
}

static void exchange_bytes(rng *r, uint64_t seed, const layout *a)
{
    layout bytes = {.type = MPI_BYTE,
                    .count = a->size,
                    .size = a->size,
                    .base_bytes = 1,
                    .extent = 1,
                    .high = a->size,
                    .used = 1,
                    .entries = (entry[]){{0, 1}}};
    layout same = bytes, once = *a;
    MPI_Type_dup(a->type, &once.type);
    MPI_Type_dup(MPI_BYTE, &bytes.type);
    MPI_Type_dup(MPI_BYTE, &same.type);
    exchange(r, seed, &once, &bytes, "to bytes");
    if (once.type == MPI_DATATYPE_NULL)
        MPI_Type_dup(a->type, &once.type);
    if (!a->overlaps)
        exchange(r, seed, &same, &once, "from bytes");
    if (once.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&once.type);
    if (bytes.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&bytes.type);
    if (same.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&same.type);
}

/* Fewer elements come than there is room for. */
static void exchange_fewer(rng *r, uint64_t seed, const layout *a)
{
    layout fewer = *a, more = *a;
    if (a->overlaps || !a->size)
        return;
    fewer.count = 1 + below(r, a->count);
    fewer.size = a->size / a->count * fewer.count;
    MPI_Type_dup(a->type, &fewer.type);
    MPI_Type_dup(a->type, &more.type);
    exchange(r, seed, &fewer, &more, "to more elements");
    if (fewer.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&fewer.type);
    if (more.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&more.type);
}

static void test_types(uint64_t seed, int truncates, MPI_Comm comm)
{
    rng r = {mix3(seed, (uint64_t)type_number, 1)};
    uint64_t s = mix3(seed, (uint64_t)type_number, 2);
    base_type base = one_in(&r, 3) && are_mixed ? MIXED : random_base(&r);
    layout a, b;
    int fewest = !one_in(&r, 20);
    while (!random_layout(&r, base, DEEPEST, fewest, MOST_BYTES, &a))
        ;
    while (!random_layout(&r, base, DEEPEST, 1, MOST_BYTES, &b))
        ;
    if (!b.overlaps) {
        send_to_self(s, &b);
        if (truncates)
            truncate_one(s, &b, comm);
    }
    exchange_bytes(&r, s, &a);
    exchange_fewer(&r, s, &a);
    if (base.bytes && !b.overlaps && a.size <= b.size)
        exchange(&r, s, &a, &b, "to another layout");
    else if (base.bytes && !a.overlaps && b.size <= a.size)
        exchange(&r, s, &b, &a, "to another layout");
    drop_layout(&a);
    drop_layout(&b);
}

int main(int argc, char **argv)
{
    static char attached[8 * MOST_BYTES];
    begin(&argc, &argv);
    MPI_Comm comm; /* on which errors are returned */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, sizeof attached);
    long types = number(argc, argv, "types", 1000), first = number(argc, argv, "first", 0);
    asks_for_elements = (int)number(argc, argv, "elements", 1);
    are_mixed = (int)number(argc, argv, "mixed", 1);
    library_is_alone = (int)number(argc, argv, "alone", 0);
    int truncates = (int)number(argc, argv, "truncate", 1);
    uint64_t seed = (uint64_t)number(argc, argv, "seed", 1);
    for (type_number = first; type_number < first + types && world_rank < 2; type_number++)
        test_types(seed, truncates, comm);
    void *address;
    int attached_bytes;
    MPI_Buffer_detach(&address, &attached_bytes);
    MPI_Comm_free(&comm);
    printf("rank %d deviations %llu\n", world_rank, (unsigned long long)deviations);
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
