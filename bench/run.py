#!/usr/bin/env python3
"""Measures evenkeel and every MPI library found here, in one run of interleaved rounds.

Writes tables, CSV and plots to bench/results/.
"""

import argparse
import dataclasses
import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from evenkeel_bench import disturbance, launch, libraries, machine, plan, plots, programs, tables
from evenkeel_bench.checkout import BUILD, SHIMS
from evenkeel_bench.progress import INTERRUPTED, Progress, say_interrupted
from evenkeel_bench.results import Results, read_csv, rows_of, write_csv
from evenkeel_bench.run_reports import rows_of_report

HERE = Path(__file__).resolve().parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    sections, on_request = ", ".join(plan.SECTIONS), ", ".join(plan.ON_REQUEST)
    p.add_argument("--quick", action="store_true", help="two rounds, fewer libraries: about three minutes")
    p.add_argument("--rounds", type=int, help="number of rounds (else 5, or 2 with --quick)")
    p.add_argument("--seconds", type=float, help="measuring time for each operation of one run")
    p.add_argument("--ranks", help="numbers of ranks for the collectives, such as 2,16")
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a section ({sections}; also {on_request}, which is not run unless named) or a configuration, "
        "such as impi or openmpi4-bound+evenkeel; may be repeated",
    )
    p.add_argument("--seed", type=int, default=1, help="of the order of the runs and the random delays")
    p.add_argument("--build", type=Path, default=BUILD, help="folder with the wheels' environments")
    p.add_argument("--shims", type=Path, default=SHIMS, help="folder with evenkeel's shims")
    p.add_argument("--without-evenkeel", action="store_true", help="measure the libraries alone")
    p.add_argument(
        "--results",
        type=Path,
        help="folder for the results (else bench/results, or a folder in it if one of the sections that must "
        "be named is run alone)",
    )
    p.add_argument("--list", action="store_true", help="only list the runs and the time that they would take")
    p.add_argument("--render", action="store_true", help="only write tables and plots again from results.csv")
    a = p.parse_args()
    if a.results is None:
        alone = a.only[0] if len(a.only) == 1 and a.only[0] in plan.ON_REQUEST else ""
        a.results = HERE / "results" / alone
    return a


def budget_of(a):
    budget = plan.QUICK if a.quick else plan.FULL
    changes = {}
    if a.rounds:
        fewer = {section: min(n, a.rounds) for section, n in budget.section_rounds.items()}
        changes |= {"rounds": a.rounds, "section_rounds": fewer}
    if a.seconds:
        changes |= {"op_s": a.seconds}
    if a.ranks:
        changes |= {"ranks": tuple(int(n) for n in a.ranks.split(","))}
    return dataclasses.replace(budget, **changes)


@dataclasses.dataclass
class Session:
    """The programs and libraries of a benchmark, and the folder of its results."""

    folder: Path  # of the compiled programs
    by_name: dict  # name → configuration
    disturber: disturbance.Disturber
    report: Path  # where evenkeel writes its report of a run
    results: Results
    failures: dict = dataclasses.field(default_factory=dict)  # key of a task → how often it failed

    def measure(self, task, round_):
        """Runs a task and adds its rows. Returns why it failed, or ''.

        After two failures it is not run again.
        """
        if self.failures.get(task.key(), 0) >= 2:
            return ""
        outcome, more = self.run(task, round_)
        self.results.add(rows_of(task, round_, outcome) + more)
        if outcome.reason:
            self.failures[task.key()] = self.failures.get(task.key(), 0) + 1
        return outcome.reason

    def run(self, task, round_):
        """One run: its outcome, and the rows of evenkeel's report."""
        configuration = self.by_name.get(task.configuration)
        if task.wants_report:
            self.report.unlink(missing_ok=True)
        try:
            command = self.disturber.command(task.disturbance, self.command(task, configuration))
        except disturbance.DisturbanceError as error:
            return launch.Outcome([], str(error), 0), []
        environment = configuration and configuration.environment | configuration.launcher_environment
        outcome = launch.run(command, task.limit_s, environment)
        is_reported = task.wants_report and not outcome.reason
        return outcome, rows_of_report(self.report, task, round_) if is_reported else []

    def command(self, task, configuration):
        if configuration is None:
            return [str(programs.path(self.folder, task.program)), *map(str, task.arguments)]
        report = {"EVENKEEL_REPORT": str(self.report)} if task.wants_report else {}
        program = programs.path(self.folder, task.program, configuration.library)
        return configuration.command(task.ranks, program, task.arguments, task.environment | report)


