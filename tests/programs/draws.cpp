// Clocks and random numbers, in C++: each rank prints what it has drawn, before MPI_Init and later.
#include <chrono>
#include <cstdio>
#include <mpi.h>
#include <random>

int main(int argc, char **argv)
{
    std::random_device device;
    unsigned early = device();
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::mt19937 generator(std::random_device{}());
    auto steady = std::chrono::steady_clock::now().time_since_epoch().count();
    auto system = std::chrono::system_clock::now().time_since_epoch().count();
    std::printf("%d %u %u %lld %lld\n", rank, early, static_cast<unsigned>(generator()),
                static_cast<long long>(steady), static_cast<long long>(system));
    MPI_Finalize();
}
