"""Fixtures: `mpi` runs a test once for every MPI library; a library that is not there is a skip that says why."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import mpis


def pytest_addoption(parser):
    parser.addoption("--mpi", default="", help="only these libraries: openmpi4,mpich5")


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        chosen = [m for m in metafunc.config.getoption("--mpi").split(",") if m]
        found = [m for m in mpis.ALL if not chosen or m.name in chosen]
        metafunc.parametrize("mpi", found, ids=[m.name for m in found], indirect=True)


@pytest.fixture
def mpi(request):
    mpi = request.param
    if mpi.absent():
        pytest.skip(mpi.absent())
    return mpi


@pytest.fixture
def openmpi4():
    mpi = mpis.ALL[0]
    if mpi.absent():
        pytest.skip(mpi.absent())
    return mpi


@pytest.fixture
def report(tmp_path):
    return tmp_path / "run.json"


def pytest_terminal_summary(terminalreporter):
    """No silent skip: each reason once, with how many tests it cost."""
    reasons = {}
    for skipped in terminalreporter.stats.get("skipped", []):
        reason = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not tested here: {reason.removeprefix('Skipped: ')} ({count} tests)")
