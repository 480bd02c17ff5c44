"""Calls that evenkeel leaves to the host library work beside those that it carries out itself.

PMPI tools may be loaded above the shim (they see the program's calls) or below it (they see the host's).
"""

import collections
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mpis import FAULT_TOLERANCE
from verdicts import assert_never_wrong, assert_passed


@pytest.mark.parametrize("what", ["io", "window", "inter", "neighbour", "persistent"])
def test_other_parts_of_mpi_work_beside_collectives(mpi, what, tmp_path):
    ranks = 3
    program = mpi.build("host_library.c")
    if (mpi.name, what) == ("mpich4", "window"):
        alone = mpi.run(program, ranks, f"what={what}", shim=False)
        if alone.code != 0:
            pytest.skip(
                "MPI_Win_allocate of MPICH 4.0.2 between two ranks is wrong here, also without evenkeel"
            )
    assert_passed(mpi.run(program, ranks, f"what={what}", f"file={tmp_path / 'data'}"))


def test_a_rank_that_waits_in_a_barrier_answers_accesses_to_its_window(mpi):
    """Each update needs several answers. If a rank that has waited long gave one in 8 ms, none would be fast.

    However busy the machine is, both ranks have a core at the same time during some of the updates.
    """
    outcome = mpi.run(mpi.build("passive_target.c"), 2, "after_ms=1000", "enough_us=4000")
    assert_never_wrong(outcome)
    assert float(re.search(r"FASTEST ([\d.]+) us", outcome.out)[1]) < 4000, outcome.out


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "act, victim, multiple, mode",
    [
        ("send", 0, 0, "deferred"),
        ("ssend", 2, 1, "strict"),
        ("receive", 0, 1, "strict"),
        ("barrier", 2, 0, "deferred"),
        ("barrier", 0, 1, "strict"),
        ("allreduce", 0, 0, "strict"),
        ("iallreduce", 2, 0, "deferred"),
        ("dup", 0, 1, "deferred"),
    ],
)
def test_what_is_attached_to_comm_self_communicates_from_finalize(mpi, act, victim, multiple, mode):
    """With ranks that have not come to MPI_Finalize, while rank 0 gathers records for the report."""
    program = mpi.build("finalize_callbacks.c")
    words = [f"act={act}", f"victim={victim}", f"multiple={multiple}"]
    assert mpi.run(program, 3, *words, env={"EVENKEEL_BARRIER": mode}).code == 0


def test_persistent_collectives_of_the_library_can_be_waited_for_beside_those_of_evenkeel(mpich5):
    assert_passed(mpich5.run(mpich5.build("host_library.c"), 2, "what=persistent", "beside=1"))


@pytest.mark.parametrize(
    "what", ["barrier", "allreduce", "large", "gather", "bcast", "ibarrier", "iallreduce", "beside"]
)
def test_ranks_that_wait_learn_that_a_communicator_was_revoked(openmpi5, what, report):
    """Of the libraries here only Open MPI 5 can revoke. MPICH's MPIX_Comm_revoke ends the program."""
    program = openmpi5.build("revoke.c")
    outcome = openmpi5.run(program, 3, f"what={what}", extra=FAULT_TOLERANCE, report=report)
    assert_passed(outcome)
    assert outcome.calls("allreduce") >= 3 * 5, "evenkeel carried nothing out"


def test_spawned_processes_take_part_in_collectives(openmpi4):
    assert_passed(openmpi4.run(openmpi4.build("host_library.c"), 2, "what=spawn"))


def build_tool(mpi):
    return mpi.build("pmpi_tool.c", "-shared", "-fPIC", name="tool.so")


def calls_that_the_tool_saw(outcome):
    """By rank: barriers, allreduces, iallreduces, bcasts."""
    lines = re.findall(
        r"TOOL rank (\d+) barrier (\d+) allreduce (\d+) iallreduce (\d+) bcast (\d+)", outcome.err
    )
    return {int(line[0]): tuple(map(int, line[1:])) for line in lines}


def test_a_tool_above_the_shim_sees_the_programs_calls(mpi, report):
    """It is loaded before the shim. evenkeel still carries the calls out."""
    outcome = mpi.run(mpi.build("counted_calls.c"), 2, preload=[build_tool(mpi), mpi.shim], report=report)
    assert_passed(outcome)
    assert calls_that_the_tool_saw(outcome) == {0: (10, 20, 30, 40), 1: (10, 20, 30, 40)}, outcome.err
    assert outcome.calls("allreduce") == 2 * (20 + 30) and outcome.calls("bcast") == 2 * 40


