// A C++ program: C++ types, callbacks with lambdas, exceptions in the neighbourhood of MPI calls.
#include <complex>
#include <cstdio>
#include <mpi.h>
#include <numeric>
#include <stdexcept>
#include <vector>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, failures = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    auto expect = [&](bool good, const char *what) {
        if (!good)
            std::fprintf(stderr, "FAIL rank %d: %s\n", rank, what), failures++;
    };
    std::vector<double> values(1000, rank), sums(1000);
    MPI_Allreduce(values.data(), sums.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (double s : sums)
        expect(s == ranks * (ranks - 1) / 2, "sum");
    std::complex<double> z(rank, 1), product;
    MPI_Allreduce(&z, &product, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    expect(product == std::complex<double>(ranks * (ranks - 1) / 2, ranks), "complex");
    bool flag = rank == 0, any = false, all = true;
    MPI_Allreduce(&flag, &any, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
    MPI_Allreduce(&flag, &all, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
    expect(any && all == (ranks == 1), "bool");
    std::vector<int> counts(ranks), places(ranks);
    std::iota(counts.begin(), counts.end(), 0);
    std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
    std::vector<int> mine(rank, rank), everything(places.back() + counts.back(), -1);
    MPI_Allgatherv(mine.data(), rank, MPI_INT, everything.data(), counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < r; i++)
            expect(everything[places[r] + i] == r, "allgatherv");
    MPI_Op op;
    MPI_Op_create([](void *in, void *inout, int *n, MPI_Datatype *) {
        for (int i = 0; i < *n; i++)
            static_cast<int *>(inout)[i] = static_cast<int *>(in)[i]; /* the leftmost wins */
    }, 0, &op);
    int left = rank + 10, first = -1;
    MPI_Allreduce(&left, &first, 1, MPI_INT, op, MPI_COMM_WORLD);
    expect(first == 10, "user-defined operator");
    MPI_Op_free(&op);
    try {
        MPI_Barrier(MPI_COMM_WORLD);
        throw std::runtime_error("after a barrier");
    } catch (const std::exception &) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        std::puts("C++ DONE");
    MPI_Finalize();
    return failures != 0;
}
