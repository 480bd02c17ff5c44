#!/usr/bin/env python3
"""Measures evenkeel and every MPI library found here in one interleaved run; writes tables, CSV and plots to bench/results/."""

import argparse
import dataclasses
import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent))

from evenkeel_bench import disturbance, launch, machine, peers, plan, plots, programs, tables
from evenkeel_bench.results import Results, read_csv, rows_of, write_csv

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--quick", action="store_true", help="two rounds, fewer libraries: about three minutes")
    p.add_argument("--rounds", type=int, help="rounds instead of the mode's (full: 5, quick: 2)")
    p.add_argument(
        "--seconds", type=float, help="measuring time for each operation of one run, instead of the mode's"
    )
    p.add_argument("--ranks", help="numbers of ranks for the collectives, such as 2,16")
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a section ({', '.join(plan.SECTIONS)}; also {', '.join(plan.ON_REQUEST)}, not run unless named) or a configuration, such as impi or openmpi4-bound+evenkeel; repeatable",
    )
    p.add_argument("--seed", type=int, default=1, help="of the order of the runs and the random delays")
    p.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build",
        help="folder with the virtual environments of the wheels",
    )
    p.add_argument(
        "--shims",
        type=Path,
        default=Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/lib/evenkeel",
        help="folder with evenkeel's shims",
    )
    p.add_argument("--without-evenkeel", action="store_true", help="measure the libraries alone")
    p.add_argument(
        "--results",
        type=Path,
        help="folder for the results; bench/results, or a folder in it if one of the sections that "
        "must be named is run alone",
    )
    p.add_argument(
        "--list", action="store_true", help="say what would be run and how long it would take, and stop"
    )
    p.add_argument(
        "--render",
        action="store_true",
        help="write tables and plots again from the results.csv that is there",
    )
    a = p.parse_args()
    if a.results is None:
        alone = a.only[0] if len(a.only) == 1 and a.only[0] in plan.ON_REQUEST else ""
        a.results = HERE / "results" / alone
    return a


def mode_of(a):
    mode = plan.QUICK if a.quick else plan.FULL
    changes = {}
    if a.rounds:
        changes |= {
            "rounds": a.rounds,
            "section_rounds": {s: min(n, a.rounds) for s, n in mode.section_rounds.items()},
        }
    if a.seconds:
        changes |= {"op_s": a.seconds}
    if a.ranks:
        changes |= {"ranks": tuple(int(n) for n in a.ranks.split(","))}
    return dataclasses.replace(mode, **changes)


def deferral_rows(path, task, round_):
    """How many barriers were left pending, of all ranks, from evenkeel's own record of the run."""
    common = {
        "round": round_,
        "section": task.section,
        "configuration": task.configuration,
        "ranks": task.ranks,
        "variant": task.variant,
        "op": "deferral",
    }
    try:
        with open(path) as file:
            record = json.load(file)
        barriers = [
            op for rank in record["ranks"] for c in rank["comms"] for op in c["ops"] if op["op"] == "barrier"
        ]
        return [
            common
            | {
                "calls": sum(op["calls"] for op in barriers),
                "deferred": sum(op["deferred"] for op in barriers),
            }
        ]
    except (OSError, ValueError, LookupError) as error:
        return [common | {"reason": f"no record of the run: {error}"}]


def report_rows(path, task, round_):
    """Memory, and who carried the calls out, from evenkeel's own record of the run."""
    if task.section == "deferred":
        return deferral_rows(path, task, round_)
    common = {
        "round": round_,
        "section": "collectives",
        "configuration": task.configuration,
        "ranks": task.ranks,
        "variant": "",
        "op": "memory",
    }
    try:
        with open(path) as file:
            record = json.load(file)
        comms = record["ranks"][0]["comms"]
        per_rank = [c["segment_bytes"] / len(c["members"]) for c in comms if c["segment_bytes"]]
        ops = [op for c in comms for op in c["ops"]]
        reasons = sorted({c["host_reason"] for c in comms if c["host_reason"]})
        return [
            common
            | {
                "segment_bytes_per_rank": max(per_rank) if per_rank else None,
                "calls": sum(op["calls"] for op in ops),
                "host_calls": sum(op["host_calls"] for op in ops),
                "reason": "; ".join(reasons),
            }
        ]
    except (OSError, ValueError, LookupError) as error:
        return [common | {"reason": f"no record of the run: {error}"}]


