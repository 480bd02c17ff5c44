/* Legal calls that few programs make, by the argument `what`. Each has hung or given wrong results once. */
#include "check.h"
#include <stdbool.h>

/* Buffers of which nothing is read, and into which nothing is written, may be NULL. */
static void null_buffers(void)
{
    int value = world_rank, sum = -1, before = world_rank * (world_rank - 1) / 2;
    int *counts = calloc((size_t)world_size, sizeof *counts), whole = world_size * (world_size - 1) / 2;
    MPI_Request request;
    for (int round = 0; round < 3; round++) {
        /* MPICH itself refuses NULL where rank 0 of MPI_Exscan gets nothing; it does not when asked through
         * evenkeel, which has no reason to. */
        EXPECT_OK(MPI_Exscan(&value, world_rank ? &sum : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(world_rank == 0 || sum == before, "MPI_Exscan gives %d, not %d", sum, before);
        for (int r = 0; r < world_size; r++)
            counts[r] = r != round % world_size;
        int *all = calloc((size_t)world_size, sizeof *all), mine = -1;
        for (int r = 0; r < world_size; r++)
            all[r] = world_rank;
        int *into = counts[world_rank] ? &mine : NULL;
        EXPECT_OK(MPI_Reduce_scatter(all, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(!into || mine == whole, "MPI_Reduce_scatter gives %d, not %d", mine, whole);
        mine = -1;
        EXPECT_OK(MPI_Ireduce_scatter(all, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(!into || mine == whole, "MPI_Ireduce_scatter gives %d, not %d", mine, whole);
        free(all);
    }
    free(counts);
}

/* What lies in the holes of a pair is the program's. */
static void pair_holes(void)
{
    struct padded {
        double value;
        int index, own;
    } in[3], out[3];
    int n = 3, counts[64];
    for (int i = 0; i < n; i++) {
        in[i] = (struct padded){.value = world_rank + i, .index = world_rank, .own = 100 + world_rank};
        out[i].own = 700 + world_rank;
    }
#define OWN_IS(call, expected, count)                                                       \
    do {                                                                                    \
        EXPECT_OK(call);                                                                    \
        for (int i_ = 0; i_ < (count); i_++)                                                \
            CHECK(out[i_].own == (expected), #call " has changed a hole: %d", out[i_].own); \
    } while (0)
    OWN_IS(MPI_Allreduce(in, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), 700 + world_rank, n);
    CHECK(out[1].value == world_size && out[1].index == world_size - 1, "wrong maximum");
    OWN_IS(MPI_Reduce(in, out, n, MPI_DOUBLE_INT, MPI_MINLOC, 0, MPI_COMM_WORLD), 700 + world_rank, n);
    CHECK(world_rank || (out[2].value == 2 && out[2].index == 0), "wrong minimum");
    OWN_IS(MPI_Scan(in, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), 700 + world_rank, n);
    CHECK(out[0].value == world_rank && out[0].index == world_rank, "wrong scan");
    OWN_IS(MPI_Exscan(in, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), 700 + world_rank, n);
    for (int r = 0; r < world_size; r++)
        counts[r] = r == 1 ? n : 0;
    OWN_IS(MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), 700 + world_rank,
           n);
    memcpy(out, in, sizeof in);
    OWN_IS(MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), 100 + world_rank,
           n);
    CHECK(out[0].value == world_size - 1, "wrong maximum in place");
    MPI_Request request;
    memcpy(out, in, sizeof in);
    OWN_IS((MPI_Iallreduce(MPI_IN_PLACE, out, n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request),
            MPI_Wait(&request, MPI_STATUS_IGNORE)),
           100 + world_rank, n);
}

/* A nonblocking collective that is under way until `end_under_way`, at rank 0. */
static MPI_Request under_way;

static void begin_under_way(void)
{
    if (world_rank == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &under_way);
}

static void end_under_way(void)
{
    if (world_rank)
        MPI_Ibarrier(MPI_COMM_WORLD, &under_way);
    MPI_Wait(&under_way, MPI_STATUS_IGNORE);
}

static int errors_handled;

static void handle_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors_handled++;
}

/* An exchange whose send is refused leaves no receive behind, and takes no message that is there already.
 * With a handler of the program's, libraries differ in what the call returns. */
static void failed_exchange(bool has_handler, bool is_there_before)
{
    int a = 1, b = -1, c = -1, replaced = 5, message = 42;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    if (has_handler)
        MPI_Comm_create_errhandler(handle_error, &handler);
    if (world_rank == 1 && is_there_before)
        MPI_Send(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_under_way();
    if (world_rank == 0) {
        if (is_there_before)
            MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        errors_handled = 0;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        int code =
            MPI_Sendrecv(&a, 1, MPI_INT, 99, 0, &b, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_handler ? errors_handled == 1 : code != MPI_SUCCESS, "a send to rank 99 was not refused");
        code = MPI_Sendrecv_replace(&replaced, 1, MPI_INT, 99, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_handler ? errors_handled == 2 : code != MPI_SUCCESS, "a send to rank 99 was not refused");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Send(&a, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&c, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(c == 42 && b == -1 && replaced == 5, "got %d, %d, %d", c, b, replaced);
    } else if (world_rank == 1) {
        MPI_Recv(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_there_before)
            MPI_Send(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    end_under_way();
    if (has_handler)
        MPI_Errhandler_free(&handler);
}

static void check_is_from_no_process(const char *call, MPI_Status *status)
{
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0,
          "%s from MPI_PROC_NULL: source %d, tag %d, count %d", call, status->MPI_SOURCE, status->MPI_TAG,
          count);
}

static void no_process(void)
{
    int out = 7, in = -1;
    MPI_Status status;
    begin_under_way();
    if (world_rank == 0) {
        MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
        check_is_from_no_process("MPI_Recv", &status);
        MPI_Sendrecv(&out, 1, MPI_INT, 1, 4, &in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
        check_is_from_no_process("MPI_Sendrecv", &status);
        MPI_Sendrecv_replace(&out, 1, MPI_INT, 1, 5, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
        check_is_from_no_process("MPI_Sendrecv_replace", &status);
        CHECK(in == -1 && out == 7, "MPI_PROC_NULL has sent something");
    } else if (world_rank == 1) {
        for (int tag = 4; tag <= 5; tag++) {
            MPI_Recv(&in, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(in == 7, "got %d", in);
        }
    }
    end_under_way();
}

/* MPI_Comm_idup waits for no other rank, however many are made. */
static void many_duplicates(void)
{
    enum { MANY = 150 };
    static MPI_Comm made[MANY];
    static MPI_Request requests[MANY];
    int token = 1;
    for (int round = 0; round < 2; round++) {
        if (world_rank == 0) {
            for (int i = 0; i < MANY; i++)
                MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
            for (int r = 1; r < world_size; r++)
                MPI_Send(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < MANY; i++)
                MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
        }
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++) {
            int one = 1, sum = 0;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]);
            CHECK(sum == world_size, "duplicate %d gives %d", i, sum);
            MPI_Comm_free(&made[i]);
        }
        MPI_Comm again;
        MPI_Comm_dup(MPI_COMM_WORLD, &again); /* the ranks meet: from here on duplicates are served again */
        MPI_Comm_free(&again);
    }
}

/* While a rank blocks inside the host, its nonblocking collectives go on. */
static void blocked_in_the_host(const char *call)
{
    enum { MANY = 3000 };
    static MPI_Request requests[MANY];
    static int values[MANY];
    if (world_rank)
        usleep(300 * 1000);
    for (int i = 0; i < MANY; i++) {
        values[i] = world_rank ? -1 : i;
        MPI_Ibcast(&values[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
    }
    if (world_rank)
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK(values[i] == i, "broadcast %d gives %d", i, values[i]);
#if MPI_VERSION >= 4
    if (!strcmp(call, "group")) {
        MPI_Group group;
        MPI_Comm made;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
        MPI_Comm_free(&made);
        MPI_Group_free(&group);
    } else if (world_rank < 2) {
        double part[8] = {0};
        MPI_Request request;
        if (world_rank == 1) {
            MPI_Psend_init(part, 1, 8, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            MPI_Pready(0, request);
        } else {
            MPI_Precv_init(part, 1, 8, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            for (int has_come = 0; !has_come;)
                MPI_Parrived(request, 0, &has_come);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
#else
    (void)call;
#endif
    if (!world_rank)
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

static int deleted;

static int note_deletion(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* A type that no collective uses is freed at once, one that is in use when it is not any more. */
static void freed_types(void)
{
    int key, in[6] = {1, 0, 2, 0, 3, 0}, out[6] = {-1, -1, -1, -1, -1, -1};
    MPI_Datatype unused, used;
    MPI_Request request;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, note_deletion, &key, NULL);
    MPI_Type_vector(3, 1, 2, MPI_INT, &used);
    MPI_Type_commit(&used);
    MPI_Type_set_attr(used, key, NULL);
    MPI_Type_dup(used, &unused);
    MPI_Type_set_attr(unused, key, NULL);
    begin_under_way();
    MPI_Type_free(&unused);
    CHECK(deleted == 1 && unused == MPI_DATATYPE_NULL, "%d types have been freed, not one", deleted);
    end_under_way();
    if (world_rank == 0)
        memcpy(out, in, sizeof in);
    if (world_rank == 0)
        usleep(20 * 1000);
    MPI_Ibcast(out, 1, used, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&used);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        CHECK(out[2 * i] == i + 1, "element %d is %d", i, out[2 * i]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(deleted == 2, "%d types have been freed, not two", deleted);
    MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argument(argc, argv, "what", "");
    if (!strcmp(what, "null_buffers"))
        null_buffers();
    else if (!strcmp(what, "pair_holes"))
        pair_holes();
    else if (!strcmp(what, "failed_exchange"))
        for (int kind = 0; kind < 4; kind++)
            failed_exchange(kind & 1, kind & 2);
    else if (!strcmp(what, "no_process"))
        no_process();
    else if (!strcmp(what, "freed_types"))
        freed_types();
    else if (!strcmp(what, "many_duplicates"))
        many_duplicates();
    else if (!strcmp(what, "group") || !strcmp(what, "parrived"))
        blocked_in_the_host(what);
    else
        fail("no such case: %s", what);
    int code = report_result(1);
    MPI_Finalize();
    return code;
}
