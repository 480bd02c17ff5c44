"""What stays the host library's works beside what evenkeel does; PMPI tools sit above and below the shim."""

import collections
import pathlib
import re
import shutil
import subprocess

import pytest

from test_matrix import result


@pytest.mark.parametrize("what", ["io", "window", "inter", "neighbour", "persistent"])
def test_hosts_calls(mpi, what, tmp_path):
    """Two ranks where the host spins, three where it yields."""
    ranks = 3 if mpi.family == "openmpi" else 2
    if (mpi.name, what) == ("mpich4", "window"):
        alone = mpi.run(mpi.build("host_library.c"), ranks, f"what={what}", shim=False)
        if alone.code != 0:
            pytest.skip(
                "MPICH 4.0.2 itself gets these windows wrong here (MPI_Win_allocate between two ranks)"
            )
    result(mpi.run(mpi.build("host_library.c"), ranks, f"what={what}", f"file={tmp_path / 'data'}"))


@pytest.mark.xfail(
    strict=True,
    reason="MPICH's MPI_Testall fails on persistent collectives, and MPI_Waitall tests while evenkeel's are under way",
)
@pytest.mark.parametrize("name", ["mpich5"])
def test_persistent_collectives_waited_for_beside_ours(name):
    import mpis

    mpi = next(m for m in mpis.ALL if m.name == name)
    if mpi.absent():
        pytest.skip(mpi.absent())
    result(mpi.run(mpi.build("host_library.c"), 2, "what=persistent", "beside=1"))


@pytest.mark.parametrize(
    "what", ["barrier", "allreduce", "large", "gather", "bcast", "ibarrier", "iallreduce", "beside"]
)
def test_revoked_communicators(what, report):
    """Of the libraries here only Open MPI 5 can revoke: MPICH's MPIX_Comm_revoke ends the program, the others have none."""
    import mpis

    mpi = next(m for m in mpis.ALL if m.name == "openmpi5")
    if mpi.absent():
        pytest.skip(mpi.absent())
    outcome = mpi.run(
        mpi.build("revoke.c"), 3, f"what={what}", extra=["--with-ft", "ulfm"], report=report, timeout=30
    )
    result(outcome)
    assert outcome.calls("allreduce") >= 3 * 5, "evenkeel took no part"


def test_spawned_processes(openmpi4):
    result(openmpi4.run(openmpi4.build("host_library.c"), 2, "what=spawn", timeout=60))


def seen(outcome):
    lines = re.findall(
        r"TOOL rank (\d+) barrier (\d+) allreduce (\d+) iallreduce (\d+) bcast (\d+)", outcome.err
    )
    return {int(line[0]): tuple(map(int, line[1:])) for line in lines}


def test_tool_above(mpi, report):
    """A tool that is loaded before the shim sees the program's calls, and evenkeel still carries them out."""
    tool = mpi.build("pmpi_tool.c", "-shared", "-fPIC", name="tool.so")
    outcome = mpi.run(mpi.build("counted_calls.c"), 2, preload=[tool, mpi.shim], report=report)
    result(outcome)
    assert seen(outcome) == {0: (10, 20, 30, 40), 1: (10, 20, 30, 40)}, outcome.err
    assert outcome.calls("allreduce") == 2 * (20 + 30) and outcome.calls("bcast") == 2 * 40


def test_tool_below(mpi, report):
    """A tool that is loaded after the shim sees what evenkeel leaves to the host: none of the program's collectives, and
    its own few at the start and the end."""
    tool = mpi.build("pmpi_tool.c", "-shared", "-fPIC", name="tool.so")
    outcome = mpi.run(mpi.build("counted_calls.c"), 2, preload=[mpi.shim, tool], report=report)
    result(outcome)
    assert outcome.calls("allreduce") == 2 * (20 + 30)
    assert set(seen(outcome)) == {0, 1}, outcome.err
    assert all(
        counts[0] < 10 and counts[1] < 20 and counts[2] == 0 and counts[3] < 40
        for counts in seen(outcome).values()
    ), outcome.err


def test_tool_below_sees_all_when_switched_off(openmpi4):
    tool = openmpi4.build("pmpi_tool.c", "-shared", "-fPIC", name="tool.so")
    outcome = openmpi4.run(
        openmpi4.build("counted_calls.c"), 2, preload=[openmpi4.shim, tool], env={"EVENKEEL_OFF": "1"}
    )
    result(outcome)
    assert seen(outcome) == {0: (10, 20, 30, 40), 1: (10, 20, 30, 40)}, outcome.err


def eztrace_libraries(mpi):
    """What EZTrace's own launcher preloads. Debian builds it for Debian's MPI libraries."""
    module = {"openmpi4": "openmpi", "mpich4": "mpich"}.get(mpi.name)
    if not module:
        pytest.skip(f"Debian's EZTrace has no module for {mpi.name}")
    found = list(pathlib.Path("/usr/lib").glob(f"*/libeztrace-{module}.so"))
    if not found or not shutil.which("otf2-print"):
        pytest.skip("EZTrace or otf2-print is not installed (Debian packages eztrace, otf2-tools)")
    return module, [found[0].with_name(f"libeztrace-{part}.so") for part in ("lib", module)]


def traced(mpi, folder, order, report):
    """Calls in the trace of a run, by rank and function; `order` puts EZTrace's libraries and the shim in a row."""
    module, libraries = eztrace_libraries(mpi)
    outcome = mpi.run(
        mpi.build("counted_calls.c"),
        2,
        preload=order(libraries),
        report=report,
        env={"EZTRACE_TRACE": module, "EZTRACE_TRACE_DIR": str(folder)},
    )
    result(outcome)
    (trace,) = folder.rglob("*.otf2")
    events = subprocess.run(
        ["otf2-print", str(trace)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    calls = collections.defaultdict(collections.Counter)
    for place, function in re.findall(r'^ENTER +(\d+) .*Region: "(MPI_\w+)"', events, re.M):
        calls[place][function] += 1
    assert len(calls) == 2, f"{len(calls)} ranks in the trace\n{events[:3000]}"
    return outcome, list(calls.values())


def test_eztrace_above(mpi, tmp_path, report):
    """A PMPI tool made by others sees every call of the program, and evenkeel still carries them out."""
    outcome, ranks = traced(mpi, tmp_path / "trace", lambda libraries: [*libraries, mpi.shim], report)
    for calls in ranks:
        counts = [calls[f"MPI_{name}"] for name in ("Barrier", "Allreduce", "Iallreduce", "Bcast", "Wait")]
        assert counts == [10, 20, 30, 40, 30], calls
    assert outcome.calls("allreduce") == 2 * (20 + 30) and outcome.calls("bcast") >= 2 * 40


def test_eztrace_below(mpi, tmp_path, report):
    """The same tool loaded after the shim sees what is left to the host: messages are not, as barriers may be deferred."""
    outcome, ranks = traced(mpi, tmp_path / "trace", lambda libraries: [mpi.shim, *libraries], report)
    for calls in ranks:
        assert calls["MPI_Iallreduce"] == 0 and calls["MPI_Bcast"] < 40 and calls["MPI_Allreduce"] < 20, calls
        assert calls["MPI_Send"] + calls["MPI_Recv"] == 0 < sum(calls.values()), calls
    assert outcome.calls("allreduce") == 2 * (20 + 30)
