"""The scripts of the GitHub action (packages/action) make later `mpirun` lines run under evenkeel."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import processes
from paths import EVENKEEL, ROOT, SHIMS

sys.path.insert(0, str(ROOT / "packages" / "wheel"))

import make_wheel

INSTALL = ROOT / "packages" / "action" / "install.sh"
# Each rank prints what it has been given.
PROGRAM = """
import os
from mpi4py import MPI
given = [os.environ.get("LD_PRELOAD", "nothing"), os.environ.get("EVENKEEL_WAIT", "")]
words = [str(MPI.COMM_WORLD.size), *given]
os.write(1, (" ".join(words) + "\\n").encode())
"""


def wheel(directory):
    """A wheel whose `evenkeel` is the one that was built here. test_wheel.py tests whole wheels."""
    program = directory / "tree" / "bin" / "evenkeel"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nEVENKEEL_LIB={SHIMS} exec {EVENKEEL} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return make_wheel.write_wheel(directory / "tree", {}, make_wheel.version(), "linux_x86_64", directory)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What the action leaves: the directory, and what GitHub puts on PATH of later steps."""
    directory = tmp_path_factory.mktemp("action")
    variables = {"EVENKEEL_ACTION_WHEEL": str(wheel(directory)), "EVENKEEL_ACTION_OPTIONS": "--wait yield"}
    for name in ("GITHUB_PATH", "GITHUB_OUTPUT"):
        variables[name] = str(directory / name)
    subprocess.run([INSTALL, directory / "installed"], check=True, env=os.environ | variables)
    return directory


def run(mpi, installed, *line):
    added = (installed / "GITHUB_PATH").read_text().strip()
    folders = [added, Path(mpi.python).parent, Path(mpi.mpirun).parent, os.environ["PATH"]]
    environment = mpi.python_env | mpi.environment | {"PATH": ":".join(map(str, folders))}
    words = [str(word) for word in line]
    return mpi.repeated_after_own_failure(lambda: processes.run(words, environment=environment))


@pytest.mark.parametrize("library", ["mpich5", "openmpi5"])
def test_lines_with_the_usual_launchers_run_under_evenkeel(library, request, installed):
    mpi = request.getfixturevalue(library)
    for launcher in ("mpirun", "mpiexec"):
        outcome = run(mpi, installed, launcher, "-n", "2", "python3", "-c", PROGRAM).ok()
        shim = f"2 {mpi.shim} yield"
        assert outcome.out.splitlines().count(shim) == 2, outcome.text
    outcome = run(
        mpi, installed, "evenkeel", "run", "-n", "2", "--quiet", "--", "python3", "-c", PROGRAM
    ).ok()
    assert outcome.out.splitlines().count(f"2 {mpi.shim} ") == 2, outcome.text


def test_a_program_whose_library_is_unknown_runs_without(mpich5, installed):
    settings = installed / "installed" / "settings"
    kept = settings.read_text()
    settings.write_text("python=/bin/true\nmpi=\noptions=\n")
    try:
        outcome = run(mpich5, installed, "mpiexec", "-n", "2", "python3", "-c", PROGRAM).ok()
    finally:
        settings.write_text(kept)
    assert outcome.out.splitlines().count("2 nothing ") == 2, outcome.text
    assert any("runs without evenkeel" in line for line in outcome.said), outcome.text


def test_the_program_is_named_to_later_steps(installed):
    output = (installed / "GITHUB_OUTPUT").read_text()
    assert output == f"program={installed}/installed/bin/evenkeel\n"
