"""Clocks and random numbers, in Python: rank 0 prints what all ranks have drawn, before MPI_Init and later.

The order of a set of words depends on a random number that the interpreter draws when it starts."""

import os
import random
import time
import uuid

early = (time.time(), random.random(), list({"a", "set", "of", "words", "in", "any", "order"}))

from mpi4py import MPI  # noqa: E402

random.seed()
drawn = (early, random.random(), time.time(), time.perf_counter_ns(), uuid.uuid4().hex, os.urandom(4).hex())
everything = MPI.COMM_WORLD.gather(drawn)
if MPI.COMM_WORLD.rank == 0:
    print(everything)
