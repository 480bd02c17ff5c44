"""Fixtures. `mpi` runs a test once for every MPI library; one that is missing is skipped with its reason."""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import mpis


def pytest_addoption(parser):
    parser.addoption("--mpi", default="", help="only these libraries: openmpi4,mpich5")


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: measures, so that no other test may run at the same time")


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


def pytest_terminal_summary(terminalreporter):
    """Lists the reason of every skip once, with the number of tests that were skipped for it."""
    reasons = {}
    for skipped in terminalreporter.stats.get("skipped", []):
        reason = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not tested here: {reason.removeprefix('Skipped: ')} ({count} tests)")
