#!/usr/bin/env python3
"""Runs other people's test suites of MPI with and without evenkeel, and says what differs.

The suites are MPICH's own (the folder test/mpi of its sources, from Debian's source package) and the Intel
MPI Benchmarks with their check of results. Each program runs under the MPI library alone, which is the
control, and with evenkeel's barriers strict (the default), auto and deferred. What fails or is slower with
evenkeel only is repeated three times on both sides before it counts. `make build` must have been run.
"""

import argparse
import concurrent.futures
import csv
import itertools
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import imb
import sources
import testlists
from judgement import REPETITIONS, Runs, needs_repetition, verdict
from tqdm import tqdm

import mpis

HERE = Path(__file__).resolve().parent
FOLDERS = [
    *("rma", "coll", "pt2pt", "comm", "threads", "datatype", "attr", "errhan"),
    *("f77", "f90", "group", "info", "topo", "init"),
]
MODES = ["strict", "auto", "deferred"]
LIBRARIES = ["mpich4", "openmpi4", "mpich5", "openmpi5"]
# What identifies a result, and what it says.
KEY = ["suite", "program", "arguments", "ranks", "mpi", "mode"]
COLUMNS = [*KEY, "outcome", "seconds", "control_outcome", "control_seconds", "verdict"]
EPILOG = """\
examples:
  %(prog)s                               all of MPICH's suite; takes hours
  %(prog)s --mpi mpich4 --folder rma,coll      two folders under one library
  %(prog)s --program rma/lockall_dt --mode strict --show     one program, with its output
  %(prog)s --suite imb --imb ~/mpi-benchmarks the Intel MPI Benchmarks, from a checkout
  %(prog)s --summary                          run nothing; count the results that are there

Results are appended to results/*.csv while the run goes on. A run that is started again skips what is there;
--again runs it anew. Programs are compiled once per library in build/suites/. Each takes at most --limit
seconds and --ranks ranks, whatever its list says.
"""


def names(choices):
    """A type for argparse: words with commas between them, each of `choices` if there are any."""

    def split(text):
        found = [name for name in text.split(",") if name]
        for name in found:
            if choices and name not in choices:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(choices)}")
        return found

    return split


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = p.add_argument
    add("--suite", choices=["mpich", "imb"], default="mpich", help="which suite (mpich)")
    add("--mpi", type=names(LIBRARIES), default=LIBRARIES, help=f"libraries: {','.join(LIBRARIES)}")
    add("--mode", type=names(MODES), default=MODES, help=f"kinds of barriers: {','.join(MODES)}")
    add("--folder", type=names(()), default=FOLDERS, help=f"folders of the suite: {','.join(FOLDERS)}")
    add("--program", type=names(()), default=[], help="only these, such as coll/allred or IMB/IMB-NBC")
    add("--ranks", type=int, default=8, help="most ranks of a program (8)")
    add("--limit", type=float, default=60, help="most seconds of a program (60)")
    add("--memory", type=float, default=4, help="most GiB that a list may ask for (4)")
    add("--jobs", type=int, default=1, help="programs at a time, and compilers (1); more disturb the times")
    add("--minutes", type=float, help="begin no further program after so many minutes")
    add("--mpich", type=Path, metavar="DIR", help="folder test/mpi of MPICH, instead of Debian's sources")
    add("--imb", type=Path, metavar="DIR", help="checkout of the Intel MPI Benchmarks (Debian 12 has none)")
    add("--results", type=Path, default=HERE / "results", metavar="DIR", help="folder of the results")
    add("--again", action="store_true", help="also run what has a result")
    add("--build-only", action="store_true", help="compile, and run nothing")
    add(
        "--summary",
        action="store_true",
        help="run nothing; count the results that are there",
    )
    add("--show", action="store_true", help="print the output of what fails")
    a = p.parse_args()
    if a.suite == "imb" and not a.imb and not a.summary:
        p.error("--suite imb needs --imb DIR, a checkout of the Intel MPI Benchmarks")
    return a


