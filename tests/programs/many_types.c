/* Messages to oneself of more datatypes at once than evenkeel remembers, then of many one after the other.
 *
 *   many_types [at_once=6000] [one_by_one=20000] */
#include "check.h"

enum { INTS = 400, BLOCKS = 5, STRIDES = 60 };

static uint64_t checks;

static MPI_Datatype make(int stride)
{
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void send_to_self(MPI_Datatype type, int stride, int seed)
{
    int from[INTS], to[INTS], wrong = 0;
    for (int k = 0; k < INTS; k++) {
        from[k] = seed + k;
        to[k] = -1;
    }
    EXPECT_OK(MPI_Sendrecv(from, 1, type, world_rank, 0, to, 1, type, world_rank, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
    for (int k = 0; k < INTS; k++)
        wrong += to[k] != (k % stride == 0 && k / stride < BLOCKS ? from[k] : -1);
    CHECK(!wrong, "type %d: %d wrong numbers", seed, wrong);
    checks++;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int at_once = (int)number(argc, argv, "at_once", 6000);
    int one_by_one = (int)number(argc, argv, "one_by_one", 20000);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)at_once);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < at_once; i++)
            types[i] = make(2 + (i + pass) % STRIDES);
        for (int i = 0; i < at_once; i++)
            send_to_self(types[i], 2 + (i + pass) % STRIDES, i);
        for (int i = 0; i < at_once; i++)
            MPI_Type_free(&types[i]);
    }
    free(types);
    for (int i = 0; i < one_by_one; i++) {
        MPI_Datatype type = make(2 + i % STRIDES);
        send_to_self(type, 2 + i % STRIDES, i);
        MPI_Type_free(&type);
    }
    int code = report_result(checks);
    MPI_Finalize();
    return code;
}
