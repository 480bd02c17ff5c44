/* Each type has the handle of the one before it, which was freed while its message was under way, and another
 * layout. Two ranks. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 200, BLOCKS = 20, INTS = 200 };

int main(int argc, char **argv)
{
    int rank, wrong = 0, reused = 0;
    MPI_Datatype last = MPI_DATATYPE_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        int stride = 2 + i % 5, length = 1 + i % 2, from[INTS], to[INTS];
        MPI_Datatype type;
        MPI_Request request = MPI_REQUEST_NULL;
        for (int k = 0; k < INTS; k++) {
            from[k] = i * 1000 + k;
            to[k] = -1;
        }
        MPI_Type_vector(BLOCKS, length, stride, MPI_INT, &type);
        MPI_Type_commit(&type);
        reused += type == last;
        last = type;
        if (rank == 0)
            MPI_Isend(from, 1, type, 1, 0, MPI_COMM_WORLD, &request);
        else if (rank == 1)
            MPI_Irecv(to, 1, type, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Type_free(&type);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 0; rank == 1 && k < INTS; k++)
            wrong += to[k] != (k / stride < BLOCKS && k % stride < length ? from[k] : -1);
    }
    printf("rank %d reused %d wrong %d\n", rank, reused, wrong);
    MPI_Finalize();
    return wrong != 0;
}
