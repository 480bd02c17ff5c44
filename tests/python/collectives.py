"""mpi4py: pickled objects (lowercase), buffers (uppercase), in place, derived types, operators in Python."""

import array
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
failures = []


def expect(got, wanted, what):
    if got != wanted:
        failures.append(f"{what}: {got!r}, not {wanted!r}")


# objects
expect(
    comm.bcast({"from": 0, "data": list(range(500))} if rank == 0 else None),
    {"from": 0, "data": list(range(500))},
    "bcast",
)
expect(
    comm.gather((rank, "x" * rank), root=ranks - 1),
    [(r, "x" * r) for r in range(ranks)] if rank == ranks - 1 else None,
    "gather",
)
expect(comm.scatter([[r] * r for r in range(ranks)] if rank == 0 else None), [rank] * rank, "scatter")
expect(comm.allgather(str(rank)), [str(r) for r in range(ranks)], "allgather")
expect(comm.alltoall([(rank, r) for r in range(ranks)]), [(r, rank) for r in range(ranks)], "alltoall")
expect(comm.allreduce(f"<{rank}>"), "".join(f"<{r}>" for r in range(ranks)), "allreduce of strings")
expect(comm.scan(rank), rank * (rank + 1) // 2, "scan")

# buffers
ints = array.array("i", [rank] * 100)
sums = array.array("i", [0] * 100)
comm.Allreduce(ints, sums, MPI.SUM)
expect(sums[99], ranks * (ranks - 1) // 2, "Allreduce")
comm.Allreduce(MPI.IN_PLACE, ints, MPI.MAX)
expect(ints[0], ranks - 1, "Allreduce in place")
everything = array.array("d", [0.0] * ranks)
comm.Allgather([array.array("d", [rank / 2]), MPI.DOUBLE], everything)
expect(list(everything), [r / 2 for r in range(ranks)], "Allgather")
request = comm.Iallreduce(one := array.array("i", [1]), mine := array.array("i", [0]))
barrier = comm.Ibarrier()
MPI.Request.Waitall([request, barrier])
expect(mine[0], ranks, "Iallreduce")
vector = MPI.INT.Create_vector(10, 1, 2).Commit()
spread = array.array("i", [7 if rank == 0 else 0, 0] * 10)
comm.Bcast([spread, 1, vector], root=0)
expect(list(spread), [7, 0] * 10, "Bcast of a vector")
vector.Free()


def leftmost(x, y, datatype):
    memoryview(y).cast("B")[:] = memoryview(x).cast("B")


op = MPI.Op.Create(leftmost, commute=False)
first = array.array("i", [0])
comm.Allreduce(array.array("i", [rank + 5]), first, op)
expect(first[0], 5, "Allreduce with an operator in Python")
op.Free()

half = comm.Split(rank % 2, -rank)
expect(half.allreduce(1), len(range(rank % 2, ranks, 2)), "allreduce on a half")
half.Free()

for failure in failures:
    print(f"FAIL rank {rank}: {failure}", file=sys.stderr)
if rank == 0:
    print(f"PYTHON DONE with {MPI.Get_library_version().split(',')[0].strip()}")
sys.exit(bool(failures))
