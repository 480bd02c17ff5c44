"""Fixtures for tests on several hosts: a rig of four that all tests of a session share."""

import contextlib
import os
import signal
import sys

import pytest

from paths import BUILD, RELEASE, ROOT, SHIMS  # tests/conftest.py has put its folder on the path

sys.path.insert(0, str(ROOT / "tests" / "rig"))

from evenkeel_rig import Rig, RigUnavailableError
from evenkeel_rig.processes import signal_all
from processes import MOMENT_S, until


def make_rig(shared):
    """A rig of four hosts; skips the test where there can be none."""
    try:
        return Rig(4, shared=shared)
    except RigUnavailableError as error:
        if os.environ.get("EVENKEEL_TEST_NODES") == "required":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def rig():
    """Four hosts that see the checkout, what was built, and the libraries under test, wherever these are."""
    shared = {ROOT, SHIMS, BUILD.parent, RELEASE}
    with make_rig([path for path in shared if path.exists()]) as rig:
        yield rig


@pytest.fixture
def fresh_rig():
    """Four hosts for one test: UCX may not use a cable that was plugged in a moment ago."""
    with make_rig([RELEASE]) as rig:
        yield rig


@pytest.fixture
def clean(rig):
    """The rig. Fails a test that leaves a process or shared memory behind on any host."""
    with nothing_left_behind(rig):
        yield rig


@pytest.fixture
def clean_fresh_rig(fresh_rig):
    with nothing_left_behind(fresh_rig):
        yield fresh_rig


@pytest.fixture
def one_mpi_of_each_family(mpi):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("agents do not depend on the library's version; tested under Open MPI 4 and MPICH 5")
    return mpi


@pytest.fixture
def enough():
    """A file that programs on all hosts wait for, and that does not exist yet."""
    path = BUILD / "enough"
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def nothing_left_behind(rig):
    before = {host.name: (host.processes(), shared_memory(host)) for host in rig.hosts}

    def survivors(host):
        processes, _ = before[host.name]
        return {pid: words for pid, words in host.processes().items() if pid not in processes}

    yield
    # An agent sends its last messages after its ranks have ended; the launcher does not wait for it.
    until(lambda: not any(survivors(host) for host in rig.hosts), MOMENT_S)
    left = {}
    for host in rig.hosts:
        _, memory = before[host.name]
        alive = survivors(host)
        left[host.name] = list(alive.values()), shared_memory(host) - memory
        signal_all(alive, signal.SIGKILL)
    assert not any(processes for processes, _ in left.values()), f"still running: {left}"
    assert not any(memory for _, memory in left.values()), f"left in /dev/shm: {left}"


def shared_memory(host):
    return {path.name for path in host.path("/dev/shm").iterdir()}
