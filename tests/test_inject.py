"""`evenkeel run --inject` disturbs a run, and leaves no thread, stopped rank or control group behind.

A run goes on until the test has seen in it what it waits for.
"""

import contextlib
import os
import re
import signal
from pathlib import Path

import pytest

from mpis import named
from paths import EVENKEEL
from processes import until, with_token
from verdicts import assert_passed

pytestmark = pytest.mark.alone

# Stalls of ranks that do not end by themselves within a test.
ENDLESS_STALLS = "stalls=fixed:3600s/300ms"


def status(pid, key, task=""):
    """A field of a process's, or of a thread's, status in /proc."""
    text = Path(f"/proc/{pid}/{task}status").read_text()
    return re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE).group(1)


def injectors(process):
    return [pid for pid, line in with_token(process.token).items() if " injector " in line]


def ranks_of(process):
    """The processes of the ranks, without their launcher."""
    lines = with_token(process.token).items()
    return [pid for pid, line in lines if line.split(" ")[0].endswith("/until_told")]


def is_stopped(pid):
    try:
        return status(pid, "State").startswith("T")
    except (OSError, AttributeError):
        return False  # it has ended


def stopped_ranks(process):
    return [pid for pid in ranks_of(process) if is_stopped(pid)]


def until_seen(process, answer):
    """The first true value of `answer()`, else its last one, when the run has ended by itself."""
    return until(lambda: answer() or process.poll() is not None) and answer()


def run_disturbed(mpi, folder, *injections, ranks=4, watch):
    """Runs under the injections until `watch(process)` returns; fails if any process outlives the run."""
    told = folder / "told"

    def watch_and_tell(process):
        watch(process)
        told.touch()

    inject = [word for injection in injections for word in ("--inject", injection)]
    options, program = ["--quiet", *inject], mpi.build("until_told.c")
    outcome = mpi.evenkeel(program, ranks, f"file={told}", options=options, watch=watch_and_tell)
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


def test_competitors_are_one_busy_thread_on_each_core_as_long_as_the_run(openmpi4, tmp_path):
    cores = os.sched_getaffinity(0)
    seen = []

    def cores_of_threads(pid):
        tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
        return sorted(status(pid, "Cpus_allowed_list", f"task/{t}/") for t in tasks if t != pid)

    def one_on_each_core(process):
        for pid in injectors(process):
            with contextlib.suppress(OSError, AttributeError):  # a thread may end
                places = cores_of_threads(pid)
                if len(places) == len(cores) and all(place.isdigit() for place in places):
                    return places
        return None

    def watch(process):
        seen.append(until_seen(process, lambda: one_on_each_core(process)))

    assert_passed(run_disturbed(openmpi4, tmp_path, "competitors=1", watch=watch))
    assert seen[0] == sorted(str(core) for core in cores)


def test_doubled_halves_the_cores_of_every_rank(openmpi4, tmp_path):
    """Both for evenkeel, which places ranks, and for programs that it does not place."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core cannot be halved")
    half = set(cores[: (len(cores) + 1) // 2])
    seen = set()

    def watch(process):
        until_seen(process, lambda: len(ranks_of(process)) == 4)
        for pid in ranks_of(process):
            seen.update(os.sched_getaffinity(pid))

    assert_passed(run_disturbed(openmpi4, tmp_path, "doubled", watch=watch))
    assert seen and seen <= half


def test_stalled_ranks_are_stopped_and_go_on(library, tmp_path):
    """The result is right, too."""
    stopped = set()

    def watch(process):
        def two_were_stopped():
            stopped.update(stopped_ranks(process))
            return len(stopped) >= 2

        until_seen(process, two_were_stopped)

    stalls = "stalls=exp:20ms/20ms,seed=3"
    assert_passed(run_disturbed(library, tmp_path, stalls, watch=watch, ranks=3))
    assert len(stopped) >= 2


def test_only_the_ranks_that_are_named_are_stalled(openmpi4, tmp_path):
    stopped = []

    def watch(process):
        def often_enough():
            for pid in stopped_ranks(process):
                environ = Path(f"/proc/{pid}/environ").read_bytes()
                stopped.append(re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environ).group(1))
            return len(stopped) >= 40

        until_seen(process, often_enough)

    stalls = "stalls=fixed:10ms/5ms,ranks=1"
    assert_passed(run_disturbed(openmpi4, tmp_path, stalls, watch=watch, ranks=3))
    assert set(stopped) == {b"1"}


def test_a_killed_injector_leaves_no_rank_stopped(library, tmp_path):
    """Stalls last an hour, and only the kernel can end them. The launcher does not notice."""
    seen = []

    def watch(process):
        stopped = until_seen(process, lambda: len(stopped_ranks(process)) == 3)
        [injector] = injectors(process)
        os.kill(injector, signal.SIGKILL)
        seen.append((stopped, until_seen(process, lambda: not stopped_ranks(process))))

    outcome = run_disturbed(library, tmp_path, ENDLESS_STALLS, watch=watch, ranks=3)
    assert seen == [(True, True)]
    assert_passed(outcome)


def test_a_killed_launcher_leaves_no_rank_stopped(openmpi4, tmp_path):
    def watch(process):
        assert until_seen(process, lambda: len(stopped_ranks(process)) == 3)
        os.kill(process.pid, signal.SIGKILL)
        assert until(lambda: not stopped_ranks(process))

    outcome = run_disturbed(openmpi4, tmp_path, ENDLESS_STALLS, watch=watch, ranks=3)
    assert outcome.code == -signal.SIGKILL


def test_a_quota_is_a_control_group_that_is_gone_afterwards(openmpi4, tmp_path):
    groups = []

    def own_group(process):
        for pid in ranks_of(process):
            for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
                if "/evenkeel-" in line:
                    return line.split(":", 2)[2]
        return None

    def watch(process):
        groups.append(until_seen(process, lambda: own_group(process)))

    outcome = run_disturbed(openmpi4, tmp_path, "quota=20%", watch=watch)
    if outcome.code == 125:
        assert "cannot inject a CPU quota" in outcome.err and outcome.err.count("\n") == 1
        pytest.skip(f"no quota may be set here: {outcome.err.strip()}")
    assert_passed(outcome)
    name = groups[0].rsplit("/", 1)[1]
    assert not list(Path("/sys/fs/cgroup").glob(f"**/{name}")), "the group is still there"


def test_a_run_without_injections_has_no_injector(openmpi4, tmp_path):
    seen = []

    def watch(process):
        seen.extend([until_seen(process, lambda: ranks_of(process)), injectors(process)])

    assert_passed(run_disturbed(openmpi4, tmp_path, watch=watch))
    assert seen[0] and not seen[1]