def measure(mode, configurations, planned, folder, results):
    by_name = {c.name: c for c in configurations}
    given_up = {}
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as scratch,
        disturbance.Disturber(programs.path(folder, "competitors")) as disturber,
        tqdm(
            total=round(plan.expected_s(planned), 1),
            unit="s",
            smoothing=0.05,
            dynamic_ncols=True,
            mininterval=0.1 if sys.stderr.isatty() else 30,
            bar_format="{percentage:3.0f}% |{bar}| {elapsed} gone, {remaining} to go  {desc}",
        ) as bar,
    ):
        for number, tasks in enumerate(planned, 1):
            for task in tasks:
                bar.set_description_str(
                    f"round {number}/{mode.rounds}: {task.section}, {task.configuration}, {task.ranks} ranks",
                    refresh=sys.stderr.isatty(),
                )
                if given_up.get(task.key(), 0) < 2:
                    outcome, more = one(
                        task,
                        by_name.get(task.configuration),
                        folder,
                        Path(scratch) / "run.json",
                        number,
                        disturber,
                    )
                    results.add(rows_of(task, number, outcome) + more)
                    if outcome.reason:
                        given_up[task.key()] = given_up.get(task.key(), 0) + 1
                        bar.write(
                            f"{task.configuration}, {task.section}, {task.ranks} ranks: {outcome.reason}",
                            file=sys.stderr,
                        )
                bar.update(min(task.expected_s, bar.total - bar.n))


def one(task, configuration, folder, report, round_, disturber):
    environment = dict(task.environment)
    if task.wants_report:
        report.unlink(missing_ok=True)
        environment["EVENKEEL_REPORT"] = str(report)
    if configuration is None:
        command = [str(programs.path(folder, task.program)), *map(str, task.arguments)]
    else:
        command = configuration.command(
            task.ranks,
            programs.path(folder, task.program, configuration.library),
            task.arguments,
            environment,
        )
    try:
        command = disturber.command(task.disturbance, command)
    except disturbance.Impossible as e:
        return launch.Outcome([], str(e), 0), []
    outcome = launch.run(
        command,
        task.limit_s,
        configuration.environment | configuration.launcher_environment if configuration else None,
    )
    more = report_rows(report, task, round_) if task.wants_report and not outcome.reason else []
    return outcome, more


def versions(results):
    """Names of configurations → library version, as the libraries themselves say."""
    said = {}
    for row in results.select(op="start"):
        if not row["configuration"].endswith("+evenkeel"):
            said.setdefault(" ".join(row.get("library", "").split()), set()).add(row["configuration"])
    return {
        ", ".join(sorted(names)): library
        for library, names in sorted(said.items(), key=lambda item: sorted(item[1]))
    }


def write(results, head, left_out, seconds, folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "results.csv", results.rows)
    pictures = plots.write_all(results, folder)
    text = tables.write(results, head, versions(results), left_out, seconds, pictures)
    (folder / "results.md").write_text(text)
    return text


def main():
    a = arguments()
    about = a.results / "run.json"
    if a.render:
        kept = json.loads(about.read_text())
        write(
            Results(read_csv(a.results / "results.csv")),
            kept["machine"],
            kept["left_out"],
            kept["seconds"],
            a.results,
        )
        return 0
    mode = mode_of(a)
    head = machine.describe(" ".join(["bench/run.py", *map(shlex.quote, sys.argv[1:])]))
    head.append(f"mode: {mode.name}, {mode.rounds} rounds, seed {a.seed}")
    if machine.load() > 0.5:
        print(
            f"bench: the load is {machine.load():.2f}: something else is running, and it will show in the numbers",
            file=sys.stderr,
        )
    found, left_out = peers.libraries(a.build)
    configurations, more = peers.configurations(
        found, None if a.without_evenkeel else a.shims, programs.one_session(a.build / "bench")
    )
    left_out |= more
    known = (*plan.SECTIONS, *plan.ON_REQUEST)
    sections = [s for s in known if s in a.only] or plan.SECTIONS
    only = [name for name in a.only if name not in known]
    unknown = [n for n in only if n not in {c.name for c in configurations}]
    if unknown:
        print(
            f"bench: nothing here is called {', '.join(unknown)}; there are {', '.join(c.name for c in configurations)}",
            file=sys.stderr,
        )
        return 2
    cores = len(os.sched_getaffinity(0))
    configurations = plan.chosen(mode, configurations, only)
    planned = plan.rounds(mode, configurations, cores, a.seed, sections, only)
    if a.list:
        for task in planned[0]:
            print(
                f"{task.section:12} {task.configuration:28} {task.ranks:3} ranks  {task.expected_s:5.1f} s  {task.variant}"
            )
        print(
            f"{mode.rounds} rounds, {sum(map(len, planned))} runs, about {plan.expected_s(planned) / 60:.1f} minutes"
        )
        return 0
    folder = a.build / "bench"
    failed = programs.compile_all(folder, found)
    left_out |= failed
    if failed:
        configurations = [c for c in configurations if c.library.name not in failed]
        planned = plan.rounds(mode, configurations, cores, a.seed, sections, only)
    results, start = Results(), time.monotonic()
    try:
        measure(mode, configurations, planned, folder, results)
    except KeyboardInterrupt:
        print("bench: interrupted; writing what there is", file=sys.stderr)
        head.append("**interrupted**: not all rounds were run")
    seconds = time.monotonic() - start
    write(results, head, left_out, seconds, a.results)
    about.write_text(
        json.dumps({"machine": head, "left_out": left_out, "seconds": seconds}, indent=1, ensure_ascii=False)
        + "\n"
    )
    print(tables.target_table(results))
    print(f"\n{a.results / 'results.md'}: all tables; results.csv: every round; plots beside them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
