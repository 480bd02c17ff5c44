"""The pytest plugin of packages/pytest: what becomes of tests on several ranks."""

import os
import re
import signal
from pathlib import Path

import pytest

import processes
import pytest_runs

HEAD = """
import os, signal, time
import pytest
from mpi4py import MPI

comm = MPI.COMM_WORLD
"""

OUTCOMES = """
def test_without_marker():
    assert comm.size == 1

@pytest.mark.mpi(ranks=3)
def test_pass():
    assert comm.size == 3 and comm.allreduce(1) == 3

@pytest.mark.mpi(ranks=3)
def test_skip():
    pytest.skip("on purpose")

@pytest.mark.mpi(ranks=3)
@pytest.mark.xfail(reason="known")
def test_xfail_on_one():
    assert comm.rank != 2

@pytest.mark.mpi(ranks=3)
@pytest.mark.xfail
def test_xpass():
    pass

@pytest.mark.mpi(ranks=3)
@pytest.mark.parametrize("root", [0, 2])
def test_root(root):
    assert comm.bcast(comm.rank, root) == root

@pytest.mark.mpi(ranks=3)
@pytest.mark.parametrize("rank", [comm.rank], ids=["of rank %d" % comm.rank])
def test_named_after_rank(rank):
    assert rank == comm.rank

@pytest.fixture(scope="module")
def shared():
    return comm.allgather(comm.rank)

@pytest.mark.mpi(ranks=3)
def test_fixture(shared, tmp_path, mpi_tmp_path, capsys):
    print("captured")
    assert capsys.readouterr().out == "captured\\n"
    assert shared == [0, 1, 2]
    assert len(set(comm.allgather(str(mpi_tmp_path)))) == 1 and list(mpi_tmp_path.iterdir()) == []
    assert len(set(comm.allgather(str(tmp_path)))) == 3

class TestClass:
    @pytest.mark.mpi(ranks=3)
    def test_method(self):
        assert comm.size == 3

@pytest.mark.mpi(ranks=3)
def test_fail():
    print("this is", "rank", comm.rank)
    assert comm.rank != 1, "one fails"

@pytest.fixture
def broken():
    assert comm.rank != 0

@pytest.mark.mpi(ranks=3)
def test_error(broken):
    pass
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    return pytest_runs.install(tmp_path_factory.mktemp("plugin") / "packages")


def test_outcomes_of_all_ranks_are_combined(mpi, plugin, tmp_path):
    run = pytest_runs.run(mpi, plugin, tmp_path, HEAD + OUTCOMES)
    run.assert_verdicts(
        PASSED=[
            "test_without_marker",
            "test_pass",
            "test_fixture",
            "test_root[0]",
            "test_root[2]",
            "TestClass.test_method",
            "test_named_after_rank[of rank 0]",
        ],
        SKIPPED=["test_skip"],
        XFAIL=["test_xfail_on_one"],
        XPASS=["test_xpass"],
        FAILED=["test_fail"],
        ERROR=["test_error"],
    )
    # Tests up to the one that fails on one rank share a job; the last one gets a new one.
    assert "jobs started for tests on several ranks: 2\n" in run.text
    shown = run.part("test_fail")
    assert "rank 1 of 3" in shown and "this is rank 1" in shown and "one fails" in shown, run.text
    assert "this is rank 0" not in shown and "this is rank 2" not in shown, run.text
    assert "rank 0 of 3" in run.part("test_error")
    assert run.outcome.code == 1 and not run.outcome.left_over


CUT_SHORT = """
from pathlib import Path

@pytest.mark.mpi(ranks=2)
def test_before():
    for _ in range(20 if comm.rank == 1 else 0):
        assert not Path("begun").exists(), "rank 0 has begun the next test"
        time.sleep(0.01)

@pytest.mark.mpi(ranks=2, timeout=8)
def test_hang():
    Path("begun").touch()
    print("rank", comm.rank, "is here")
    if comm.rank == 1:
        comm.recv(source=0, tag=7)

@pytest.mark.mpi(ranks=2)
def test_between():
    assert comm.allreduce(1) == 2

@pytest.mark.mpi(ranks=2)
def test_crash():
    print("rank", comm.rank, "prints this", flush=True)
    comm.barrier()
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    comm.barrier()

@pytest.mark.mpi(ranks=2, timeout=12)
def test_waits():
    assert comm.rank != 1, "this is why"
    comm.recv(source=1)

@pytest.mark.mpi(ranks=2)
def test_exit():
    if comm.rank == 0:
        pytest.exit("enough")

@pytest.mark.mpi(ranks=2)
def test_disagree():
    if comm.rank == 1:
        pytest.skip("on rank 1 only")

@pytest.mark.mpi(ranks=2)
def test_after():
    assert comm.allreduce(1) == 2
