"""Runs mpi4py's own test suite, from its source package, with and without evenkeel."""

import dataclasses
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import mpis
from paths import BUILD, ROOT
from processes import Outcome

VERSION = "4.1.2"
SOURCE = ROOT / "build" / "mpi4py-src"

# Only ends a run that hangs: all modules take half an hour on a small machine.
LONGEST_S = 2 * 3600


def suite():
    """The folder of the tests. The source package is downloaded once."""
    unpacked = SOURCE / f"mpi4py-{VERSION}"
    SOURCE.mkdir(parents=True, exist_ok=True)
    with (SOURCE / "lock").open("w") as lock:  # several workers may want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch(unpacked)
    return unpacked / "test"


def fetch(unpacked):
    if not unpacked.exists():
        archive = SOURCE / f"mpi4py-{VERSION}.tar.gz"
        if not archive.exists():
            download = "download --quiet --disable-pip-version-check --no-binary mpi4py --no-deps --dest"
            done = subprocess.run(
                [sys.executable, "-m", "pip", *download.split(), str(SOURCE), f"mpi4py=={VERSION}"],
                capture_output=True,
                text=True,
                check=False,
            )
            if not archive.exists():
                reason = done.stderr.strip()[-200:]
                pytest.skip(f"the source package of mpi4py {VERSION} cannot be downloaded: {reason}")
        with tarfile.open(archive) as package:
            package.extractall(SOURCE)


def all_modules():
    return sorted(path.stem for path in suite().glob("test_*.py"))


def verdicts_in(text):
    """Verdicts (ok, FAIL, ERROR, skipped) of each test in the verbose output of a rank."""
    found = {}
    for name, verdict in re.findall(
        r"^(?:\s*\d+@\S+ )?(test\w+ \([\w.]+\)).*?\.\.\. (ok|FAIL|ERROR|skipped)", text, re.MULTILINE
    ):
        found.setdefault(name, []).append(verdict)
    return found


@dataclasses.dataclass
class SuiteRun:
    """A run of the suite: its outcome, the verdict on "rank: test", and the folder of the ranks' outputs."""

    outcome: Outcome
    verdicts: dict
    logs: Path


def run_suite(mpi, ranks, modules, shim, report=None):
    """Runs these modules. Each rank writes a file of its own: in one stream their verdicts would mix."""
    tests = suite()
    # Two tests with other modules may run at the same time.
    chosen_modules = hashlib.sha256(" ".join(modules).encode()).hexdigest()[:8]
    logs = BUILD / mpi.name / f"mpi4py-{ranks}-{'with' if shim else 'without'}-{chosen_modules}"
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.iterdir():
        old.unlink()
    rank = "$OMPI_COMM_WORLD_RANK" if mpi.family == "openmpi" else "$PMI_RANK"
    # On few cores Open MPI's own run of test_spawn hangs now and then; test_dynproc does the same by ports.
    excluded = ["spawn"]
    if mpi.name == "mpich4" and ranks > 1:
        # Its locks are built on windows and hang there among several ranks, also without evenkeel.
        excluded.append("util_sync")
    chosen = " ".join([f"-i {module}" for module in modules] + [f"-e {name}" for name in excluded])
    line = f'cd "$0" && exec "$1" main.py -v --no-threads {chosen} > {logs}/{rank} 2>&1'
    program = ["sh", "-c", line, str(tests), mpi.python]
    yielding = mpis.YIELDING_MPICH if mpi.family == "mpich" and not shim else {}
    env = mpi.python_env | yielding
    outcome = mpi.run(program, ranks, shim=shim, timeout=LONGEST_S, report=report, env=env)
    verdicts = {}
    for r in range(ranks):
        path = logs / str(r)
        text = path.read_text(errors="replace") if path.exists() else ""
        verdicts |= {f"{r}: {name}": of_test[-1] for name, of_test in verdicts_in(text).items()}
    return SuiteRun(outcome, verdicts, logs)


def library_version(mpi):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    question = "from mpi4py import MPI; print(MPI.Get_library_version())"
    return subprocess.run(
        [mpi.python, "-c", question],
        capture_output=True,
        text=True,
        env=os.environ | mpi.python_env | root,
        check=False,
    ).stdout


def verdicts_without_evenkeel(mpi, ranks, modules):
    """Kept in build/ per library, version, ranks and modules."""
    key = f"3 {library_version(mpi)} {VERSION} {ranks} {modules}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    kept = BUILD / mpi.name / f"mpi4py-{ranks}-{digest}.json"
    if kept.exists():
        return json.loads(kept.read_text())["verdicts"]
    run = run_suite(mpi, ranks, modules, False)
    code = run.outcome.code
    if code is not None:  # the verdicts of a run that was cut short are not kept
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"code": code, "verdicts": run.verdicts}))
    return run.verdicts


@dataclasses.dataclass
class Comparison:
    """A run with evenkeel beside the verdicts without it."""

    passed_without: set
    run: SuiteRun

    @property
    def outcome(self):
        return self.run.outcome

    def assert_nothing_lost(self):
        """Every test that passed without evenkeel passed with it."""
        lost = sorted(name for name in self.passed_without if self.run.verdicts.get(name) != "ok")
        if lost:
            tails = "\n".join(
                f"--- rank {path.name}\n{path.read_text(errors='replace')[-1500:]}"
                for path in sorted(self.run.logs.iterdir())
            )
            raise AssertionError(
                f"{len(lost)} of {len(self.passed_without)} tests no longer pass, {lost[:20]}; "
                f"exit code {self.outcome.code}\n{self.outcome.err[-2000:]}{tails}"
            )


def names_of(verdicts, *wanted):
    return {name for name, verdict in verdicts.items() if verdict in wanted}


def compare(mpi, under_test, ranks, modules, report, always=False):
    """Runs the modules under `under_test` (the same library, with settings of a test) and compares.

    Where nothing fails with evenkeel, nothing is lost, and they are run without it only if `always` is set.
    """
    run = run_suite(under_test, ranks, modules, True, report)
    passed = names_of(run.verdicts, "ok")
    if always or run.outcome.code != 0 or not passed or names_of(run.verdicts, "FAIL", "ERROR"):
        passed = names_of(verdicts_without_evenkeel(mpi, ranks, modules), "ok")
    assert passed, "no test passed without evenkeel"
    return Comparison(passed, run)
