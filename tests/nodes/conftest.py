"""Tests on several hosts: a rig of four that all tests of a session share, and what runs on it."""

import os
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "rig"))

import mpis  # noqa: E402  (tests/conftest.py has put its folder on the path)
from evenkeel_rig import Refusal, Rig  # noqa: E402
from evenkeel_rig.rig import signal_all  # noqa: E402


@pytest.fixture(scope="session")
def rig():
    """Four hosts that see the checkout, what was built, and the libraries under test, wherever these lie."""
    shared = {ROOT, mpis.SHIMS, mpis.BUILD.parent, mpis.RELEASE}
    try:
        with Rig(4, shared=[path for path in shared if path.exists()]) as rig:
            yield rig
    except Refusal as refusal:
        if os.environ.get("EVENKEEL_TEST_NODES") == "required":
            raise
        pytest.skip(str(refusal))


@pytest.fixture
def clean(rig):
    """Fails a test that leaves a process or shared memory behind on any host."""
    before = {host.name: (set(host.processes()), memory(host)) for host in rig.hosts}
    yield rig
    after = {host.name: (set(host.processes()), memory(host)) for host in rig.hosts}
    left = {
        name: [rig.hosts[int(name[1:])].processes().get(pid) for pid in after[name][0] - before[name][0]]
        for name in after
    }
    for host in rig.hosts:
        signal_all(set(host.processes()) - before[host.name][0], signal.SIGKILL)
    assert not any(left.values()), f"still running: {left}"
    assert all(after[name][1] <= before[name][1] for name in after), f"left in /dev/shm: {after}"


def memory(host):
    return {name for name in os.listdir(f"/proc/{host.pid}/root/dev/shm")}
