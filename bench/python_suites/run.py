#!/usr/bin/env python3
"""Measures test suites of Python projects on several ranks, with and without evenkeel.

    build/venv-tools/bin/python bench/python_suites/run.py [--rounds 3] [--ranks 4,8] [--only pylops-mpi]

results.md is written anew. The suites come from the projects' source packages and run as their documentation
says, by pytest in each rank. In each round every setting runs once, in random order. Times are medians of the
rounds. A test counts as passed if it has passed on all ranks.
"""

import argparse
import dataclasses
import json
import os
import random
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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "bench"))

from evenkeel_bench.libraries import AS_ROOT, BEST_KNOWN, libraries  # noqa: E402
from evenkeel_bench.progress import Progress  # noqa: E402

EVENKEEL = Path(os.environ.get("EVENKEEL", ROOT / "target/release/evenkeel"))
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


@dataclasses.dataclass(frozen=True)
class Setting:
    """A library in one setting: its command line before and after the number of ranks, its environment."""

    library: str
    name: str
    before: tuple
    after: tuple
    environment: dict = dataclasses.field(hash=False, compare=False)


def environment_of(library):
    """Makes mpi4py load this library."""
    # Each rank's numerical library would start a thread for each core.
    made = os.environ | library.compile_environment | AS_ROOT | {"OMP_NUM_THREADS": "1"}
    made["MPI4PY_MPIABI"] = library.family
    if Path(library.launcher).is_absolute():
        folder = Path(library.launcher).parent.parent / "lib"
        made["PATH"] = f"{Path(library.launcher).parent}:{made['PATH']}"
    else:
        folder = BUILD / "venv-debian" / "lib"
    if library.family == "mpich" or Path(library.launcher).is_absolute():
        made["LD_LIBRARY_PATH"] = str(folder)
    return made


def settings(names):
    made = []
    for library in libraries(BUILD)[0]:
        if library.name not in names:
            continue
        environment = environment_of(library)
        oversubscribe = ("--oversubscribe",) if library.family == "openmpi" else ()
        own = (library.launcher, *oversubscribe, "-n")
        made.append(Setting(library.title, "library", own, (), environment))
        if library.name in BEST_KNOWN:
            best = environment | BEST_KNOWN[library.name]
            made.append(Setting(library.title, "best known setting", own, (), best))
        ours = (EVENKEEL, "run", "--quiet", "--mpi", library.family, "-n")
        made.append(Setting(library.title, "evenkeel", ours, ("--",), environment))
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
        command = [*setting.before, ranks, *setting.after, "sh", "-c", line, project.source, *pytest]
        began = time.monotonic()
        job = subprocess.Popen(
            list(map(str, command)),
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
            name = f"{setting.library}-{setting.name}-{project.name}-{ranks}"
            shutil.copytree(folder, keep_logs / name, dirs_exist_ok=True)
        of_tests = verdicts(Path(folder), ranks)
        return seconds, sorted(name for name, of_test in of_tests.items() if of_test == {"passed"})


def measure(made, options):
    order, found = random.Random(options.seed), []
    projects = [p for p in PROJECTS if not options.only or p.name in options.only]
    cells = [(p, r) for r in options.ranks for p in projects]
    with Progress(EXPECTED_S * len(made) * len(cells) * options.rounds) as progress:
        for project, ranks in cells:
            for _ in range(options.rounds):
                for setting in order.sample(made, len(made)):
                    progress.begin(f"{project.name}, {ranks} ranks, {setting.library}, {setting.name}")
                    seconds, passed = run(setting, project, ranks, options.keep_logs)
                    progress.advance(EXPECTED_S)
                    found.append(
                        {
                            "project": project.name,
                            "ranks": ranks,
                            "library": setting.library,
                            "setting": setting.name,
                            "seconds": seconds,
                            "passed": passed,
                        }
                    )
            # All of this takes an hour or more; if it ends early, what is complete is kept.
            write(found, options)
    return found


def page(found, options):
    cores = len(os.sched_getaffinity(0))
    ranks = ",".join(map(str, options.ranks))
    rounds = f"--rounds {options.rounds} --ranks {ranks} --libraries {options.libraries}"
    parts = [
        "# Test suites of Python projects: results",
        f"`bench/python_suites/run.py {rounds}`, {cores} cores, Linux {os.uname().release}. Seconds, "
        f"medians of the rounds. A run is cut off after {LONGEST_S} s. Passed: on all ranks, in every "
        "round. Lost: passed in every round of the library alone, and not in each with the setting.",
    ]
    keys = list(dict.fromkeys((x["project"], x["ranks"], x["library"], x["setting"]) for x in found))

    def of(key):
        return [x for x in found if (x["project"], x["ranks"], x["library"], x["setting"]) == key]

    def passed(key):
        return set.intersection(*(set(x["passed"]) for x in of(key))) if of(key) else set()

    def seconds(key):
        times = [x["seconds"] for x in of(key)]
        return None if None in times or not times else statistics.median(times)

    rows = [
        "| project | ranks | library | setting | s | times as fast as alone | passed | lost |",
        "|---|--:|---|---|--:|--:|--:|--:|",
    ]
    for key in sorted(keys):
        project, ranks, library, setting = key
        alone = (project, ranks, library, "library")
        took, base = seconds(key), seconds(alone)
        text = f"{took:.1f}" if took else f"> {LONGEST_S}"
        ratio = "-" if not took else f"{base / took:.1f}" if base else f"> {LONGEST_S / took:.1f}"
        lost = len(passed(alone) - passed(key))
        row = (project, ranks, library, setting, text, ratio, len(passed(key)), lost)
        rows.append(f"| {' | '.join(map(str, row))} |")
    return "\n\n".join([*parts, "\n".join(rows)]) + "\n"


def write(found, options):
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "results.md").write_text(page(found, options))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--ranks", type=lambda text: list(map(int, text.split(","))), default=[4, 8])
    p.add_argument("--libraries", default="openmpi4,mpich4,mpich5", help="names, separated by commas")
    p.add_argument(
        "--only", type=lambda text: text.split(","), default=[], help="projects, separated by commas"
    )
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep-logs", type=Path, help="folder for what pytest printed and its verdicts")
    options = p.parse_args()
    install()
    found = measure(settings(options.libraries.split(",")), options)
    sys.stdout.write(page(found, options))


if __name__ == "__main__":
    main()
