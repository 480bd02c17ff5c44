"""Clocks and random numbers, in Python: rank 0 prints what all ranks have drawn after MPI_Init."""

import os
import random
import time
import uuid

from mpi4py import MPI

random.seed()
drawn = (random.random(), time.time(), time.perf_counter_ns(), uuid.uuid4().hex, os.urandom(4).hex())
everything = MPI.COMM_WORLD.gather(drawn)
if MPI.COMM_WORLD.rank == 0:
    print(everything)