"""


def test_hangs_and_crashes_are_attributed_and_do_not_reach_other_tests(mpich5, plugin, tmp_path):
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + CUT_SHORT)
    run.assert_verdicts(
        PASSED=["test_before", "test_between", "test_after"],
        FAILED=["test_hang", "test_crash", "test_waits", "test_exit", "test_disagree"],
    )
    hang = run.part("test_hang")
    assert "did not end within 8 s: rank 0 had ended it; rank 1 had not ended it" in hang, run.text
    assert "rank 1 is here" in hang and "in test_hang" in hang, run.text  # its output and its stack
    crash = run.part("test_crash")
    assert "rank 1: Fatal Python error: Segmentation fault" in crash, run.text
    assert "rank 0 prints this" in crash and "rank 1 prints this" in crash, run.text
    waits = run.part("test_waits")
    assert "rank 1 had failed; rank 0 had not ended it" in waits and "this is why" in waits, run.text
    assert "rank 0 left this test without a result" in run.part("test_exit"), run.text
    assert "passed on rank 0; skipped on rank 1" in run.part("test_disagree"), run.text
    assert not run.outcome.left_over


DEADLOCKED = """
@pytest.mark.mpi(ranks=2)
def test_receives():
    comm.recv(source=1 - comm.rank, tag=7)

@pytest.mark.mpi(ranks=2)
def test_after():
    assert comm.allreduce(1) == 2
"""


def test_a_deadlock_ends_its_test_at_once(mpich5, plugin, tmp_path):
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + DEADLOCKED)
    run.assert_verdicts(PASSED=["test_after"], FAILED=["test_receives"])
    said = run.part("test_receives")
    assert "evenkeel: this test is in a deadlock: ranks 0 and 1 had not ended it. The job was" in said, said
    assert "Ranks 0 and 1 wait for each other in MPI_" in said and "test_receives" in said, said


MARKERS = """
@pytest.mark.parallel([1, 3])
def test_list():
    assert comm.size in (1, 3)

@pytest.mark.parallel(nprocs=2)
def test_keyword():
    assert comm.size == 2

@pytest.mark.parallel
def test_default():
    assert comm.size == 3

@pytest.mark.mpi
def test_mpi():
    assert comm.size == 2

@pytest.mark.mpi(min_size=3)
def test_least():
    assert comm.size == 3

@pytest.mark.mpi
@pytest.mark.mpi_skip
def test_mpi_skip():
    assert False

@pytest.mark.mpi
@pytest.mark.mpi_break
def test_mpi_break():
    assert False

@pytest.mark.mpi
@pytest.mark.mpi_xfail
def test_mpi_xfail():
    assert False

@pytest.mark.mpi_skip
@pytest.mark.mpi_xfail
def test_alone():
    assert comm.size == 1
"""


# Stands in for mpi-pytest and pytest-mpi, which skip or start tests with these markers.
NEIGHBOUR = """
import pytest

def pytest_runtest_setup(item):
    pytest.skip("by the neighbour")
"""


def test_markers_of_other_plugins_are_understood(mpich5, plugin, tmp_path):
    (tmp_path / "pytest_mpi.py").write_text(NEIGHBOUR)
    options = ["--with-mpi", "--strict-markers", "-p", "pytest_mpi"]
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + MARKERS, *options)
    run.assert_verdicts(
        PASSED=[
            "test_list[nprocs=1]",
            "test_list[nprocs=3]",
            "test_keyword",
            "test_default",
            "test_mpi",
            "test_least",
            "test_alone",
        ],
        SKIPPED=["test_mpi_skip", "test_mpi_break"],
        XFAIL=["test_mpi_xfail"],
    )
    assert "jobs started for tests on several ranks: 2\n" in run.text  # of two and of three ranks
    chosen = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + MARKERS, "-m", "parallel[2]")
    chosen.assert_verdicts(PASSED=["test_keyword"])


def test_under_xdist_each_test_has_a_job_of_its_own(mpich5, plugin, tmp_path):
    source = (
        HEAD
        + MARKERS[: MARKERS.index("@pytest.mark.mpi\n")]
        + OUTCOMES[OUTCOMES.index("@pytest.fixture\n") :]
    )
    run = pytest_runs.run(mpich5, plugin, tmp_path, source, "-n", "2")
    run.assert_verdicts(
        PASSED=["test_list[nprocs=1]", "test_list[nprocs=3]", "test_keyword", "test_default"],
        ERROR=["test_error"],
    )
    assert "rank 0 of 3" in run.part("test_error")
    assert re.search(r"^ERROR test_it.py::test_error - rank 0: ", run.text, re.MULTILINE), run.text


INSIDE = """
@pytest.mark.parametrize("rank", [comm.rank])
def test_on_every_rank(rank):
    pass

@pytest.mark.mpi(ranks=2)
def test_fits():
    print("this is", "rank", comm.rank)
    assert comm.rank == 0

@pytest.mark.parallel(3)
def test_does_not_fit():
    assert False

