"""A job in which rank 2 does not come to a collective: `loop` computes for ever, `wait` waits for input, and
`free` does so until a file exists."""

import os
import sys
from array import array
from pathlib import Path

from mpi4py import MPI


def loop(told):
    total = 0
    while not (told and Path(told).exists()):
        total += sum(range(1000))
    return total


def wait():
    reading, _ = os.pipe()
    return os.read(reading, 1)


def come_late(how, told):
    if how == "wait":
        wait()
    loop(told)


def total_of_ranks(world):
    total = array("i", [0])
    world.Allreduce(array("i", [world.rank]), total)
    return total[0]


def main():
    world = MPI.COMM_WORLD
    for _ in range(20):
        total_of_ranks(world)
    if world.rank == 2:
        come_late(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    total = total_of_ranks(world)
    if world.rank == 0:
        print("RESULT digest", total)


main()
