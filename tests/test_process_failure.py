"""When a rank dies, the others end, one of them says which rank it was, and nothing stays behind."""

import os
import re

import pytest

from dead_ranks import assert_dead_rank_is_named, run_until_a_rank_dies
from mpis import FAULT_TOLERANCE, KEEP_JOB_AFTER_DEATH

pytestmark = pytest.mark.in_turn


def shared_memory():
    """What evenkeel has left there; tests that run meanwhile have files of their own."""
    names = {name for name in os.listdir("/dev/shm") if "evenkeel" in name.lower()}
    return {name for name in names if not name.startswith("evenkeel-hidden-")}


@pytest.mark.parametrize("op", ["allreduce", "barrier", "ibarrier", "reduce", "bcast"])
def test_a_killed_rank_is_named(mpi, op):
    if mpi.family == "mpich":
        pytest.skip("MPICH's launcher kills the other ranks in any case; none is left to name the dead one")
    if op != "allreduce" and mpi.name != "openmpi4":
        pytest.skip(
            "operations do not depend on the library; all are tested under Open MPI 4, one under the others"
        )
    before = shared_memory()
    outcome = run_until_a_rank_dies(mpi, f"op={op}", "victim=2")
    assert_dead_rank_is_named(outcome, 2)
    assert not outcome.left_over, outcome.left_over
    assert shared_memory() == before


def test_a_killed_rank_ends_the_job_under_the_launchers_defaults(mpi):
    outcome = mpi.run(mpi.build("killed_rank.c"), 4, "victim=1")
    assert outcome.code not in (0, None), f"exit code {outcome.code}\n{outcome.text}"
    assert re.search(r"rank 1\b|signal 9|Killed|EXIT CODE: 9", outcome.text), outcome.text
    assert not outcome.left_over, outcome.left_over


def test_a_rank_that_exits_without_finalize_ends_the_job(mpi):
    """The launcher decides on the exit code (MPICH's is 0)."""
    outcome = mpi.run(mpi.build("killed_rank.c"), 3, "victim=2", "how=exit")
    assert outcome.code is not None, f"some process hung\n{outcome.text}"
    if mpi.family != "mpich":
        assert outcome.code != 0, outcome.text
    assert not outcome.left_over, outcome.left_over


def test_without_evenkeel_the_others_hang(openmpi4):
    """The host library alone waits for ever, so the tests above can fail."""
    outcome = openmpi4.run(
        openmpi4.build("killed_rank.c"),
        4,
        "victim=2",
        extra=KEEP_JOB_AFTER_DEATH["openmpi"],
        env={"EVENKEEL_OFF": "1"},
        timeout=8,
    )
    assert outcome.code is None, f"exit code {outcome.code}: this test proves nothing\n{outcome.text}"


@pytest.mark.parametrize("what", ["barrier", "large", "gather", "iallreduce"])
def test_survivors_go_on_where_the_library_reports_failures(openmpi5, what):
    """A rank that waits for the dead one gets the library's error. The survivors' communicator works."""
    program = openmpi5.build("survivors.c")
    outcome = openmpi5.run(program, 4, "victim=1", f"what={what}", extra=FAULT_TOLERANCE)
    assert outcome.code is not None, f"some process hung\n{outcome.text}"
    assert re.search(r"SURVIVORS 3 RESULT checks 6 failures 0", outcome.out), outcome.text
    assert not outcome.left_over, outcome.left_over


def end_inside_init(mpi, at, how, extra=()):
    """Runs a program of three ranks of which rank 1 ends inside MPI_Init (dying_init.c)."""
    below = mpi.build("dying_init.c", "-shared", "-fPIC", name="dying_init.so")
    env = {"DYING_RANK": "1", "DYING_AT": at, "DYING_HOW": how}
    program, preload = mpi.build("counted_calls.c"), [mpi.shim, below]
    outcome = mpi.run(program, 3, preload=preload, env=env, extra=extra)
    assert outcome.code is not None, f"some process hung\n{outcome.text}"
    assert not outcome.left_over, outcome.left_over
    return outcome


def pid_of_victim(outcome):
    victim = re.search(r"victim (\d+)", outcome.err)
    assert victim, outcome.text
    return victim.group(1)


# Before the library's MPI_Init, and at the exchanges with the other ranks that follow it.
PLACES = ["before", "0", "1", "2"]


@pytest.mark.parametrize("how", ["exit", "success"])
@pytest.mark.parametrize("at", PLACES)
def test_a_rank_that_exits_inside_init_is_named_and_ends_the_job(mpi, at, how):
    outcome = end_inside_init(mpi, at, how)
    sentence = rf"evenkeel: rank 1 \(process {pid_of_victim(outcome)}\) exits with code [03] inside MPI_Init"
    assert outcome.code != 0 and len(re.findall(sentence, outcome.err)) == 1, outcome.text


@pytest.mark.parametrize("at", PLACES)
def test_a_rank_that_is_killed_inside_init_ends_the_job(mpi, at):
    """The launcher sees it. Open MPI's names the rank, MPICH's a process.

    What the rank has printed shortly before may be lost: MPICH's launcher ends without reading it.
    """
    if (mpi.name, at) == ("impi", "before"):
        pytest.skip("Intel MPI's launcher waits for ever for a rank that was killed before it had joined")
    outcome = end_inside_init(mpi, at, "kill")
    assert outcome.code != 0, outcome.text


@pytest.mark.parametrize("at", ["1", "2"])
def test_a_rank_that_is_killed_inside_init_is_named_where_the_launcher_leaves_the_job_alone(mpi, at):
    if mpi.family == "mpich":
        pytest.skip("MPICH's launcher kills the other ranks in any case; none is left to name the dead one")
    outcome = end_inside_init(mpi, at, "kill", KEEP_JOB_AFTER_DEATH[mpi.family])
    said = [line for line in outcome.said if "has died" in line]
    pid = pid_of_victim(outcome)
    assert len(said) == 1 and f"rank 1 (process {pid}) has died" in said[0], outcome.text
    assert "MPI_Init" in said[0], said