@pytest.mark.mpi(min_size=2)
def test_least(mpi_tmp_path):
    assert len(set(comm.allgather(str(mpi_tmp_path)))) == 1

@pytest.mark.mpi_skip
def test_mpi_skip():
    assert False

@pytest.mark.mpi_xfail
def test_mpi_xfail():
    assert comm.rank == 0
"""


@pytest.mark.parametrize("library", ["openmpi4", "mpich5"])
def test_within_a_job_nothing_is_started_and_rank_0_reports_for_all(library, request, plugin, tmp_path):
    mpi = request.getfixturevalue(library)
    launcher = pytest_runs.start_line(mpi, 2)
    run = pytest_runs.run(mpi, plugin, tmp_path, HEAD + INSIDE, "--junitxml=all.xml", launcher=launcher)
    run.assert_verdicts(
        PASSED=["test_on_every_rank[0]", "test_least"],
        FAILED=["test_fits"],
        SKIPPED=["test_does_not_fit", "test_mpi_skip"],
        XFAIL=["test_mpi_xfail"],
    )
    assert run.text.count("test session starts") == 1, run.text
    assert "needs 3 MPI ranks, and this job has 2" in run.text
    shown = run.part("test_fits")
    assert "rank 1 of 2" in shown and "this is rank 1" in shown and "this is rank 0" not in shown, run.text
    assert (
        'tests="6"' in (tmp_path / "all.xml").read_text()
        and 'failures="1"' in (tmp_path / "all.xml").read_text()
    )
    assert run.outcome.code != 0


ONE = """
@pytest.mark.mpi(ranks=2)
def test_one():
    print("it is me")
    assert comm.size == 2

@pytest.mark.mpi(ranks=2)
def test_two():
    assert "EVENKEEL_LIB" in os.environ and "evenkeel" not in os.environ.get("LD_PRELOAD", "")
"""


def test_without_evenkeel_tests_are_skipped_with_a_sentence_unless_asked_for(mpich5, plugin, tmp_path):
    nowhere = {"PATH": "/usr/bin:/bin"}
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + ONE, environment=nowhere)
    run.assert_verdicts(SKIPPED=["test_one", "test_two"])
    assert "pip install evenkeel" in run.text and run.outcome.code == 0, run.text
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + ONE, "--with-mpi", environment=nowhere)
    run.assert_verdicts(ERROR=["test_one", "test_two"])
    command = ("--evenkeel-command", "mpiexec -n {ranks}")  # the launcher beside this interpreter
    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + ONE, *command, environment=nowhere)
    run.assert_verdicts(PASSED=["test_one", "test_two"])
    assert "jobs started for tests on several ranks: 1\n" in run.text


def test_tests_share_a_job_only_if_they_may(mpich5, plugin, tmp_path):
    source = HEAD + ONE.replace("not in os", "in os")
    run = pytest_runs.run(mpich5, plugin, tmp_path, source, "--evenkeel-scope", "function", "-s")
    run.assert_verdicts(PASSED=["test_one", "test_two"])
    assert "[0] it is me" in run.text and "[1] it is me" in run.text, run.text
    assert "jobs started for tests on several ranks: 2\n" in run.text


WAITS = """
from pathlib import Path

@pytest.mark.mpi(ranks=2)
def test_waits():
    Path(f"pid-{comm.rank}").write_text(str(os.getpid()))
    signal.pause()
"""


def test_a_pytest_that_is_killed_leaves_no_ranks_behind(mpich5, plugin, tmp_path):
    pids = [tmp_path / "pid-0", tmp_path / "pid-1"]

    def kill_pytest(process):
        assert processes.until(lambda: all(path.exists() and path.read_text() for path in pids))
        os.kill(process.pid, signal.SIGKILL)

    run = pytest_runs.run(mpich5, plugin, tmp_path, HEAD + WAITS, watch=kill_pytest)
    assert run.outcome.left_over == []


def test_a_rank_that_cannot_load_the_tests_says_why(mpich5, plugin, tmp_path):
    source = HEAD + "if comm.size == 2 and comm.rank == 1:\n    raise ImportError('not here')\n" + ONE
    run = pytest_runs.run(mpich5, plugin, tmp_path, source)
    run.assert_verdicts(FAILED=["test_one", "test_two"])
    assert "rank 1 could not load the tests" in run.part("test_one") and "not here" in run.part("test_one")
    assert "jobs started for tests on several ranks: 1\n" in run.text


def test_the_readme_names_every_option(plugin):
    readme = (pytest_runs.PACKAGE / "README.md").read_text()
    options = (Path(plugin) / "pytest_evenkeel" / "options.py").read_text()
    for option in re.findall(r'^    "(evenkeel_\w+)":', options, re.MULTILINE):
        assert f"`{option}`" in readme and f"`--{option.replace('_', '-')}`" in readme, option
