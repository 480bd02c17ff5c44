#!/usr/bin/env python3
"""Measures test suites of Python projects on several ranks, with and without evenkeel.

    build/venv-tools/bin/python bench/python_suites/run.py [--rounds 3] [--ranks 4,8] [--only pylops-mpi]

results.md is written anew. The suites come from the projects' source packages and run as their documentation
says, by pytest in each rank. In each round every setting runs once, in random order. Times are medians of the
rounds. A test counts as passed if it has passed on all ranks.
"""

import dataclasses
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import BUILD
from evenkeel_bench.libraries import libraries
from evenkeel_bench.markdown import table
from evenkeel_bench.settings import AS_IT_IS, environment_of, settings_of
from evenkeel_bench.study import Study, in_rounds

HERE = Path(__file__).resolve().parent
STUDY = Study(HERE / "run.py", "Test suites of Python projects", ("rounds", "ranks", "libraries"))
PYTHON = BUILD / "venv-suites" / "bin" / "python"
WHEELS = [
    "mpi4py==4.1.2",
    "numpy==2.2.6",
    "scipy",
    "matplotlib",
    "pylops==2.6.0",
    "pyproximal==0.13.0",
    "mpi-list==0.4.0",
    "pylops-mpi==0.8.0",
    "pytest==8.4.2",
    "pytest-mpi==0.6",
]
LONGEST_S = 300
EXPECTED_S = 60  # of one run
TOLD = (
    f"Seconds, medians of the rounds. A run is cut off after {LONGEST_S} s. Passed: on all ranks, in every "
    "round. Lost: passed in every round of the library alone, and not in each with the setting."
)


@dataclasses.dataclass(frozen=True)
class Project:
    """A project with a test suite: its source package, and how pytest is called there."""

    name: str
    version: str
    folder: str  # of the source package
    arguments: tuple = ()

    @property
    def source(self):
        return BUILD / "suites" / self.folder


PROJECTS = [
    Project(
        "mpi4py",
        "4.1.2",
        "mpi4py-4.1.2/test",
        # Some tests start further processes, which is another matter. Locks hang under MPICH 4.0 by itself.
        tuple(f"--ignore=test_{name}.py" for name in ("spawn", "dynproc", "util_pool", "util_sync")),
    ),
    Project("mpi-list", "0.4.0", "mpi_list-0.4.0", ("tests", "--override-ini=addopts=")),
    # Its Fourier transforms need a package that has no wheel.
    Project(
        "pylops-mpi", "0.8.0", "pylops_mpi-0.8.0", ("tests", "--with-mpi", "--ignore=tests/test_ffts.py")
    ),
]


def install():
    """The virtual environment of the suites, and their sources."""
    if not PYTHON.exists():
        venv.create(PYTHON.parent.parent, with_pip=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *WHEELS], check=True)
    for project in PROJECTS:
        if project.source.exists():
            continue
        folder = BUILD / "suites"
        folder.mkdir(parents=True, exist_ok=True)
        what = f"{project.name}=={project.version}"
        download = ["download", "--no-deps", "--no-binary", ":all:", "--dest", folder]
        subprocess.run([*pip, *download, what], check=True)
        archive = next(folder.glob(f"{project.folder.split('/')[0]}*.tar.gz"))
        with tarfile.open(archive) as package:
            package.extractall(folder)


def settings(names):
    for library in libraries(BUILD)[0]:
        if library.name in names:
            yield from settings_of(library, environment_of_suites(library), "--mpi", library.family)


def environment_of_suites(library):
    """Makes mpi4py load this library."""
    # Each rank's numerical library would start a thread for each core.
    made = environment_of(library) | {"OMP_NUM_THREADS": "1", "MPI4PY_MPIABI": library.family}
    launcher = Path(library.launcher)
    if launcher.is_absolute():
        return made | {"LD_LIBRARY_PATH": str(launcher.parent.parent / "lib")}
    if library.family == "mpich":
        return made | {"LD_LIBRARY_PATH": str(BUILD / "venv-debian" / "lib")}
    return made


