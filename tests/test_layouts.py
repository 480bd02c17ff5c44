"""Messages of random datatypes that evenkeel carries, against the library's MPI_Pack and MPI_Unpack."""

import re

import pytest

from test_messages import OWN, messages_carried

LIBRARIES = ("openmpi4", "mpich4")


def run_layouts(mpi, types, seed, *more, env=OWN, **options):
    program = mpi.build("random_layouts.c")
    # It ends programs for some types under MPICH 4, with or without evenkeel.
    elements = f"elements={int(mpi.family != 'mpich')}"
    outcome = mpi.run(program, 2, f"types={types}", f"seed={seed}", elements, *more, env=env, **options).ok()
    assert " failures 0 " in outcome.out, outcome.text
    return outcome


# With seed 2, MPI_Unpack of Open MPI 4 ends the program, with or without evenkeel.
@pytest.mark.parametrize("seed", [1, 3])
def test_messages_of_random_datatypes_have_the_bytes_that_the_library_packs(mpi, seed, report):
    if mpi.name not in LIBRARIES and seed > 1:
        pytest.skip("more types are tested under Open MPI 4 and MPICH 4")
    outcome = run_layouts(mpi, 1500, seed, report=report)
    assert messages_carried(outcome)[0] > 5000, outcome.text


def test_the_same_holds_if_ranks_cannot_read_the_memory_of_others(openmpi4):
    run_layouts(openmpi4, 500, 3, env=OWN | {"EVENKEEL_CMA": "off"})


def test_the_library_keeps_the_same_rules(mpi):
    """This shows that the program demands nothing that MPI does not."""
    run_layouts(mpi, 200, 1, "truncate=0", env=None, shim=False)


def test_a_handle_that_is_used_again_means_its_new_layout(mpi, report):
    """A type is forgotten when it is freed: its successor has the same handle."""
    outcome = mpi.run(mpi.build("reused_types.c"), 2, env=OWN, report=report).ok()
    reused = [int(count) for count in re.findall(r"reused (\d+) wrong 0", outcome.out)]
    assert len(reused) == 2 and min(reused) > 50, outcome.text
    assert messages_carried(outcome)[0] >= 200, outcome.text