class Results:
    """The CSV files, one per suite and library. Rows are written as soon as they are known."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        self.rows = {}
        for path in sorted(folder.glob("*.csv")):
            with path.open(newline="") as file:
                self.rows |= {self.key(row): row for row in csv.DictReader(file)}

    @staticmethod
    def key(row):
        return tuple(str(row[column]) for column in KEY)

    def add(self, row):
        with self.lock:
            known = self.key(row) in self.rows
            self.rows[self.key(row)] = row
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{row['suite']}-{row['mpi']}.csv"
            if known or not path.exists():
                same = [r for r in self.rows.values() if (r["suite"], r["mpi"]) == (row["suite"], row["mpi"])]
                self.write(path, "w", same)
            else:
                self.write(path, "a", [row])

    @staticmethod
    def write(path, how, rows):
        with path.open(how, newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if how == "w":
                writer.writeheader()
            writer.writerows(rows)

    def summary(self):
        """A table in Markdown: how many programs came to each verdict."""
        kinds = ["same", "fails alone", "unsteady", "slower", "new failure", "not run"]
        rows = [
            f"| suite | MPI | barriers | programs | {' | '.join(kinds)} |",
            "|---|---|---|" + "--:|" * (1 + len(kinds)),
        ]
        order = sorted(
            self.rows.values(), key=lambda r: (r["suite"], r["mpi"], MODES.index(r["mode"]), r["program"])
        )
        for group, members in itertools.groupby(order, key=lambda r: (r["suite"], r["mpi"], r["mode"])):
            verdicts = [row["verdict"] for row in members]
            counts = [str(verdicts.count(kind)) for kind in kinds]
            rows.append(f"| {' | '.join(group)} | {len(verdicts)} | {' | '.join(counts)} |")
        return "\n".join(rows)


class Runner:
    """Runs cases under one library."""

    def __init__(self, options, mpi, built, results):
        self.options, self.mpi, self.built, self.results = options, mpi, built, results
        self.version = sources.version_of(mpi)

    def once(self, case, mode):
        """Runs a case, with evenkeel if there is a mode. Returns its outcome and its seconds."""
        program = sources.program_of(self.built, case)
        environment = dict(variable.split("=", 1) for variable in case.environment)
        if self.mpi.family == "mpich":
            environment = mpis.YIELDING_MPICH | environment  # windows and messages are the library's
        if mode:
            environment["EVENKEEL_BARRIER"] = mode
        limit = min(case.limit_s or self.options.limit, self.options.limit)
        begin = time.monotonic()
        done = self.mpi.run(
            program,
            case.ranks,
            *case.arguments,
            shim=bool(mode),
            env=environment,
            timeout=limit,
            extra=case.launcher_arguments,
            wrap=["env", "--chdir", program.parent],  # programs look for files there
        )
        seconds = limit if done.code is None else time.monotonic() - begin
        judge = imb.outcome if case.folder == "IMB" else lambda *what: testlists.outcome(case, *what)
        outcome = judge(done.code, done.out)
        if self.options.show and outcome != "pass":
            what = f"{self.mpi.name} {mode or 'control'}: {case.name} {' '.join(case.arguments)}"
            told = f"{done.out[-3000:]}\n{done.err[-3000:]}"
            tqdm.write(f"--- {what}, {case.ranks} ranks: {outcome}\n{told}")
        return outcome, seconds

    def compare(self, case):
        """Runs a case in all modes that have no result yet, and keeps the results."""
        suite = "imb" if case.folder == "IMB" else "mpich"
        shown = " ".join([*case.environment, *case.launcher_arguments, *case.arguments])
        row = dict.fromkeys(COLUMNS, "")
        row |= {"suite": suite, "program": case.name, "arguments": shown}
        row |= {"ranks": case.ranks, "mpi": self.mpi.name}
        wanted = [
            mode
            for mode in self.options.mode
            if self.options.again or Results.key(row | {"mode": mode}) not in self.results.rows
        ]
        if not wanted:
            return
        control = Runs()
        reason = self.skip_reason(case)
        if not reason:
            control.add(*self.once(case, ""))
            if control.outcome == "timeout":  # it proves nothing, and takes longest
                reason = "the control is out of time"
        for mode in wanted:
            if reason:
                self.results.add(row | {"mode": mode, "outcome": f"not run: {reason}", "verdict": "not run"})
            else:
                self.results.add(row | {"mode": mode} | self.compare_mode(case, mode, control))

    def compare_mode(self, case, mode, control):
        """The columns of a result: a run beside the control's, both repeated if they differ."""
        runs, beside = Runs(), Runs(list(control.outcomes), list(control.seconds))
        runs.add(*self.once(case, mode))
        if needs_repetition(runs, beside):
            for _ in range(REPETITIONS):
                beside.add(*self.once(case, ""))
                runs.add(*self.once(case, mode))
        word = verdict(runs, beside)
        if word in ("new failure", "slower", "unsteady"):
            what = f"{self.mpi.name} --barrier {mode}: {case.name} {' '.join(case.arguments)}"
            took = f"{runs.median_s:.1f} s, control {beside.median_s:.1f} s"
            tqdm.write(f"{word}: {what}, {case.ranks} ranks: {runs.outcome}, {took}")
        return {
            "outcome": runs.outcome,
            "seconds": f"{runs.median_s:.2f}",
            "control_outcome": beside.outcome,
            "control_seconds": f"{beside.median_s:.2f}",
            "verdict": word,
        }

    def skip_reason(self, case):
        standard_only = self.mpi.family != "mpich"
        reason = testlists.skip_reason(case, standard_only, self.version, self.options.memory)
        return reason or ("" if sources.program_of(self.built, case) else "cannot be compiled")


