"""Where there can be no rig, it is said why and what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import evenkeel_rig.refusal
from evenkeel_rig import Refusal, Rig

HERE = Path(__file__).resolve().parent.parent


def test_missing_programs(monkeypatch):
    monkeypatch.setattr(evenkeel_rig.refusal, "find", lambda tool: None if tool == "nft" else "/bin/true")
    with pytest.raises(Refusal, match="nft.*apt-get install .*nftables"):
        Rig(2)


def test_namespaces_not_allowed(tmp_path):
    """An unshare that is refused, as in an unprivileged container."""
    refused = tmp_path / "unshare"
    refused.write_text("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2; exit 1\n")
    refused.chmod(0o755)
    done = subprocess.run(
        [str(HERE / "run"), "--hosts", "2", "--", "true"],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.returncode == 3
    assert (
        "Operation not permitted" in done.stderr
        and "What to do" in done.stderr
        and "--cap-add SYS_ADMIN" in done.stderr
    )
    assert done.stderr.startswith("evenkeel: ") and "Traceback" not in done.stderr, done.stderr


def test_the_command_s_own_result():
    done = subprocess.run(
        [str(HERE / "run"), "--hosts", "2", "--", "sh", "-c", "hostname; exit 9"],
        capture_output=True,
        text=True,
    )
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (9, "h0\n"), done.stderr


def test_without_root():
    """A user without any rights has hosts too, where the kernel gives users namespaces."""
    if os.geteuid() != 0:
        pytest.skip("every other test here runs without root already")
    line = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--inh-caps=-all",
        "--",
        "/usr/bin/python3",
        "-m",
        "evenkeel_rig",
        "--hosts",
        "2",
        "--",
        "/tmp/rig/rsh",
        "h1",
        "hostname",
    ]
    done = subprocess.run(
        line,
        capture_output=True,
        text=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(HERE)},
    )
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "h1\n"), done.stderr
    assert sys.version_info >= (3, 11)
