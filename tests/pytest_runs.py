"""Runs pytest with the plugin of packages/pytest, as pip installs it, by interpreters that have mpi4py."""

import dataclasses
import os
import re
import subprocess
import sys
import sysconfig

import pytest

import processes
from paths import EVENKEEL, ROOT, SHIMS

PACKAGE = ROOT / "packages" / "pytest"
VERDICT = re.compile(
    r"^(?:\[gw\d+\] \[ *\d+%\] )?(?:(\w+) )?(test\w*\.py::[^\s\[]+(?:\[[^]\n]*\])?)(?: (\w+))?", re.MULTILINE
)
VERDICTS = {"PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS"}

# pytest's own plugins of this machine that these tests do not need; hypothesis takes long to load.
WITHOUT = ["-p", "no:hypothesispytest", "-p", "no:timeout", "-p", "no:cacheprovider"]


def install(directory):
    """Has pip install the plugin into a directory. Returns it, for PYTHONPATH."""
    pytest.importorskip(
        "setuptools", reason="setuptools, which builds the plugin, is not in this environment"
    )
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    line += ["--no-deps", "--no-build-isolation", "--target", str(directory), str(copy_of_package(directory))]
    subprocess.run(line, check=True, capture_output=True, text=True)
    return directory


def copy_of_package(directory):
    """setuptools writes beside what it builds, and the checkout is to stay as it is."""
    copy = directory.parent / "package"
    for source in sorted(PACKAGE.rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            target = copy / source.relative_to(PACKAGE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    return copy


@dataclasses.dataclass
class PytestRun:
    """A run of pytest: its outcome, and the last verdict on each test by the test's name."""

    outcome: processes.Outcome
    verdicts: dict

    @property
    def text(self):
        return self.outcome.text

    def part(self, title):
        """What the run shows about one test: from its title to the next one."""
        found = re.search(
            rf"^_+ (?:ERROR at \w+ of )?{title} _+$(.*?)(?=^_{{3,}} |^={{5,}} \w)", self.text, re.M | re.S
        )
        assert found, f"nothing is shown about {title}:\n{self.text}"
        return found[1]

    def assert_verdicts(self, **tests):
        """`tests`: for each verdict the names of the tests that have it."""
        expected = {name: verdict for verdict, names in tests.items() for name in names}
        assert self.verdicts == expected, self.text


def verdicts(text):
    found = {}
    for before, test, after in VERDICT.findall(text):
        verdict = after if after in VERDICTS else before
        if verdict in VERDICTS:
            found[test.partition("::")[2].replace("::", ".")] = verdict
    return found


def run(mpi, plugin, directory, source, *arguments, launcher=(), environment=None, watch=None):
    """Runs the tests in `source`, which becomes a file in `directory`, by the interpreter of an MPI library.

    `launcher`: the beginning of a line that starts ranks; `environment`: replaces or adds variables.
    """
    if not mpi.python:
        pytest.skip(f"there is no mpi4py for {mpi.name} here")
    (directory / "test_it.py").write_text(source)
    (directory / "pytest.ini").touch()
    line = [*launcher, mpi.python, "-m", "pytest", "-v", "-rA", "--color=no", *WITHOUT, *map(str, arguments)]
    environment = settings(mpi, plugin) | (environment or {})
    outcome = processes.run(["env", "-C", str(directory), *line], environment=environment, watch=watch)
    return PytestRun(outcome, verdicts(outcome.out))


def settings(mpi, plugin):
    """The variables that make pytest, the plugin, evenkeel and the MPI library be found."""
    packages = [str(plugin), sysconfig.get_paths()["purelib"]]
    folders = [str(EVENKEEL.parent), mpi.path().get("PATH", os.environ["PATH"])]
    variables = {"PYTHONPATH": ":".join(packages), "PATH": ":".join(folders), "EVENKEEL_LIB": str(SHIMS)}
    return variables | mpi.python_env | mpi.environment


def start_line(mpi, ranks):
    """The library's own launcher, without evenkeel."""
    return mpi.launcher(ranks, {})
