"""Random operations on random communicators (programs/random.c) agree with a serial oracle.

Also: blocking and nonblocking operations in orders of their own, and communicators by the thousand.
"""

import pytest

from verdicts import assert_passed


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks, seed", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 6)])
def test_random_operations_are_right(mpi, ranks, seed):
    """With careful=1 the program waits before it frees a communicator.

    The host library carries out large nonblocking operations, and Open MPI crashes if their communicator is
    freed.
    """
    careful = int(mpi.family == "openmpi")
    args = [f"seed={seed}", "steps=300", f"careful={careful}"]
    assert_passed(mpi.run(mpi.build("random.c"), ranks, *args))


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks, seed", [(2, 31), (3, 32), (5, 33)])
def test_long_operations_are_right(mpi, ranks, seed):
    """Blocks of up to 2 MB: through bounce buffers, which many of them fill, and from the others' memory."""
    args = [f"seed={seed}", "steps=500", "largest=40000", f"careful={int(mpi.family == 'openmpi')}"]
    assert_passed(mpi.run(mpi.build("random.c"), ranks, *args))


@pytest.mark.parametrize("ranks", [2, 3])
def test_there_may_be_more_long_operations_than_bounce_buffers_hold(openmpi4, ranks):
    """In place: a rank whose memory others read must not write its result there yet."""
    assert_passed(openmpi4.run(openmpi4.build("many_long_collectives.c"), ranks))


@pytest.mark.parametrize("seed", range(10, 16))
def test_a_communicator_may_be_freed_during_an_operation(openmpi4, seed):
    """evenkeel carries out all small operations."""
    args = [f"seed={seed}", "steps=500", "largest=100"]
    assert_passed(openmpi4.run(openmpi4.build("random.c"), 4, *args))


def test_there_may_be_more_nonblocking_operations_than_the_ring_has_instances(openmpi4):
    args = ["seed=20", "steps=900", "deep=400", "largest=10", "stall=0"]
    assert_passed(openmpi4.run(openmpi4.build("random.c"), 3, *args))


@pytest.mark.in_turn
@pytest.mark.parametrize("ops, size", [(3, 8), (40, 8), (3, 32768)])
@pytest.mark.parametrize("ranks", [2, 5])
def test_blocking_and_nonblocking_operations_are_matched_separately(mpi, ranks, ops, size, report):
    """Also if more operations are pending than the window and the ring hold."""
    outcome = mpi.run(mpi.build("orders.c"), ranks, f"ops={ops}", f"bytes={size}", report=report)
    assert_passed(outcome)
    assert outcome.calls("allreduce") > 0
    assert outcome.calls("allreduce", "host_calls") == 0, "the host library carried calls out"


@pytest.mark.parametrize("ranks", [2, 3])
def test_thousands_of_communicators_one_after_another_use_no_more_memory(mpi, ranks):
    assert_passed(mpi.run(mpi.build("communicator_churn.c"), ranks, "rounds=3000"))


def test_the_host_library_carries_communicators_that_do_not_fit_into_the_segment(openmpi4):
    """There are hundreds at once, and all results are right."""
    program = openmpi4.build("communicator_churn.c")
    assert_passed(openmpi4.run(program, 3, "rounds=100", "hoard=700"))