def measure(budget, configurations, planned, folder, results):
    """Runs all rounds; `results` has all rows so far if this is interrupted."""
    by_name = {c.name: c for c in configurations}
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as scratch,
        disturbance.Disturber(programs.path(folder, "competitors")) as disturber,
        Progress(plan.expected_s(planned)) as progress,
    ):
        session = Session(folder, by_name, disturber, Path(scratch) / "run.json", results)
        for number, tasks in enumerate(planned, 1):
            for task in tasks:
                progress.begin(
                    f"round {number}/{budget.rounds}: {task.section}, {task.configuration}, {task.ranks} "
                    "ranks"
                )
                if reason := session.measure(task, number):
                    progress.say(f"{task.configuration}, {task.section}, {task.ranks} ranks: {reason}")
                progress.advance(task.expected_s)


def versions(results):
    """Names of configurations → library version, as the libraries themselves say."""
    names_by_version = {}
    for row in results.select(op="start"):
        if not row["configuration"].endswith("+evenkeel"):
            version = " ".join(row.get("library", "").split())
            names_by_version.setdefault(version, set()).add(row["configuration"])
    ordered = sorted(names_by_version.items(), key=lambda item: sorted(item[1]))
    return {", ".join(sorted(names)): version for version, names in ordered}


def write(results, head, left_out, seconds, folder):
    """Writes CSV, figures and tables."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "results.csv", results.rows)
    figures = plots.write_all(results, folder)
    text = tables.write(results, head, versions(results), left_out, seconds, figures)
    (folder / "results.md").write_text(text)


def render(folder):
    """Writes tables and figures again, from what an earlier run has kept."""
    kept = json.loads((folder / "run.json").read_text())
    results = Results(read_csv(folder / "results.csv"))
    write(results, kept["machine"], kept["left_out"], kept["seconds"], folder)


def list_tasks(budget, planned):
    for task in planned[0]:
        where = f"{task.section:12} {task.configuration:28} {task.ranks:3} ranks"
        print(f"{where}  {task.expected_s:5.1f} s  {task.variant}")
    minutes = plan.expected_s(planned) / 60
    print(f"{budget.rounds} rounds, {sum(map(len, planned))} runs, about {minutes:.1f} minutes")


def describe(a, budget):
    """Lines about the machine and this run; warns if the machine is busy."""
    head = machine.describe(" ".join(["bench/run.py", *map(shlex.quote, sys.argv[1:])]))
    head.append(f"mode: {budget.name}, {budget.rounds} rounds, seed {a.seed}")
    if machine.load() > 0.5:
        load = f"the load is {machine.load():.2f}"
        print(f"bench: {load}: other programs are running, which will show in the results", file=sys.stderr)
    return head


def main():
    a = arguments()
    if a.render:
        render(a.results)
        return 0
    budget = budget_of(a)
    head = describe(a, budget)
    found, left_out = libraries.libraries(a.build)
    folder = a.build / "bench"
    shims = None if a.without_evenkeel else a.shims
    configurations, more = libraries.configurations(found, shims, programs.one_session(folder))
    left_out |= more
    known = (*plan.SECTIONS, *plan.ON_REQUEST)
    sections = [s for s in known if s in a.only] or plan.SECTIONS
    only = [name for name in a.only if name not in known]
    names = [c.name for c in configurations]
    if unknown := [name for name in only if name not in names]:
        print(f"bench: there is no {', '.join(unknown)}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    configurations = plan.chosen(budget, configurations, only)
    if not a.list:
        failed = programs.compile_all(folder, found)
        left_out |= failed
        configurations = [c for c in configurations if c.library.name not in failed]
    cores = len(os.sched_getaffinity(0))
    planned = plan.rounds(budget, configurations, cores, a.seed, sections, only)
    if a.list:
        list_tasks(budget, planned)
        return 0
    results, start = Results(), time.monotonic()
    try:
        measure(budget, configurations, planned, folder, results)
    except KeyboardInterrupt:
        say_interrupted("bench")
        head.append(INTERRUPTED)
    seconds = time.monotonic() - start
    write(results, head, left_out, seconds, a.results)
    about = {"machine": head, "left_out": left_out, "seconds": seconds}
    (a.results / "run.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    print(tables.target_table(results))
    print(f"\n{a.results / 'results.md'}: all tables; results.csv: every round; plots beside them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