def verdicts(folder, ranks):
    """Test → the set of its verdicts on the ranks."""
    found = {}
    for rank in range(ranks):
        path = folder / f"{rank}.xml"
        if not path.exists() or not path.stat().st_size:
            continue
        for case in ET.parse(path).iter("testcase"):
            kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
            name = f"{case.get('classname')}::{case.get('name')}"
            found.setdefault(name, set()).add(min(kinds) if kinds else "passed")
    return found


def run(setting, project, ranks, keep_logs):
    """Seconds, and the tests that have passed on all ranks. None in place of seconds: it was cut off."""
    with tempfile.TemporaryDirectory() as folder:
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        line = f'cd "$0" && exec "$@" --junitxml={folder}/{rank}.xml > {folder}/{rank}.out 2>&1'
        pytest = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *project.arguments]
        began = time.monotonic()
        job = subprocess.Popen(
            setting.command(ranks, "sh", "-c", line, project.source, *pytest),
            env=setting.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            job.wait(timeout=LONGEST_S)
            seconds = time.monotonic() - began
        except subprocess.TimeoutExpired:
            seconds = None
            job.terminate()
            try:
                job.wait(timeout=30)
            except subprocess.TimeoutExpired:
                job.kill()
            subprocess.run(["pkill", "-9", "-f", folder], check=False)
        if keep_logs:
            name = f"{setting.library.title}-{setting.name}-{project.name}-{ranks}"
            shutil.copytree(folder, keep_logs / name, dirs_exist_ok=True)
        of_tests = verdicts(Path(folder), ranks)
        return seconds, sorted(name for name, of_test in of_tests.items() if of_test == {"passed"})


def measure(options):
    install()
    projects = [p for p in PROJECTS if not options.only or p.name in options.only]
    cases = {f"{p.name}, {ranks} ranks": (p, ranks) for ranks in options.ranks for p in projects}

    def run_case(case, setting):
        project, ranks = case
        seconds, passed = run(setting, project, ranks, options.keep_logs)
        row = {"project": project.name, "ranks": ranks, "library": setting.library.title}
        return [row | {"setting": setting.name, "seconds": seconds, "passed": passed}]

    yield from in_rounds(options, cases, list(settings(options.libraries)), run_case, EXPECTED_S)


def tables(found):
    """A row for each project, number of ranks, library and setting."""
    runs = {}
    for x in found:
        runs.setdefault((x["project"], x["ranks"], x["library"], x["setting"]), []).append(x)

    def passed(key):
        return set.intersection(*(set(x["passed"]) for x in runs[key])) if key in runs else set()

    def seconds(key):
        times = [x["seconds"] for x in runs.get(key, [])]
        return None if None in times or not times else statistics.median(times)

    rows = []
    for key in sorted(runs):
        alone = (*key[:3], AS_IT_IS)
        took, base = seconds(key), seconds(alone)
        text = f"{took:.1f}" if took else f"> {LONGEST_S}"
        ratio = "-" if not took else f"{base / took:.1f}" if base else f"> {LONGEST_S / took:.1f}"
        lost = len(passed(alone) - passed(key))
        rows.append([*key, text, ratio, len(passed(key)), lost])
    head = ["project", "ranks", "library", "setting", "s", "times as fast as alone", "passed", "lost"]
    return [table(head, rows, numbers={1, 4, 5, 6, 7})]


def names(text):
    return text.split(",")


def main():
    p = STUDY.parser(__doc__, rounds=3, ranks=[4, 8])
    p.add_argument("--libraries", type=names, default="openmpi4,mpich4,mpich5", help="their names")
    p.add_argument("--only", type=names, default=[], help="projects, separated by commas")
    p.add_argument("--keep-logs", type=Path, help="folder for what pytest printed and its verdicts")
    STUDY.main(p, measure, TOLD, tables)


if __name__ == "__main__":
    main()
