"""Small allreduces of mpi4py, which asks for MPI_THREAD_MULTIPLE, on all ranks and on every second one."""

import numpy
from mpi4py import MPI

ROUNDS = 1000

world = MPI.COMM_WORLD
columns = world.Split(world.rank % 2, world.rank)
assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
mine, found = numpy.empty(1), numpy.empty(1)
for comm, step in ((world, 1), (columns, 2)):
    ranks = range(world.rank % step, world.size, step)
    for number in range(ROUNDS):
        mine[0] = world.rank + number
        comm.Allreduce(mine, found)
        assert found[0] == sum(ranks) + number * len(ranks), (number, found)
world.Barrier()
if world.rank == 0:
    print("allreduces are right")
