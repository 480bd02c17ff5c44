"""A repetition notices that a collective moves other data: what a rank contributes, and what it gets."""

import re

import pytest

from mpis import has_stopped, named
from paths import EVENKEEL

SOURCE = "replayed_collectives.c"
RANKS = 4
STOPS = r"rank \d: the repetition stops: "
RANK_1 = "rank 1: the repetition stops: "

REDUCTIONS = ["reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"]
ROOTED = ["bcast", "scatter", "scatterv"]  # the root alone contributes
OTHERS = ["gather", "gatherv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
IN_PLACE = ["allreduce in place", "allgather in place", "alltoallv in place", "reduce_scatter in place"]
KINDS = [*REDUCTIONS, *ROOTED, *OTHERS, *IN_PLACE]
BETWEEN_GROUPS = [kind for kind in KINDS if kind not in IN_PLACE and "scan" not in kind]

LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi"]


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


class Recorded:
    """A run of the program, with a trace that compares after each call."""

    def __init__(self, mpi, folder, kind, *more):
        self.mpi, self.folder, self.kind, self.more = mpi, folder, kind, more
        self.out = self.run(["--trace", folder, "--trace-checks", "1"], 1, 0).ok().out

    def run(self, options, who, number):
        program = self.mpi.build(SOURCE)
        return self.mpi.evenkeel(
            program, RANKS, self.kind, who, number, *self.more, options=["--quiet", *options]
        )

    def repeat(self, who, number, options=()):
        return self.run(["--replay", self.folder, *options], who, number)

    def assert_equal(self):
        for options in ((), ("--inject", "stalls=exp:2ms/20ms")):
            assert self.repeat(1, 0, options).ok().out == self.out

    def assert_stops(self, who, number, what):
        outcome = self.repeat(who, number)
        assert has_stopped(self.mpi, outcome), outcome.text
        assert re.search(what, outcome.err), outcome.err


def available(name):
    mpi = named(name)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


@pytest.mark.parametrize("i", ["", "i"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_contribution_is_noticed_where_it_is_made(openmpi4, tmp_path, kind, i):
    recorded = Recorded(openmpi4, tmp_path / "t", i + kind)
    recorded.assert_equal()
    if kind == "allgather in place":
        # What stays in place is seen in the result, by all ranks: nonblocking, in the second wait.
        call = 5 if i else 2
        recorded.assert_stops(1, 1, rf"{STOPS}.*received differs at call {call}")
    else:
        recorded.assert_stops(1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


@pytest.mark.parametrize("i", ["", "i"])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_another_result_of_the_same_contributions_is_noticed(openmpi4, tmp_path, kind, i):
    recorded = Recorded(openmpi4, tmp_path / "t", i + kind, "same")
    call = 4 if i else 3  # each call is followed by a wait, for nothing if it is blocking
    recorded.assert_stops(-1, 1, rf"{STOPS}.*received differs at call {call}")


@pytest.mark.parametrize("kind", BETWEEN_GROUPS)
def test_between_groups_it_is_noticed_too(openmpi4, tmp_path, kind):
    recorded = Recorded(openmpi4, tmp_path / "t", "i" + kind, "inter")
    recorded.assert_equal()
    # Rank 1 is the root. It contributes nothing where data go to it.
    who = 0 if kind in ("reduce", "gather", "gatherv") else 1
    rank = f"rank {who}: the repetition stops: "
    recorded.assert_stops(who, 1, rank + r".*sent (and received )?differs? at call 2")


@pytest.mark.parametrize("kind", ["iallreduce", "gatherv", "ialltoallw", "iscan", "reduce_scatter in place"])
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_other_libraries_notice_it_too(tmp_path, library, kind):
    recorded = Recorded(available(library), tmp_path / "t", kind)
    recorded.assert_equal()
    recorded.assert_stops(1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


@pytest.mark.parametrize("kind", ["iallreduce", "ialltoallw", "ireduce_scatter", "gather", "exscan"])
@pytest.mark.parametrize("second", LIBRARIES[1:])
def test_the_trace_of_one_library_is_that_of_another(openmpi4, tmp_path, second, kind):
    other = available(second)
    for one, two, folder in ((openmpi4, other, tmp_path / "a"), (other, openmpi4, tmp_path / "b")):
        recorded = Recorded(one, folder, kind)
        recorded.mpi = two
        recorded.assert_equal()
