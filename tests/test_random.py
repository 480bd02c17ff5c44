"""Random scenarios (tests/programs/random.c) against a serial oracle, and communicators by the thousand."""

import pytest

from test_matrix import result


@pytest.mark.parametrize("ranks, seed", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 6)])
def test_random_scenario(mpi, ranks, seed):
    """Open MPI itself dies when a communicator is freed under a nonblocking operation, and evenkeel leaves it the large
    nonblocking ones: there the program waits first (careful=1)."""
    careful = int(mpi.family == "openmpi")
    result(
        mpi.run(mpi.build("random.c"), ranks, f"seed={seed}", "steps=300", f"careful={careful}", timeout=120)
    )


@pytest.mark.parametrize("seed", range(10, 16))
def test_random_scenario_of_small_operations(openmpi4, seed):
    """All of them evenkeel's own: communicators are freed while operations on them are under way."""
    result(
        openmpi4.run(openmpi4.build("random.c"), 4, f"seed={seed}", "steps=500", "largest=100", timeout=120)
    )


def test_many_outstanding(openmpi4):
    """More nonblocking operations at once than the ring has instances."""
    result(
        openmpi4.run(
            openmpi4.build("random.c"),
            3,
            "seed=20",
            "steps=900",
            "deep=400",
            "largest=10",
            "stall=0",
            timeout=120,
        )
    )


@pytest.mark.parametrize("ops, size", [(3, 8), (40, 8), (3, 32768)])
@pytest.mark.parametrize("ranks", [2, 5])
def test_orders_of_blocking_and_nonblocking_operations(mpi, ranks, ops, size, report):
    """They match apart from each other, also where more are under way than the window and the ring hold."""
    outcome = mpi.run(mpi.build("orders.c"), ranks, f"ops={ops}", f"bytes={size}", report=report)
    result(outcome)
    assert outcome.calls("allreduce") > 0 and outcome.calls("allreduce", "host_calls") == 0, (
        "the host has done it"
    )


@pytest.mark.parametrize("ranks", [2, 3])
def test_communicators_come_and_go(mpi, ranks):
    """Thousands of them, one after another: memory stays where it is."""
    if mpi.family == "mpich" and ranks > 2:
        pytest.skip("default MPICH needs milliseconds for each communicator when ranks outnumber cores")
    result(mpi.run(mpi.build("communicator_churn.c"), ranks, "rounds=3000", timeout=120))


def test_hundreds_of_communicators_at_once(openmpi4):
    """More than the segment has room for: the last ones are the host library's, and all give right answers."""
    result(openmpi4.run(openmpi4.build("communicator_churn.c"), 3, "rounds=100", "hoard=700", timeout=120))