def test_a_tool_below_the_shim_sees_what_is_left_to_the_host(mpi, report):
    """It sees only the few collectives that evenkeel itself calls at the start and at the end."""
    outcome = mpi.run(mpi.build("counted_calls.c"), 2, preload=[mpi.shim, build_tool(mpi)], report=report)
    assert_passed(outcome)
    assert outcome.calls("allreduce") == 2 * (20 + 30)
    seen = calls_that_the_tool_saw(outcome)
    assert set(seen) == {0, 1}, outcome.err
    for barriers, allreduces, iallreduces, bcasts in seen.values():
        assert barriers < 10 and allreduces < 20 and iallreduces == 0 and bcasts < 40, outcome.err


def test_a_tool_below_the_shim_sees_everything_if_evenkeel_is_off(openmpi4):
    preload, off = [openmpi4.shim, build_tool(openmpi4)], {"EVENKEEL_OFF": "1"}
    outcome = openmpi4.run(openmpi4.build("counted_calls.c"), 2, preload=preload, env=off)
    assert_passed(outcome)
    assert calls_that_the_tool_saw(outcome) == {0: (10, 20, 30, 40), 1: (10, 20, 30, 40)}, outcome.err


def eztrace_libraries(mpi):
    """EZTrace's name for this library, and what its launcher preloads (Debian's EZTrace for Debian's MPI)."""
    module = {"openmpi4": "openmpi", "mpich4": "mpich"}.get(mpi.name)
    if not module:
        pytest.skip(f"Debian's EZTrace has no module for {mpi.name}")
    found = list(Path("/usr/lib").glob(f"*/libeztrace-{module}.so"))
    if not found or not shutil.which("otf2-print"):
        pytest.skip("EZTrace or otf2-print is not installed (Debian packages eztrace, otf2-tools)")
    return module, [found[0].with_name(f"libeztrace-{part}.so") for part in ("lib", module)]


def run_traced(mpi, folder, order, report, **options):
    """Runs under EZTrace. `order(libraries)` says in which order its libraries and the shim are preloaded.

    Returns the outcome, and for each rank how often the trace has each function.
    """
    module, libraries = eztrace_libraries(mpi)
    env = {"EZTRACE_TRACE": module, "EZTRACE_TRACE_DIR": str(folder)} | options
    outcome = mpi.run(mpi.build("counted_calls.c"), 2, preload=order(libraries), report=report, env=env)
    assert_passed(outcome)
    (trace,) = folder.rglob("*.otf2")
    printed = subprocess.run(["otf2-print", str(trace)], capture_output=True, text=True, check=True)
    events = printed.stdout
    calls = collections.defaultdict(collections.Counter)
    for place, function in re.findall(r'^ENTER +(\d+) .*Region: "(MPI_\w+)"', events, re.MULTILINE):
        calls[place][function] += 1
    assert len(calls) == 2, f"{len(calls)} ranks in the trace\n{events[:3000]}"
    return outcome, list(calls.values())


def test_eztrace_above_the_shim_sees_the_programs_calls(mpi, tmp_path, report):
    """EZTrace is a PMPI tool that knows nothing of evenkeel."""
    outcome, ranks = run_traced(mpi, tmp_path / "trace", lambda libraries: [*libraries, mpi.shim], report)
    for calls in ranks:
        counts = [calls[f"MPI_{name}"] for name in ("Barrier", "Allreduce", "Iallreduce", "Bcast", "Wait")]
        assert counts == [10, 20, 30, 40, 30], calls
    assert outcome.calls("allreduce") == 2 * (20 + 30) and outcome.calls("bcast") >= 2 * 40


def test_eztrace_below_the_shim_sees_what_is_left_to_the_host(mpi, tmp_path, report):
    """evenkeel carries the messages, since barriers may be deferred."""
    outcome, ranks = run_traced(
        mpi,
        tmp_path / "trace",
        lambda libraries: [mpi.shim, *libraries],
        report,
        EVENKEEL_BARRIER="auto",
    )
    for calls in ranks:
        assert calls["MPI_Iallreduce"] == 0 and calls["MPI_Bcast"] < 40 and calls["MPI_Allreduce"] < 20, calls
        assert calls["MPI_Send"] + calls["MPI_Recv"] == 0 < sum(calls.values()), calls
    assert outcome.calls("allreduce") == 2 * (20 + 30)
