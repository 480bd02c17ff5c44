"""Mistakes of users that make a job hang, and what `evenkeel where` says of each; jobs that are only slow.

tests/programs/planted_hangs.c has the mistakes; `bench/watching/hangs.py` makes the book's table of them.
"""

import re
import time

import pytest

from hanging_jobs import found, where
from mpis import named
from paths import EVENKEEL
from planted_hangs import ENDED_AT_ONCE, PLANTED, SLOW
from verdicts import assert_passed

LIBRARIES = ["openmpi4", "mpich4"]


def library(number):
    """Each case runs under one of the libraries, which take turns."""
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")
    mpi = named(LIBRARIES[number % len(LIBRARIES)])
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name)
def test_it_is_said_why_a_job_hangs(case):
    mpi = library(PLANTED.index(case))
    _, seen, _ = case.hang(mpi)
    assert seen["deadlock"] == case.is_deadlock


@pytest.mark.parametrize(("name", "sentence"), ENDED_AT_ONCE)
@pytest.mark.parametrize("number", range(len(LIBRARIES)), ids=LIBRARIES)
def test_a_job_whose_ranks_are_seen_to_differ_is_ended(name, sentence, number):
    mpi = library(number)
    outcome = mpi.run(mpi.build("planted_hangs.c"), 4, name)
    assert outcome.code != 0 and re.search(sentence, outcome.err), outcome.text


@pytest.mark.parametrize("name", SLOW)
def test_a_job_that_is_only_slow_is_not_said_to_hang(name):
    mpi = library(SLOW.index(name))
    program = mpi.build("slow_jobs.c")
    alone = mpi.run(program, 4, name)
    looks = []

    def watch(process):
        while process.poll() is None:
            looks.append(where(process.pid))
            time.sleep(0.05)

    watched = mpi.run(program, 4, name, watch=watch)
    assert assert_passed(watched) == assert_passed(alone)
    assert sum(bool(seen) for seen in looks) > 2
    for kind in ("deadlock", "circle", "different-collectives", "exited"):
        assert not [finding for seen in looks for finding in found(seen, kind)]
