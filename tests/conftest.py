"""Fixtures. `mpi` runs a test once for every MPI library; one that is missing is skipped with its reason."""

import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import mpis

# How many tests of `in_turn` are left out.
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser):
    parser.addoption("--mpi", default="", help="only these libraries: openmpi4,mpich5")


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: measures, so that no other test may run at the same time")
    config.addinivalue_line(
        "markers",
        "in_turn(parameter='mpi', of=2): each case runs with so many values of it, which take turns",
    )


def in_turn(case, values, of):
    """Which of the values are for the case of this number: one of each of as many equal parts as are wanted.

    The turn moves on by one more after each round, so that no value always meets the same value of one of
    several other parameters.
    """
    parts = [values[len(values) * part // of : len(values) * (part + 1) // of] for part in range(of)]
    turn = case + case // len(parts[-1])
    return [part[turn % len(part)] for part in parts]


def is_present(value):
    """Libraries may be missing; all other values of parameters are there."""
    is_library = value in {library.name for library in mpis.ALL}
    return not (is_library and mpis.named(value).skip_reason())


def tests_by_case(items):
    """Tests of `in_turn`: {(file, function, how many of the values): {other parameters: {value: test}}}."""
    functions = {}
    for item in items:
        mark = item.get_closest_marker("in_turn")
        if not mark or not hasattr(item, "callspec"):
            continue
        parameters = dict(item.callspec.params)
        value = parameters.pop(mark.args[0] if mark.args else "mpi", None)
        if value is not None:
            key = (item.path, item.originalname, mark.kwargs.get("of", 2))
            cases = functions.setdefault(key, {})
            cases.setdefault(repr(parameters), {})[getattr(value, "name", value)] = item
    return functions


def pytest_collection_modifyitems(config, items):
    """Of the tests marked `in_turn`, leaves out what is not in its turn, unless EVENKEEL_TEST_ALL is set."""
    if os.environ.get("EVENKEEL_TEST_ALL"):
        return
    left_out = set()
    for (_, function, of), cases in tests_by_case(items).items():
        first = zlib.crc32(function.encode())  # functions with few cases do not all begin with the same value
        for number, tests in enumerate(cases.values()):
            present = [value for value in tests if is_present(value)]
            if len(present) > of:
                kept = in_turn(first + number, present, of)
                left_out |= {tests[value] for value in present if value not in kept}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
        config.stash[LEFT_OUT] = len(left_out)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """All workers of pytest-xdist have left out the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        chosen = [name for name in metafunc.config.getoption("--mpi").split(",") if name]
        found = [mpi for mpi in mpis.ALL if not chosen or mpi.name in chosen]
        metafunc.parametrize("mpi", found, ids=[mpi.name for mpi in found], indirect=True)


def present(mpi):
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


@pytest.fixture
def mpi(request):
    return present(request.param)


@pytest.fixture
def openmpi4():
    return present(mpis.named("openmpi4"))


@pytest.fixture
def openmpi5():
    return present(mpis.named("openmpi5"))


@pytest.fixture
def mpich5():
    return present(mpis.named("mpich5"))


@pytest.fixture
def directory():
    """A folder with a short name: the names of sockets may have 107 bytes."""
    path = tempfile.mkdtemp(prefix="ek-")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def report(tmp_path):
    """Where a run writes its report."""
    return tmp_path / "run.json"


@pytest.fixture
def opensm():
    """Skips a test where OpenSM, its simulated network or the checker of its tables is missing."""
    for program in ("opensm", "ibsim", "ibdmchk"):
        if not (shutil.which(program) or shutil.which(program, path="/usr/sbin")):
            pytest.skip(f"there is no {program}: the Debian packages are opensm, ibsim-utils and ibutils")


def pytest_terminal_summary(terminalreporter, config):
    """Lists the reason of every skip once, with the number of tests that were skipped for it."""
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            "not tested here: cases run under one or two of the MPI libraries, each in its turn; "
            f"all combinations with EVENKEEL_TEST_ALL=1 ({count} tests)"
        )
    reasons = {}
    for skipped in terminalreporter.stats.get("skipped", []):
        reason = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not tested here: {reason.removeprefix('Skipped: ')} ({count} tests)")
