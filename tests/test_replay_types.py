"""A repetition notices that elements of derived datatypes are others, and not what lies in their holes."""

import pytest

from paths import EVENKEEL
from replays import Recorded, available

TYPES = 9
EQUAL = ["-1", "0"]


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def recorded(mpi, folder):
    return Recorded(mpi, folder, "replayed_types.c", 2, EQUAL)


@pytest.mark.parametrize("library", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi"])
def test_equal_messages_with_other_holes_are_repeated(library, tmp_path):
    recorded(available(library), tmp_path / "t").assert_equal()


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_another_number_is_noticed_where_it_is_sent(library, tmp_path):
    first = recorded(available(library), tmp_path / "t")
    for which in range(TYPES):
        first.assert_stops([which, 1], r"rank 0: the repetition stops: .*sent differs at call")


@pytest.mark.parametrize("library", ["openmpi4", "openmpi5", "mpich5", "mpiabi"])
def test_the_trace_of_one_library_is_that_of_another(library, tmp_path):
    first = recorded(available("mpich4"), tmp_path / "t")
    first.mpi = available(library)
    first.assert_equal()
