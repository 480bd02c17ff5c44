"""Ranks that call other collectives, or with other lengths, are told; no rank takes what was not sent.

What ranks write to shared memory does not depend on the MPI library: all cases run under Open MPI 4.
"""

import pytest

from mpis import named

pytestmark = pytest.mark.in_turn

RANKS = 3
SOURCE = "mismatched.c"

# Rank 1 has more or less than the others. Sizes: in a cell, in a ring, cut into instances, read from memory.
DIFFERENT = [
    ("bcast", 10, 1),
    ("bcast", 1, 100),
    ("bcast", 3000, 2000),
    ("bcast", 2000, 3000),
    ("bcast", 100000, 50000),
    ("bcast", 50000, 100000),
    ("bcast", 400000, 10),
    ("bcast", 10, 400000),
    ("ibcast", 3000, 2000),
    ("reduce", 2, 3),
    ("reduce", 20, 30),
    ("reduce", 40000, 30000),
    ("allreduce", 2, 3),
    ("allreduce", 3, 2),
    ("allreduce", 5000, 6000),
    ("scan", 2, 3),
    ("scan", 30, 20),
    ("reduce_scatter_block", 2, 3),
    ("reduce_scatter_block", 400000, 690000),
    ("gather", 1, 10),
    ("gather", 1000, 40000),
    ("gather", 200000, 300000),
    ("allgather", 100, 10),
    ("scatter", 10, 5),
    ("scatter", 5, 10),
    ("scatter", 40000, 10),
    ("alltoall", 5, 10),
    ("alltoall", 10, 40000),
    ("alltoall", 300000, 500000),
    ("gatherv", 5, 10),
    ("allgatherv", 5, 10),
    ("scatterv", 10, 5),
    ("alltoallv", 10, 5),
]


def run(mpi, call, mine, theirs, ranks=RANKS):
    return mpi.run(mpi.build(SOURCE), ranks, f"call={call}", f"mine={mine}", f"theirs={theirs}")


def assert_told(outcome, sentence):
    assert outcome.code not in (0, None) and not outcome.left_over, outcome.text
    assert sentence in outcome.err, outcome.text


@pytest.mark.parametrize("call, mine, theirs", DIFFERENT)
def test_different_lengths_end_the_job_with_a_sentence(openmpi4, call, mine, theirs):
    outcome = run(openmpi4, call, mine, theirs)
    assert_told(outcome, " has called it with another amount of data; ending this job.")
    assert f" is in MPI_{call.removeprefix('i').capitalize()}" in outcome.err


@pytest.mark.parametrize("library", ["mpich4", "mpich5", "openmpi5"])
def test_so_it_is_under_other_libraries(library):
    mpi = named(library)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    assert_told(
        run(mpi, "bcast", 100000, 50000), " has called it with another amount of data; ending this job."
    )


@pytest.mark.parametrize(
    "call, mine, theirs",
    [("bcast", 1, 10), ("gather", 10, 1), ("gather", 3000, 2000), ("gather", 40000, 1000)],
)
def test_less_than_there_is_room_for_is_accepted_and_the_rest_left_alone(openmpi4, call, mine, theirs):
    """As most libraries do."""
    outcome = run(openmpi4, call, mine, theirs)
    assert outcome.code == 0, outcome.text
    assert outcome.out.count("ACCEPTED, 0 changed") == RANKS, outcome.out


def test_different_collectives_are_named(openmpi4):
    outcome = run(openmpi4, "bcast-or-allreduce", 1, 1, ranks=2)
    assert_told(outcome, "rank 1 is in MPI_Allreduce where rank 0 has called MPI_Bcast; ending this job.")


EQUAL = ["bcast of other types", "bcast of other layouts", "gather of other layouts"]


@pytest.mark.parametrize("ints", [3, 5000, 200000])
@pytest.mark.parametrize("call", EQUAL)
def test_equal_lengths_of_other_types_are_not_told(openmpi4, call, ints):
    outcome = run(openmpi4, call, ints, ints)
    assert outcome.code == 0 and outcome.out.count("ACCEPTED") == RANKS, outcome.text


@pytest.mark.parametrize("call", sorted({call for call, _, _ in DIFFERENT}))
def test_equal_lengths_are_not_told(openmpi4, call):
    outcome = run(openmpi4, call, 5000, 5000)
    assert outcome.code == 0 and outcome.out.count("ACCEPTED") == RANKS, outcome.text
