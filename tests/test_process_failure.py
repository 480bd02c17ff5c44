"""A rank dies in the middle: the others end, somebody says which one it was, nothing stays behind."""

import os
import re

import pytest

# The launchers kill a job when one of its processes dies. Told not to, they leave it to evenkeel.
LEAVE_IT = {
    "openmpi4": ["--enable-recovery"],
    "openmpi5": ["--enable-recovery"],
    "mpich4": ["-disable-auto-cleanup"],
    "mpich5": ["-disable-auto-cleanup"],
    "mpiabi": ["-disable-auto-cleanup"],
}


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "evenkeel" in name.lower()}


@pytest.mark.parametrize("op", ["allreduce", "barrier", "ibarrier", "reduce", "bcast"])
def test_killed_rank_is_named(mpi, op):
    if mpi.family == "mpich":
        pytest.skip(
            "MPICH's launcher ends the others by a signal even when told to leave them alone: nobody is left to speak"
        )
    if op != "allreduce" and mpi.name != "openmpi4":
        pytest.skip(
            "the operations do not depend on the MPI library: all of them under Open MPI 4, one under each other one"
        )
    before = shared_memory()
    # The launcher's own exit code says nothing in this mode; the ranks' do.
    program = ["sh", "-c", '"$@"; echo "status $?"', "sh", mpi.build("killed_rank.c")]
    outcome = mpi.run(program, 4, f"op={op}", "victim=2", extra=LEAVE_IT[mpi.name], timeout=40)
    pid = re.search(r"victim (\d+)", outcome.err).group(1)
    assert outcome.code is not None, f"somebody hung\n{outcome.text}"
    statuses = sorted(re.findall(r"status (\d+)", outcome.out))
    assert statuses == ["137", "71", "71", "71"], outcome.text
    said = re.findall(r"^evenkeel: .*", outcome.err, re.M)
    assert len(said) == 1, f"said once, by one rank: {said}\n{outcome.err}"
    assert re.search(rf"rank 2\b.*\b{pid}\b", said[0]), said[0]
    assert not outcome.left_over, outcome.left_over
    assert shared_memory() == before


def test_killed_rank_under_the_launcher_as_it_is(mpi):
    outcome = mpi.run(mpi.build("killed_rank.c"), 4, "victim=1", timeout=40)
    assert outcome.code not in (0, None), f"exit code {outcome.code}\n{outcome.text}"
    assert re.search(r"rank 1\b|signal 9|Killed|EXIT CODE: 9", outcome.text), outcome.text
    assert not outcome.left_over, outcome.left_over


def test_rank_that_ends_without_finalize(mpi):
    """Exit status 0 or not is the launcher's affair (MPICH's says 0); that everybody ends is ours too."""
    outcome = mpi.run(mpi.build("killed_rank.c"), 3, "victim=2", "how=exit", timeout=40)
    assert outcome.code is not None, f"somebody hung\n{outcome.text}"
    if mpi.family != "mpich":
        assert outcome.code != 0, outcome.text
    assert not outcome.left_over, outcome.left_over


def test_without_evenkeel_the_others_hang(openmpi4):
    """What it is good for: the host library alone waits for ever."""
    outcome = openmpi4.run(
        openmpi4.build("killed_rank.c"),
        4,
        "victim=2",
        extra=LEAVE_IT["openmpi4"],
        env={"EVENKEEL_OFF": "1"},
        timeout=8,
    )
    assert outcome.code is None, f"exit code {outcome.code}; this proves nothing any more\n{outcome.text}"


@pytest.mark.parametrize("what", ["barrier", "large", "gather", "iallreduce"])
def test_survivors_go_on_where_the_library_reports_faults(what):
    """Who waits for a dead rank gets the library's own error, and what the program makes of those that are left works."""
    import mpis

    mpi = next(m for m in mpis.ALL if m.name == "openmpi5")
    if mpi.absent():
        pytest.skip(mpi.absent())
    outcome = mpi.run(
        mpi.build("survivors.c"), 4, "victim=1", f"what={what}", extra=["--with-ft", "ulfm"], timeout=40
    )
    assert outcome.code is not None, f"somebody hung\n{outcome.text}"
    assert re.search(r"SURVIVORS 3 RESULT checks 6 failures 0", outcome.out), outcome.text
    assert not outcome.left_over, outcome.left_over