def cases_of(options, suite, built, folder):
    """The cases of a folder (of all benchmarks, if the suite is IMB) that were asked for."""
    found = imb.cases() if options.suite == "imb" else testlists.read([built, suite], folder)
    found = dict.fromkeys(testlists.capped(case, options.ranks) for case in found)
    return [case for case in found if not options.program or case.name in options.program]


def run(options, libraries, results):
    if options.suite == "mpich":
        suite = sources.mpich_suite(options.mpich)
    else:
        suite, options.folder = options.imb, ["IMB"]
    if options.program:
        options.folder = list(dict.fromkeys(name.split("/")[0] for name in options.program))
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    for folder in options.folder:
        for mpi in libraries:
            if options.suite == "imb":
                built = sources.build_imb(suite, mpi, options.jobs)
            else:
                built = sources.build_mpich_suite(suite, mpi, [folder], options.jobs)
            if options.build_only:
                continue
            compare_all(options, Runner(options, mpi, built, results), suite, folder, end)


def compare_all(options, runner, suite, folder, end):
    cases = cases_of(options, suite, runner.built, folder)
    bar = tqdm(total=len(cases), desc=f"{runner.mpi.name} {folder}", unit="program")

    def compare(case):
        if time.monotonic() < end:
            runner.compare(case)
            bar.update()

    with bar, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(compare, case) for case in cases]:
            future.result()


def main():
    options = arguments()
    results = Results(options.results)
    if not options.summary:
        libraries = []
        for mpi in (mpis.named(name) for name in options.mpi):
            if reason := mpi.skip_reason():
                print(f"not tested here: {mpi.name}: {reason}", file=sys.stderr)
            else:
                libraries.append(mpi)
        try:
            run(options, libraries, results)
        except sources.MissingSourceError as e:
            sys.exit(f"evenkeel: {e}")
        except KeyboardInterrupt:
            print("interrupted; start again to go on", file=sys.stderr)
            os._exit(130)  # other threads may wait for programs
    print(results.summary())
    return 1 if any(row["verdict"] == "new failure" for row in results.rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
