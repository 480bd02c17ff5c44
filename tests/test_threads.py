"""Threads of one rank may call MPI at once (MPI_THREAD_MULTIPLE)."""

import pytest

import litmus_tests
from attack_runs import deferred_share, run_attack
from litmus_tests import run_litmus
from verdicts import assert_never_wrong, assert_passed

pytestmark = pytest.mark.in_turn


@pytest.mark.parametrize("ranks, threads", [(2, 4), (3, 3)])
def test_threads_call_collectives_at_once(mpi, ranks, threads):
    outcome = mpi.run(mpi.build("threads.c"), ranks, f"threads={threads}", "rounds=100")
    if "NO THREADS" in outcome.out:
        pytest.skip(f"{mpi.name} grants no MPI_THREAD_MULTIPLE")
    assert_passed(outcome)


@pytest.mark.parametrize("started, elements", [(400, 1), (2, 1_000_000)])
@pytest.mark.parametrize("call", ["receive", "wait", "probe", "barrier", "split"])
def test_a_thread_in_a_blocking_call_moves_on_what_another_starts(mpi, call, started, elements):
    """400 are more than the segment holds at once; so are 4 MB."""
    program = mpi.build("blocked_threads.c")
    outcome = mpi.run(program, 2, f"in={call}", f"started={started}", f"elements={elements}", timeout=60)
    if "NO THREADS" in outcome.out:
        pytest.skip(f"{mpi.name} grants no MPI_THREAD_MULTIPLE")
    assert_passed(outcome)


@pytest.mark.parametrize("mode", ["auto", "deferred"])
@pytest.mark.parametrize("case", litmus_tests.RANKS)
def test_multiple_without_a_second_thread_keeps_the_order_of_messages(mpi, case, mode):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("levels of thread support are tested under Open MPI 4 and MPICH 5")
    env = {"EVENKEEL_BARRIER": mode}
    assert_never_wrong(run_litmus(mpi, case, 50, env, "threads=multiple"))


def test_multiple_without_a_second_thread_defers(mpi, directory, report):
    """mpi4py asks for this level. Random programs cannot tell that their barriers are deferred."""
    arguments = ["multiple=1", "rounds=500"]
    if mpi.name == "mpich4":
        # At this level it aborts in calls from within its callbacks, without evenkeel too.
        arguments.append("contexts=itself")
    outcome, _, wrong = run_attack(mpi, 3, directory, *arguments, report=report, EVENKEEL_BARRIER="deferred")
    assert wrong == 0, f"{wrong} impossible observations, exit code {outcome.code}\n{outcome.text[-4000:]}"
    if "catch its own system calls" not in outcome.err:
        assert deferred_share(outcome) > 0.02, "few barriers were deferred: this tested little"
