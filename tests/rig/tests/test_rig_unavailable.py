"""Where there can be no rig, an error says why and what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import evenkeel_rig.unavailable
from evenkeel_rig import Rig, RigUnavailableError

HERE = Path(__file__).resolve().parent.parent


def run_rig(*command, **options):
    """Runs a command on two hosts by tests/rig/run."""
    line = [str(HERE / "run"), "--hosts", "2", "--", *command]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def test_missing_programs_are_named_with_their_packages(monkeypatch):
    def find_without_nft(tool):
        return None if tool == "nft" else "/bin/true"

    monkeypatch.setattr(evenkeel_rig.unavailable, "find", find_without_nft)
    with pytest.raises(RigUnavailableError, match=r"nft.*apt-get install .*nftables"):
        Rig(2)


def test_a_kernel_that_allows_no_namespaces_is_quoted(tmp_path):
    """With an unshare that fails as in an unprivileged container."""
    refused = tmp_path / "unshare"
    refused.write_text("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2; exit 1\n")
    refused.chmod(0o755)
    done = run_rig("true", env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 3
    for part in ("Operation not permitted", "What to do", "--cap-add SYS_ADMIN"):
        assert part in done.stderr, done.stderr
    assert done.stderr.startswith("evenkeel: ") and "Traceback" not in done.stderr, done.stderr


def test_the_exit_code_is_the_commands():
    done = run_rig("sh", "-c", "hostname; exit 9")
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (9, "h0\n"), done.stderr


def test_a_user_without_rights_has_hosts_where_the_kernel_gives_users_namespaces():
    if os.geteuid() != 0:
        pytest.skip("every other test here runs without root already")
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"]
    rig = ["/usr/bin/python3", "-m", "evenkeel_rig", "--hosts", "2", "--"]
    done = subprocess.run(
        [*as_nobody, *rig, "/tmp/rig/rsh", "h1", "hostname"],
        capture_output=True,
        text=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(HERE)},
        check=False,
    )
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "h1\n"), done.stderr
    assert sys.version_info >= (3, 11)
