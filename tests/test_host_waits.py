"""Ranks that wait in calls of the MPI library, where ranks share cores."""

import subprocess

import pytest

from verdicts import assert_passed

pytestmark = pytest.mark.in_turn

# Calls that have no form that tests.
INDIVISIBLE = ["fence", "duplicate"]
DIVISIBLE = [
    *("receives", "probes", "probes_matched", "synchronous", "long_send", "sendrecv", "replace"),
    *(
        "wait_one",
        "wait_all",
        "wait_any",
        "wait_some",
        "persistent",
        "persistent_collective",
        "truncated",
        "refused",
    ),
]

ONE_CORE = ["taskset", "-c", "0"]


def build(mpi):
    # What the program defines in place of sched_yield is seen by libraries only if it is exported.
    return mpi.build("host_waits.c", "-rdynamic")


def run(mpi, ranks, calls, expect, mode="auto", wrap=()):
    what = f"what={','.join(calls)}"
    return mpi.run(
        build(mpi), ranks, what, f"expect={expect}", env={"EVENKEEL_HOST_WAITS": mode}, wrap=wrap, timeout=120
    )


def uses_ucx(mpi):
    return "libucp" in subprocess.run(["ldd", build(mpi)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_give_the_same_whoever_waits(mpi, ranks):
    """Data, statuses, requests and calls of an error handler."""
    ours = assert_passed(run(mpi, ranks, DIVISIBLE, "yields", "yield"))
    assert ours == assert_passed(run(mpi, ranks, DIVISIBLE, "any", "host"))


def test_ranks_of_mpich_that_share_cores_yield(mpi):
    if mpi.family != "mpich" or mpi.name == "impi":
        pytest.skip("this library yields by itself where ranks share cores")
    assert_passed(run(mpi, 2, DIVISIBLE, "yields", wrap=ONE_CORE))


def test_calls_that_cannot_be_taken_apart_yield_with_ucx(mpi):
    if mpi.family != "mpich" or mpi.name == "impi":
        pytest.skip("this library yields by itself where ranks share cores")
    if not uses_ucx(mpi):
        pytest.skip("this library does not use UCX")
    assert_passed(run(mpi, 2, INDIVISIBLE, "yields", wrap=ONE_CORE))


def test_mpich_waits_by_itself_if_it_is_told_to(mpi):
    if mpi.name != "mpich4":
        pytest.skip("this library yields by itself, at least now and then")
    assert_passed(run(mpi, 2, [*DIVISIBLE, *INDIVISIBLE], "keeps", "host"))
