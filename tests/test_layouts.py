"""Messages of random datatypes that evenkeel carries, against an interpretation of their type maps."""

import re

import pytest

from test_messages import OWN, messages_carried


def run_layouts(mpi, types, seed, *more, env=OWN, **options):
    """Returns the outcome, and the share of messages that are as the library packs them, but wrong."""
    program = mpi.build("random_layouts.c")
    # MPI_Get_elements of MPICH 4 divides by zero for some types, with or without evenkeel.
    elements = f"elements={int(mpi.family != 'mpich')}"
    outcome = mpi.run(program, 2, f"types={types}", f"seed={seed}", elements, *more, env=env, **options).ok()
    checks = re.search(r"RESULT checks (\d+) failures 0 ", outcome.out)
    deviations = [int(count) for count in re.findall(r"rank \d deviations (\d+)", outcome.out)]
    assert checks and len(deviations) == 2, outcome.text
    return outcome, sum(deviations) / int(checks[1])


@pytest.mark.in_turn
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_messages_of_random_datatypes_have_the_bytes_that_their_type_maps_say(mpi, seed, report):
    outcome, deviating = run_layouts(mpi, 1500, seed, report=report)
    assert messages_carried(outcome)[0] > 5000, outcome.text
    # Types are left to the library if it gives wrong bounds, as Open MPI does for MPI_Type_vector(7, 1, -1).
    # No other error of its may come through: Open MPI 5 by itself moves every hundredth type wrongly.
    assert deviating < 1 / 1000, outcome.text


def test_the_same_holds_if_ranks_cannot_read_the_memory_of_others(openmpi4):
    run_layouts(openmpi4, 500, 3, env=OWN | {"EVENKEEL_CMA": "off"})


def test_the_library_keeps_the_same_rules(mpi):
    """This shows that the program demands nothing that MPI does not, errors of the libraries aside."""
    mixed = f"mixed={int(mpi.name != 'mpich4')}"
    outcome, deviating = run_layouts(mpi, 500, 1, "alone=1", "truncate=0", mixed, env=None, shim=False)
    assert deviating < 1 / 50, outcome.text


@pytest.mark.parametrize("program", ["reused_types.c", "fortran_types.f90"])
def test_a_handle_that_is_used_again_means_its_new_layout(mpi, program, report):
    """A type is forgotten when it is freed, also by Fortran: its successor has the same handle."""
    if program.endswith("f90") and not mpi.fc:
        pytest.skip(f"{mpi.name} has no Fortran compiler here")
    outcome = mpi.run(mpi.build(program), 2, env=OWN, report=report).ok()
    reused = [int(count) for count in re.findall(r"reused (\d+) wrong 0", outcome.out)]
    assert len(reused) == 2 and min(reused) > 50, outcome.text
    assert messages_carried(outcome)[0] >= 200, outcome.text


def test_there_may_be_more_types_than_are_remembered(mpi, report):
    outcome = mpi.run(mpi.build("many_types.c"), 2, env=OWN, report=report).ok()
    assert " failures 0 " in outcome.out, outcome.text
    assert messages_carried(outcome)[0] >= 2 * 32000, outcome.text


def run_collectives(mpi, ranks, rounds, *more, env=OWN, **options):
    program = mpi.build("random_layout_collectives.c")
    reversed_ = f"reversed={int(mpi.family != 'openmpi')}"
    return mpi.run(program, ranks, f"rounds={rounds}", reversed_, *more, env=env, **options)


def assert_no_failure(outcome):
    outcome.ok()
    assert " failures 0 " in outcome.out, outcome.text


@pytest.mark.in_turn
@pytest.mark.parametrize(("ranks", "seed"), [(2, 1), (3, 2), (5, 3)])
def test_collectives_of_random_datatypes_have_the_bytes_that_their_type_maps_say(mpi, ranks, seed, report):
    outcome = run_collectives(mpi, ranks, 1000, f"seed={seed}", report=report)
    assert_no_failure(outcome)
    assert "deviations 0" in outcome.out, outcome.text
    for operation in ("bcast", "allgather", "alltoallw", "scan"):
        assert outcome.operations(operation), f"the library carried {operation}"


def test_the_library_moves_the_same_data_in_collectives(mpi):
    outcome = run_collectives(mpi, 3, 500, "alone=1", env=None, shim=False)
    # On some processors it writes beyond memory of its own in MPI_Gather: malloc then ends the rank.
    if mpi.name == "impi" and re.search("Segmentation fault|Aborted", outcome.text):
        pytest.skip("Intel MPI by itself crashes here when it gathers data of derived datatypes")
    assert_no_failure(outcome)
    deviations = [int(count) for count in re.findall(r"rank \d deviations (\d+)", outcome.out)]
    assert len(deviations) == 3 and sum(deviations) < 500 * 3 / 50, outcome.text
