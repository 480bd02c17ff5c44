"""Ranks that wait in calls of the MPI library, where ranks share cores."""

import subprocess

import pytest

from verdicts import assert_passed

pytestmark = pytest.mark.in_turn

BLOCKING = [
    *("receives", "probes", "probes_matched", "synchronous", "long_send", "sendrecv", "replace"),
    *("wait_one", "wait_all", "wait_any", "wait_some", "persistent", "persistent_collective"),
    *("truncated", "refused", "fence", "flush", "duplicate"),
]
ASKING = ["tests", "looks"]

ONE_CORE = ["taskset", "-c", "0"]


def build(mpi):
    # What the program defines in place of sched_yield is seen by libraries only if it is exported.
    return mpi.build("host_waits.c", "-rdynamic")


def run(mpi, ranks, calls, expect, mode="auto", wrap=()):
    what = [f"what={','.join(calls)}", f"expect={expect}"]
    # Open MPI would bind each rank to a core of its own.
    extra = ["--bind-to", "none"] if wrap and mpi.family == "openmpi" else []
    env = {"EVENKEEL_HOST_WAITS": mode}
    return mpi.run(build(mpi), ranks, *what, env=env, extra=extra, wrap=wrap, timeout=120)


def uses_ucx(mpi):
    return "libucp" in subprocess.run(["ldd", build(mpi)], capture_output=True, text=True, check=True).stdout


def needs_a_library_that_yields_under_evenkeel(mpi):
    if mpi.name == "impi":
        pytest.skip("this library yields by itself where ranks share cores")
    if mpi.name == "mpich4" and not uses_ucx(mpi):
        pytest.skip("this library does not use UCX")


@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_give_the_same_however_a_rank_waits(mpi, ranks):
    """Data, statuses, requests and calls of an error handler."""
    ours = assert_passed(run(mpi, ranks, [*BLOCKING, *ASKING], "any", "yield"))
    assert ours == assert_passed(run(mpi, ranks, [*BLOCKING, *ASKING], "any", "host"))


def test_ranks_that_share_cores_yield_in_calls_of_the_library(mpi):
    needs_a_library_that_yields_under_evenkeel(mpi)
    assert_passed(run(mpi, 2, BLOCKING, "yields", wrap=ONE_CORE))


def test_tests_and_probes_never_sleep(mpi):
    needs_a_library_that_yields_under_evenkeel(mpi)
    assert_passed(run(mpi, 2, ASKING, "any", wrap=ONE_CORE))


def test_mpich_waits_by_itself_if_it_is_told_to(mpi):
    if mpi.name != "mpich4":
        pytest.skip("this library yields by itself, at least now and then")
    assert_passed(run(mpi, 2, BLOCKING, "keeps", "host"))


@pytest.mark.parametrize("how", ["sends", "tests"])
def test_a_thread_that_waits_lets_another_one_have_the_lock_of_the_library(mpi, how):
    extra = ["--bind-to", "none"] if mpi.family == "openmpi" else []
    program = mpi.build("waiting_for_a_lock.c", "-pthread")
    outcome = mpi.run(program, 2, f"how={how}", wrap=ONE_CORE, extra=extra, timeout=120)
    if "NO THREADS" in outcome.out:
        pytest.skip(f"{mpi.name} grants no MPI_THREAD_MULTIPLE")
    assert_passed(outcome)
