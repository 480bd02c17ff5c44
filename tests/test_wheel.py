"""A wheel of what was built here, installed by pip, is a whole evenkeel.

What is tested is how the wheel is put together. `make test-wheel` tests the wheel that is compiled for an
older glibc, on bare installations of Debian.
"""

import subprocess
import sys

import pytest

import processes
from apps import assert_right, build
from paths import RELEASE, ROOT

sys.path.insert(0, str(ROOT / "packages" / "wheel"))

import make_wheel


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where pip has installed the wheel."""
    directory = tmp_path_factory.mktemp("wheel")
    make_wheel.install(RELEASE, directory / "tree")
    texts = make_wheel.take_licences(directory / "tree")
    where = (directory / "tree", texts, make_wheel.version(), "linux_x86_64", directory)
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-warn-script-location"]
    subprocess.run([*line, "--prefix", directory / "prefix", make_wheel.write_wheel(*where)], check=True)
    return directory / "prefix"


def test_the_wheel_installs_all_files(prefix):
    wanted = [line for line in (ROOT / "packages" / "files.txt").read_text().splitlines() if line[0] != "#"]
    taken = ["share/doc/evenkeel/LICENSE", "share/doc/evenkeel/THIRD-PARTY"]  # see the test of licences
    assert [pattern for pattern in wanted if not any(prefix.glob(pattern))] == taken


def test_the_installed_program_finds_its_shims(prefix, mpi, report):
    run = [prefix / "bin" / "evenkeel", "run", "-n", "3", "--report", report]
    program = [build(mpi, "barrier"), "count=300", "spin=200", "check=30"]
    environment = mpi.path() | mpi.environment
    line = [str(word) for word in [*run, "--", *program]]
    outcome = processes.run(line, report=report, environment=environment)
    assert_right(outcome, 3)
    assert outcome.calls("barrier") > 0


def test_licences_of_all_crates_and_of_the_page_are_in_the_wheel(prefix):
    (information,) = prefix.glob("lib/python*/site-packages/evenkeel-*.dist-info")
    text = (information / "licenses" / "THIRD-PARTY").read_text()
    *crates, page = text.split("\n==== ")
    assert "ECharts" in page
    assert "Baidu" in page
    assert len(crates) > 50
    referring = [crate for crate in crates if len(crate.splitlines()) < 5]
    assert all("Apache License 2.0, as evenkeel" in crate for crate in referring), referring
