"""A repetition notices that a collective moves other data: what a rank contributes, and what it gets."""

import pytest

from paths import EVENKEEL
from replays import Recorded, available

SOURCE = "replayed_collectives.c"
RANKS = 4
STOPS = r"rank \d: the repetition stops: "
RANK_1 = "rank 1: the repetition stops: "

REDUCTIONS = ["reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"]
ROOTED = ["bcast", "scatter", "scatterv"]  # the root alone contributes
OTHERS = ["gather", "gatherv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
IN_PLACE = ["allreduce in place", "allgather in place", "alltoallv in place", "reduce_scatter in place"]
KINDS = [*REDUCTIONS, *ROOTED, *OTHERS, *IN_PLACE]
NEIGHBORS = [f"neighbor_{kind}" for kind in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")]
BETWEEN_GROUPS = [kind for kind in KINDS if kind not in IN_PLACE and "scan" not in kind]

LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi"]
WITH_PERSISTENT = LIBRARIES[1:]  # Open MPI 4 has others, whose names begin with MPIX


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def recorded(mpi, folder, kind, *more):
    return Recorded(mpi, folder, SOURCE, RANKS, [kind, 1, 0, *more])


def assert_stops(first, who, number, what):
    """In the second call, this rank contributes numbers that are so much larger."""
    kind, _, _, *more = first.words
    first.assert_stops([kind, who, number, *more], what)


@pytest.mark.in_turn("i", of=1)
@pytest.mark.parametrize("i", ["", "i"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_contribution_is_noticed_where_it_is_made(openmpi4, tmp_path, kind, i):
    first = recorded(openmpi4, tmp_path / "t", i + kind)
    first.assert_equal()
    if kind == "allgather in place":
        # What stays in place is seen in the result, by all ranks: nonblocking, in the second wait.
        call = 5 if i else 2
        assert_stops(first, 1, 1, rf"{STOPS}.*received differs at call {call}")
    else:
        assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


@pytest.mark.in_turn("i", of=1)
@pytest.mark.parametrize("i", ["", "i"])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_another_result_of_the_same_contributions_is_noticed(openmpi4, tmp_path, kind, i):
    first = recorded(openmpi4, tmp_path / "t", i + kind, "same")
    call = 4 if i else 3  # each call is followed by a wait, for nothing if it is blocking
    assert_stops(first, -1, 1, rf"{STOPS}.*received differs at call {call}")


@pytest.mark.parametrize("kind", BETWEEN_GROUPS)
def test_between_groups_it_is_noticed_too(openmpi4, tmp_path, kind):
    first = recorded(openmpi4, tmp_path / "t", "i" + kind, "inter")
    first.assert_equal()
    # Rank 1 is the root. It contributes nothing where data go to it.
    who = 0 if kind in ("reduce", "gather", "gatherv") else 1
    rank = f"rank {who}: the repetition stops: "
    assert_stops(first, who, 1, rank + r".*sent (and received )?differs? at call 2")


@pytest.mark.in_turn("library")
@pytest.mark.parametrize("kind", ["iallreduce", "gatherv", "ialltoallw", "iscan", "reduce_scatter in place"])
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_other_libraries_notice_it_too(tmp_path, library, kind):
    first = recorded(available(library), tmp_path / "t", kind)
    first.assert_equal()
    assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


@pytest.mark.in_turn("second")
@pytest.mark.parametrize("kind", ["iallreduce", "ialltoallw", "ireduce_scatter", "gather", "exscan"])
@pytest.mark.parametrize("second", LIBRARIES[1:])
def test_the_trace_of_one_library_is_that_of_another(openmpi4, tmp_path, second, kind):
    other = available(second)
    for one, two, folder in ((openmpi4, other, tmp_path / "a"), (other, openmpi4, tmp_path / "b")):
        first = recorded(one, folder, kind)
        first.mpi = two
        first.assert_equal()


# ---- neighbours ----


@pytest.mark.in_turn("topology", of=1)
@pytest.mark.parametrize("i", ["", "i"])
@pytest.mark.parametrize("topology", ["ring", "line", "graph"])
@pytest.mark.parametrize("kind", NEIGHBORS)
def test_neighbors_that_send_something_else_are_noticed(openmpi4, tmp_path, kind, topology, i):
    first = recorded(openmpi4, tmp_path / "t", i + kind, topology)
    first.assert_equal()
    assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


@pytest.mark.parametrize("kind", ["neighbor_alltoall", "ineighbor_alltoallw"])
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_other_libraries_notice_neighbors_too(openmpi4, tmp_path, library, kind):
    first = recorded(openmpi4, tmp_path / "t", kind, "graph")
    first.mpi = available(library)
    first.assert_equal()
    assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 2")


# ---- persistent ----


@pytest.mark.parametrize("kind", [*KINDS, *NEIGHBORS])
def test_what_a_persistent_collective_takes_is_noticed_when_it_is_started(tmp_path, kind):
    # Without evenkeel, too, a second start of MPI_Scatter_init fails in MPICH 4.0.
    library = available("openmpi5" if kind == "scatter" else "mpich4")
    first = recorded(library, tmp_path / "t", "p" + kind)
    first.assert_equal()
    if kind == "allgather in place":
        assert_stops(first, 1, 1, rf"{STOPS}.*received differs at call 8")
    else:
        # Each of three is made, and started.
        assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 4")


@pytest.mark.in_turn("library")
@pytest.mark.parametrize("kind", ["preduce_scatter", "pbcast", "pneighbor_alltoallv", "pallgatherv"])
@pytest.mark.parametrize("library", WITH_PERSISTENT)
def test_other_libraries_notice_persistent_ones_too(tmp_path, library, kind):
    first = recorded(available(library), tmp_path / "t", kind)
    first.mpi = available("mpich4")
    first.assert_equal()
    assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call 4")


def test_another_result_of_a_persistent_reduction_is_noticed(tmp_path):
    first = recorded(available("mpich4"), tmp_path / "t", "pallreduce", "same")
    # Each of three is made, started and waited for.
    assert_stops(first, -1, 1, rf"{STOPS}.*received differs at call 6")


# ---- derived datatypes, which the program frees before the calls are over ----


def assert_noticed(mpi, folder, kind):
    first = recorded(mpi, folder, kind, "derived")
    first.assert_equal()
    if "allgather in place" in kind:
        assert_stops(first, 1, 1, rf"{STOPS}.*received differs at call")
    else:
        assert_stops(first, 1, 1, RANK_1 + r".*sent (and received )?differs? at call")


@pytest.mark.parametrize("kind", [*KINDS, *NEIGHBORS])
def test_elements_with_holes_are_compared_and_holes_are_not(openmpi4, tmp_path, kind):
    assert_noticed(openmpi4, tmp_path / "t", "i" + kind)


@pytest.mark.parametrize("kind", ["pallreduce", "pgatherv", "pneighbor_alltoallw"])
def test_persistent_collectives_compare_elements_with_holes_too(tmp_path, kind):
    assert_noticed(available("mpich4"), tmp_path / "t", kind)


@pytest.mark.in_turn("library")
@pytest.mark.parametrize("kind", ["allreduce", "iallreduce", "gatherv", "alltoallw", "reduce_scatter"])
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_other_libraries_compare_elements_with_holes_too(tmp_path, library, kind):
    assert_noticed(available(library), tmp_path / "t", kind)
