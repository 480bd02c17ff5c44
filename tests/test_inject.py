"""`evenkeel run --inject` disturbs a run, and leaves no thread, stopped rank or control group behind."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from apps import assert_right, build
from mpis import named
from paths import EVENKEEL
from processes import with_token

pytestmark = pytest.mark.alone

# Stalls of ranks that do not end by themselves within a test.
ENDLESS_STALLS = "stalls=fixed:3600s/300ms"


def status(pid, key, task=""):
    """A field of a process's, or of a thread's, status in /proc."""
    text = Path(f"/proc/{pid}/{task}status").read_text()
    return re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE).group(1)


def until(seconds, answer):
    """The first true value of `answer()` within so many seconds, else the last one."""
    deadline = time.monotonic() + seconds
    while not (found := answer()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return found


def injectors(process):
    return [pid for pid, line in with_token(process.token).items() if " injector " in line]


def ranks_of(process):
    """The processes of the ranks, without their launcher."""
    lines = with_token(process.token).items()
    return [pid for pid, line in lines if line.split(" ")[0].endswith("/app-barrier")]


def is_stopped(pid):
    try:
        return status(pid, "State").startswith("T")
    except (OSError, AttributeError):
        return False  # it has ended


def stopped_ranks(process):
    return [pid for pid in ranks_of(process) if is_stopped(pid)]


def run_disturbed(mpi, *injections, count=40000, ranks=4, watch=None, timeout=60):
    """Runs `count` barriers under the injections; fails if any process outlives the run."""
    inject = [word for injection in injections for word in ("--inject", injection)]
    args = [f"count={count}", "spin=20000"]
    options = ["--quiet", *inject]
    program = build(mpi, "barrier")
    outcome = mpi.evenkeel(program, ranks, *args, options=options, watch=watch, timeout=timeout)
    assert not outcome.left_over, outcome.left_over
    return outcome


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture(params=["openmpi4", "mpich4", "openmpi5", "mpich5"])
def library(request):
    mpi = named(request.param)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


def test_competitors_are_one_busy_thread_on_each_core_as_long_as_the_run(openmpi4):
    cores = os.sched_getaffinity(0)
    seen = []

    def cores_of_threads(pid):
        tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
        return sorted(status(pid, "Cpus_allowed_list", f"task/{t}/") for t in tasks if t != pid)

    def one_on_each_core(process):
        for pid in injectors(process):
            places = cores_of_threads(pid)
            if len(places) == len(cores) and all(place.isdigit() for place in places):
                return places
        return None

    def watch(process):
        seen.append(until(20, lambda: one_on_each_core(process)))

    assert_right(run_disturbed(openmpi4, "competitors=1", watch=watch), 4)
    assert seen[0] == sorted(str(core) for core in cores)


def test_doubled_halves_the_cores_of_every_rank(openmpi4):
    """Both for evenkeel, which places ranks, and for programs that it does not place."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core cannot be halved")
    half = set(cores[: (len(cores) + 1) // 2])
    seen = set()

    def watch(process):
        found = until(20, lambda: len(ranks_of(process)) == 4 and ranks_of(process))
        for pid in found or []:
            seen.update(os.sched_getaffinity(pid))

    assert_right(run_disturbed(openmpi4, "doubled", watch=watch), 4)
    assert seen and seen <= half


def test_stalled_ranks_are_stopped_and_go_on(library):
    """The result is right, too."""
    stopped = set()

    def watch(process):
        def two_were_stopped():
            stopped.update(stopped_ranks(process))
            return len(stopped) >= 2 or process.poll() is not None

        until(30, two_were_stopped)

    stalls = "stalls=exp:20ms/20ms,seed=3"
    assert_right(run_disturbed(library, stalls, count=10000, watch=watch, ranks=3), 3)
    assert len(stopped) >= 2


def test_only_the_ranks_that_are_named_are_stalled(openmpi4):
    stopped = set()

    def watch(process):
        def note_stopped_ranks():
            for pid in stopped_ranks(process):
                environ = Path(f"/proc/{pid}/environ").read_bytes()
                stopped.add(re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environ).group(1))
            return process.poll() is not None

        until(30, note_stopped_ranks)

    stalls = "stalls=fixed:10ms/5ms,ranks=1"
    assert_right(run_disturbed(openmpi4, stalls, count=1000, watch=watch, ranks=3), 3)
    assert stopped == {b"1"}


def test_a_killed_injector_leaves_no_rank_stopped(library):
    """Stalls last an hour, and only the kernel can end them. The launcher does not notice."""
    seen = []

    def watch(process):
        stopped = until(20, lambda: len(stopped_ranks(process)) == 3)
        [injector] = injectors(process)
        os.kill(injector, signal.SIGKILL)
        seen.append((stopped, until(5, lambda: not stopped_ranks(process))))

    outcome = run_disturbed(library, ENDLESS_STALLS, watch=watch, ranks=3)
    assert seen == [(True, True)]
    assert_right(outcome, 3)


def test_a_killed_launcher_leaves_no_rank_stopped(openmpi4):
    def watch(process):
        assert until(20, lambda: len(stopped_ranks(process)) == 3)
        os.kill(process.pid, signal.SIGKILL)
        assert until(5, lambda: not stopped_ranks(process))

    outcome = run_disturbed(openmpi4, ENDLESS_STALLS, count=1000000, watch=watch, ranks=3, timeout=30)
    assert outcome.code == -signal.SIGKILL


def test_a_quota_is_a_control_group_that_is_gone_afterwards(openmpi4):
    groups = []

    def own_group(process):
        for pid in ranks_of(process):
            for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
                if "/evenkeel-" in line:
                    return line.split(":", 2)[2]
        return None

    def watch(process):
        groups.append(until(20, lambda: own_group(process)))

    outcome = run_disturbed(openmpi4, "quota=20%", watch=watch)
    if outcome.code == 125:
        assert "cannot inject a CPU quota" in outcome.err and outcome.err.count("\n") == 1
        pytest.skip(f"no quota may be set here: {outcome.err.strip()}")
    assert_right(outcome, 4)
    name = groups[0].rsplit("/", 1)[1]
    assert not list(Path("/sys/fs/cgroup").glob(f"**/{name}")), "the group is still there"


def test_a_run_without_injections_has_no_injector(openmpi4):
    seen = []

    def watch(process):
        seen.extend([until(20, lambda: ranks_of(process)), injectors(process)])

    assert_right(run_disturbed(openmpi4, watch=watch), 4)
    assert seen[0] and not seen[1]
