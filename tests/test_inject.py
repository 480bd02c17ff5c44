"""evenkeel run --inject disturbs, and leaves nothing behind: no busy thread, no stopped rank, no control group."""

import os
import pathlib
import re
import signal
import time

import pytest

import mpis
from test_apps import build, result


def status(pid, key, task=""):
    text = pathlib.Path(f"/proc/{pid}/{task}status").read_text()
    return re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE).group(1)


def until(seconds, what):
    """The first true answer within so many seconds, else the last one."""
    deadline = time.monotonic() + seconds
    while not (answer := what()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return answer


def processes(process, words):
    """Those of a run whose command line contains this."""
    return [pid for pid, line in mpis.marked(process.token).items() if words in line]


def ranks(process):
    """The ranks' processes, not their launcher."""
    return [
        pid for pid, line in mpis.marked(process.token).items() if line.split(" ")[0].endswith("/app-barrier")
    ]


def is_stopped(pid):
    try:
        return status(pid, "State").startswith("T")
    except (OSError, AttributeError):
        return False  # gone


def disturbed(mpi, *specs, args=("count=40000", "spin=20000"), ranks=4, watch=None, timeout=60, options=()):
    injections = [word for spec in specs for word in ("--inject", spec)]
    line = [
        str(mpis.EVENKEEL),
        "run",
        "--quiet",
        "-n",
        str(ranks),
        *injections,
        *options,
        "--",
        str(build(mpi, "barrier")),
        *args,
    ]
    path = {"PATH": f"{pathlib.Path(mpi.mpirun).parent}:{os.environ['PATH']}"} if "venv" in mpi.mpirun else {}
    outcome = mpis.run(line, timeout, watch=watch, environment={"EVENKEEL_LIB": str(mpis.SHIMS)} | path)
    assert not outcome.left_over, outcome.left_over
    return outcome


@pytest.fixture
def program():
    if not mpis.EVENKEEL.exists():
        pytest.skip(f"{mpis.EVENKEEL} has not been built")


def test_competitors(openmpi4, program):
    """One busy thread on each core, as long as the run."""
    cores = os.sched_getaffinity(0)
    seen = []

    def watch(process):
        def look():
            for pid in processes(process, " injector "):
                tasks = [
                    int(t.name) for t in pathlib.Path(f"/proc/{pid}/task").iterdir() if int(t.name) != pid
                ]
                places = sorted(status(pid, "Cpus_allowed_list", f"task/{t}/") for t in tasks)
                if len(places) == len(cores) and all(p.isdigit() for p in places):
                    return places

        seen.append(until(20, look))

    result(disturbed(openmpi4, "competitors=1", watch=watch), 4)
    assert seen[0] == sorted(str(c) for c in cores)


def test_doubled(openmpi4, program):
    """Half of the cores: for evenkeel, which places ranks, and for programs that do not know of it."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core cannot be halved")
    half = set(cores[: (len(cores) + 1) // 2])
    seen = set()

    def watch(process):
        found = until(20, lambda: len(ranks(process)) == 4 and ranks(process))
        for pid in found or []:
            seen.update(os.sched_getaffinity(pid))

    result(disturbed(openmpi4, "doubled", watch=watch), 4)
    assert seen and seen <= half


@pytest.mark.parametrize("library", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_stalls(library, program):
    """Ranks are stopped and go on, and the answer is right."""
    mpi = next(m for m in mpis.ALL if m.name == library)
    if mpi.absent():
        pytest.skip(mpi.absent())
    stopped = set()

    def watch(process):
        def look():
            stopped.update(pid for pid in ranks(process) if is_stopped(pid))
            return len(stopped) >= 2 or process.poll() is not None

        until(30, look)

    result(
        disturbed(
            mpi, "stalls=exp:20ms/20ms,seed=3", args=["count=10000", "spin=20000"], watch=watch, ranks=3
        ),
        3,
    )
    assert len(stopped) >= 2


def test_stalls_of_some_ranks_only(openmpi4, program):
    """The others are never stopped."""
    stopped = set()

    def watch(process):
        def look():
            for pid in ranks(process):
                if is_stopped(pid):
                    environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                    stopped.add(re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environ).group(1))
            return process.poll() is not None

        until(30, look)

    result(
        disturbed(
            openmpi4, "stalls=fixed:10ms/5ms,ranks=1", args=["count=1000", "spin=20000"], watch=watch, ranks=3
        ),
        3,
    )
    assert stopped == {b"1"}


@pytest.mark.parametrize("library", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_a_killed_injector_leaves_no_rank_stopped(library, program):
    """Stalls of an hour, and nobody there to end them but the kernel; the launcher does not mind."""
    mpi = next(m for m in mpis.ALL if m.name == library)
    if mpi.absent():
        pytest.skip(mpi.absent())
    seen = []

    def watch(process):
        stopped = until(20, lambda: len([p for p in ranks(process) if is_stopped(p)]) == 3)
        [injector] = processes(process, " injector ")
        os.kill(injector, signal.SIGKILL)
        seen.append((stopped, until(5, lambda: not any(is_stopped(p) for p in ranks(process)))))

    outcome = disturbed(
        mpi, "stalls=fixed:3600s/300ms", args=["count=40000", "spin=20000"], watch=watch, ranks=3
    )
    assert seen == [(True, True)]
    result(outcome, 3)


def test_a_killed_launcher_leaves_no_rank_stopped(openmpi4, program):
    def watch(process):
        assert until(20, lambda: len([p for p in ranks(process) if is_stopped(p)]) == 3)
        os.kill(process.pid, signal.SIGKILL)
        assert until(5, lambda: not any(is_stopped(p) for p in ranks(process)))

    outcome = disturbed(
        openmpi4,
        "stalls=fixed:3600s/300ms",
        args=["count=1000000", "spin=20000"],
        watch=watch,
        ranks=3,
        timeout=30,
    )
    assert outcome.code == -signal.SIGKILL


def test_quota(openmpi4, program):
    """The ranks are in a group of their own that is throttled; it is gone afterwards."""
    groups = []

    def watch(process):
        def look():
            for pid in ranks(process):
                for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
                    if "/evenkeel-" in line:
                        return line.split(":", 2)[2]

        groups.append(until(20, look))

    outcome = disturbed(openmpi4, "quota=20%", watch=watch)
    if outcome.code == 125:
        assert "cannot inject a CPU quota" in outcome.err and outcome.err.count("\n") == 1
        pytest.skip(f"no quota may be set here: {outcome.err.strip()}")
    result(outcome, 4)
    name = groups[0].rsplit("/", 1)[1]
    assert not list(pathlib.Path("/sys/fs/cgroup").glob(f"**/{name}")), "the group is still there"


def test_a_run_that_is_not_disturbed_has_no_injector(openmpi4, program):
    seen = []
    result(
        disturbed(
            openmpi4,
            watch=lambda process: seen.extend(
                [until(20, lambda: ranks(process)), processes(process, " injector ")]
            ),
        ),
        4,
    )
    assert seen[0] and not seen[1]
