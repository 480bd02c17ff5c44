#!/usr/bin/env python3
"""Measures evenkeel and every MPI library found here on virtual hosts of this machine, in alternation.

Writes tables, JSON and plots to bench/results/nodes/.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "rig"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench import libraries, machine, programs
from evenkeel_bench.checkout import BUILD, RELEASE, ROOT
from evenkeel_bench.progress import INTERRUPTED, Progress, say_interrupted
from evenkeel_rig import Rig, RigUnavailableError
from nodes import multicast, network_floor, plan, plots, runs, settings, tables
from nodes.rows import Rows

HERE = Path(__file__).resolve().parent
NAME = "evenkeel: bench-nodes"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument(
        "--quick", action="store_true", help="fewer hosts × ranks, fewer rounds: at most eight minutes"
    )
    p.add_argument("--rounds", type=int, help="number of rounds of all sections")
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a section ({', '.join(plan.SECTIONS)}) or a setting, such as impi or openmpi4+evenkeel; "
        "may be repeated",
    )
    p.add_argument("--cells", help="hosts × ranks on each for the collectives, such as 2x1,4x4")
    p.add_argument(
        "--nodes",
        choices=("library", "agents", "auto"),
        default="agents",
        help="EVENKEEL_NODES of evenkeel's runs: whether it carries collectives between hosts itself",
    )
    p.add_argument("--seed", type=int, default=1, help="of the order of the runs")
    p.add_argument("--build", type=Path, default=BUILD, help="folder with the wheels' environments")
    p.add_argument(
        "--release", type=Path, default=RELEASE, help="folder with what cargo built, shims in lib/evenkeel"
    )
    p.add_argument("--without-evenkeel", action="store_true", help="measure the libraries alone")
    p.add_argument(
        "--results", type=Path, default=HERE.parent / "results" / "nodes", help="folder for the results"
    )
    p.add_argument("--list", action="store_true", help="only list the runs and the time that they would take")
    p.add_argument("--render", action="store_true", help="only write table and plots again from results.json")
    return p.parse_args()


def budget_of(a):
    budget = plan.QUICK if a.quick else plan.FULL
    changes = {}
    if a.rounds:
        changes |= {"rounds": a.rounds, "other_rounds": a.rounds, "multicast_rounds": a.rounds}
    if a.cells:
        changes["cells"] = tuple(tuple(map(int, word.split("x"))) for word in a.cells.split(","))
    return dataclasses.replace(budget, **changes)


@dataclasses.dataclass
class Session:
    """The programs and libraries of a benchmark, and the folder of its results."""

    folder: Path  # of the compiled programs
    by_name: dict  # name → setting
    environment: dict  # of all evenkeel's runs
    rows: Rows
    failures: dict = dataclasses.field(default_factory=dict)  # key of a task → how often it failed

    def measure(self, rig, task, round_):
        """Runs a task and adds its rows.

        Returns why it failed, or ''; after two failures it is not run again.
        """
        common = {"round": round_} | {
            key: getattr(task, key) for key in ("section", "setting", "hosts", "per_host", "variant")
        }
        if task.section == "floor":
            self.rows += [common | row for row in network_floor.measure(rig, self.folder)]
            return ""
        if self.failures.get(task.key(), 0) >= 2:
            return ""
        changed = dataclasses.replace(task, environment=task.environment | self.environment)
        outcome, more = runs.run_task(rig, changed, self.by_name[task.setting], self.folder)
        for row in outcome.rows + more:
            self.rows.append(common | (row | {"op": "start"} if "program" in row else row))
        if outcome.reason:
            self.failures[task.key()] = self.failures.get(task.key(), 0) + 1
            self.rows.append(common | {"op": "run", "reason": outcome.reason})
        return outcome.reason


def measure(budget, planned, session, progress):
    hosts = max((task.hosts for tasks in planned for task in tasks), default=0)
    if not hosts:
        return
    with Rig(hosts, shared=shared(session.folder, session.by_name.values())) as rig:
        for number, tasks in enumerate(planned, 1):
            for task in tasks:
                what = f"{task.section}, {task.setting}, {task.hosts}×{task.per_host}"
                progress.begin(f"round {number}/{budget.rounds}: {what}")
                if reason := session.measure(rig, task, number):
                    progress.say(f"{what}: {reason}")
                progress.advance(task.expected_s)


def shared(folder, chosen):
    """The paths that the hosts must see: programs, libraries and shims."""
    paths = {
        ROOT,
        Path(folder),
        *(Path(s.library.launcher).parent.parent for s in chosen if "/" in s.library.launcher),
        *(Path(s.shim).parent for s in chosen if s.shim),
    }
    return sorted({path.resolve() for path in paths if path.exists()})


def versions(rows):
    """Lines with the names of settings and the version that the library itself says."""
    names_by_version = {}
    for row in rows.where(op="start"):
        version = " ".join(row.get("library", "").split())
        names_by_version.setdefault(version, set()).add(row["setting"].removesuffix("+evenkeel"))
    return [f"{', '.join(sorted(names))}: {version}" for version, names in sorted(names_by_version.items())]


def write(rows, about, folder):
    """Writes JSON, figures and tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if row.get("op") == "tcp_stream":
            row["mb_s"] = row["bytes"] / row["seconds"] / 1e6
    text = json.dumps(about | {"rows": rows}, indent=0, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n")
    head = [*about["machine"], f"duration: {about['seconds'] / 60:.1f} minutes"]
    figures = plots.write_all(rows, folder)
    (folder / "results.md").write_text(tables.write(rows, head, versions(rows), about["left_out"], figures))


def render(folder):
    """Writes table and figures again, from what an earlier run has kept."""
    kept = json.loads((folder / "results.json").read_text())
    write(Rows(kept.pop("rows")), kept, folder)


def list_tasks(planned, expected_s):
    for number, tasks in enumerate(planned, 1):
        said = (f"{t.section} {t.setting} {t.hosts}×{t.per_host} {t.variant}".strip() for t in tasks)
        print(f"round {number}: " + "; ".join(said))
    print(f"about {expected_s / 60:.1f} minutes")


def choose(a):
    """The libraries, the settings to measure, and what is left out and why."""
    found, missing = libraries.libraries(a.build)
    # It spins; on hosts that share cores half of its runs hang.
    found = [library for library in found if library.name != "mpich4"]
    missing.pop("mpich4", None)
    known, left_out = settings.settings(found, None if a.without_evenkeel else a.release / "lib/evenkeel")
    names = [name for name in a.only if name not in plan.SECTIONS]
    if unknown := set(names) - {s.name for s in known}:
        sys.exit(f"{NAME}: there is no section and no setting {', '.join(sorted(unknown))}")
    chosen = [s for s in known if not names or s.name in names]
    return found, chosen, left_out | missing


def main():
    a = arguments()
    if a.render:
        render(a.results)
        return 0
    budget = budget_of(a)
    found, chosen, left_out = choose(a)
    sections = [name for name in a.only if name in plan.SECTIONS] or plan.SECTIONS
    planned = plan.rounds(budget, chosen, len(os.sched_getaffinity(0)), a.seed, sections)
    is_multicast = "multicast" in sections
    expected_s = plan.expected_s(planned) + (multicast.expected_s(budget) if is_multicast else 0)
    if a.list:
        list_tasks(planned, expected_s)
        return 0
    head = machine.describe(" ".join(["bench/nodes/run.py", *map(shlex.quote, sys.argv[1:])]))
    head.append(f"mode: {budget.name}, {budget.rounds} rounds, seed {a.seed}")
    rows, start = Rows(), time.monotonic()
    # Not in the checkout's build folder: the hosts see this one, and the programs must be this checkout's.
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as scratch:
        folder = Path(scratch)
        left_out |= programs.compile_all(folder, found)
        session = Session(folder, {s.name: s for s in chosen}, {"EVENKEEL_NODES": a.nodes}, rows)
        try:
            with Progress(expected_s) as progress:
                measure(budget, planned, session, progress)
                if is_multicast:
                    multicast.measure(budget, folder, a.release, progress, rows)
        except RigUnavailableError as error:
            print(f"{NAME}: {error}", file=sys.stderr)
            return 3
        except KeyboardInterrupt:
            say_interrupted(NAME)
            head.append(INTERRUPTED)
    write(rows, {"machine": head, "left_out": left_out, "seconds": time.monotonic() - start}, a.results)
    print(tables.target_table(rows))
    print(f"\n{a.results / 'results.md'}: all tables; results.json: every round; plots beside them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
