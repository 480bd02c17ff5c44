#!/usr/bin/env python3
"""Measures evenkeel and every MPI library found here on virtual hosts of this machine, by turns; writes a table, JSON and plots to bench/results/nodes/."""

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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[0:0] = [str(HERE.parent), str(ROOT / "tests" / "rig")]

from evenkeel_bench import machine, peers, programs  # noqa: E402
from evenkeel_rig import Rig, RigUnavailableError  # noqa: E402
from nodes import multicast, plan, plots, rigged, settings, tables  # noqa: E402
from nodes.targets import Rows  # noqa: E402

RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument(
        "--quick", action="store_true", help="fewer hosts × ranks, fewer rounds: at most eight minutes"
    )
    p.add_argument("--rounds", type=int, help="rounds of all sections instead of the mode's")
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a section ({', '.join(plan.SECTIONS)}) or a setting, such as impi or openmpi4+evenkeel; repeatable",
    )
    p.add_argument("--cells", help="hosts × ranks on each for the collectives, such as 2x1,4x4")
    p.add_argument(
        "--nodes",
        choices=("library", "agents"),
        default="agents",
        help="EVENKEEL_NODES of evenkeel's runs: whether it carries collectives across hosts itself",
    )
    p.add_argument("--seed", type=int, default=1, help="of the order of the runs")
    p.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build",
        help="folder with the virtual environments of the wheels",
    )
    p.add_argument(
        "--release", type=Path, default=RELEASE, help="folder of what cargo built, shims in lib/evenkeel"
    )
    p.add_argument("--without-evenkeel", action="store_true", help="measure the libraries alone")
    p.add_argument(
        "--results", type=Path, default=HERE.parent / "results" / "nodes", help="folder for the results"
    )
    p.add_argument(
        "--list", action="store_true", help="say what would be run and how long it would take, and stop"
    )
    p.add_argument(
        "--render",
        action="store_true",
        help="write table and plots again from the results.json that is there",
    )
    return p.parse_args()


def mode_of(a):
    mode = plan.QUICK if a.quick else plan.FULL
    changes = {}
    if a.rounds:
        changes |= {"rounds": a.rounds, "other_rounds": a.rounds, "multicast_rounds": a.rounds}
    if a.cells:
        changes["cells"] = tuple(tuple(map(int, word.split("x"))) for word in a.cells.split(","))
    return dataclasses.replace(mode, **changes)


def measure(planned, mode, by_name, folder, environment, bar, rows):
    hosts = max((task.hosts for tasks in planned for task in tasks), default=0)
    if not hosts:
        return
    given_up = {}
    with Rig(hosts, shared=shared(folder, by_name.values())) as rig:
        for number, tasks in enumerate(planned, 1):
            for task in tasks:
                bar.set_description_str(
                    f"round {number}/{mode.rounds}: {task.section}, {task.setting}, {task.hosts}×{task.per_host}",
                    refresh=sys.stderr.isatty(),
                )
                common = {
                    "round": number,
                    "section": task.section,
                    "setting": task.setting,
                    "hosts": task.hosts,
                    "per_host": task.per_host,
                    "variant": task.variant,
                }
                if task.section == "floor":
                    rows += [common | row for row in rigged.floor(rig, folder)]
                elif given_up.get(task.key(), 0) < 2:
                    task = dataclasses.replace(task, environment=task.environment | environment)
                    outcome, more = rigged.run_task(rig, task, by_name[task.setting], folder)
                    rows += [
                        common | (row | {"op": "start"} if "program" in row else row)
                        for row in outcome.rows + more
                    ]
                    if outcome.reason:
                        given_up[task.key()] = given_up.get(task.key(), 0) + 1
                        rows.append(common | {"op": "run", "reason": outcome.reason})
                        bar.write(
                            f"{task.setting}, {task.section}, {task.hosts}×{task.per_host}: {outcome.reason}",
                            file=sys.stderr,
                        )
                bar.update(min(task.expected_s, bar.total - bar.n))


def shared(folder, chosen):
    """What the hosts must see: programs, libraries and shims, wherever they lie."""
    paths = {
        ROOT,
        Path(folder),
        *(Path(s.library.launcher).parent.parent for s in chosen if "/" in s.library.launcher),
        *(Path(s.shim).parent for s in chosen if s.shim),
    }
    return sorted({path.resolve() for path in paths if path.exists()})


def write(rows, about, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:  # megabytes per second of streams
        if row.get("op") == "tcp_stream":
            row["mb_s"] = row["bytes"] / row["seconds"] / 1e6
    (folder / "results.json").write_text(
        json.dumps(about | {"rows": rows}, indent=0, ensure_ascii=False) + "\n"
    )
    said = {}
    for row in rows.where(op="start"):
        said.setdefault(" ".join(row.get("library", "").split()), set()).add(
            row["setting"].removesuffix("+evenkeel")
        )
    versions = [f"{', '.join(sorted(names))}: {library}" for library, names in sorted(said.items())]
    text = tables.write(
        rows,
        about["machine"] + [f"duration: {about['seconds'] / 60:.1f} minutes"],
        versions,
        about["left_out"],
        plots.write_all(rows, folder),
    )
    (folder / "results.md").write_text(text)


def main():
    a = arguments()
    if a.render:
        kept = json.loads((a.results / "results.json").read_text())
        write(Rows(kept.pop("rows")), kept, a.results)
        return 0
    mode = mode_of(a)
    found, missing = peers.libraries(a.build)
    found = [
        library for library in found if library.name != "mpich4"
    ]  # spins, and hangs every other time on hosts that share cores
    all_settings, left_out = settings.settings(
        found, None if a.without_evenkeel else a.release / "lib/evenkeel"
    )
    left_out |= {name: why for name, why in missing.items() if name != "mpich4"}
    sections = [name for name in a.only if name in plan.SECTIONS] or plan.SECTIONS
    names = [name for name in a.only if name not in plan.SECTIONS]
    chosen = [s for s in all_settings if not names or s.name in names]
    if unknown := set(names) - {s.name for s in all_settings}:
        sys.exit(
            f"evenkeel: bench-nodes: neither a section nor a setting that is there: {', '.join(sorted(unknown))}"
        )
    planned = plan.rounds(mode, chosen, len(os.sched_getaffinity(0)), a.seed, sections)
    expected = plan.expected_s(planned) + (multicast.expected_s(mode) if "multicast" in sections else 0)
    if a.list:
        for number, tasks in enumerate(planned, 1):
            print(
                f"round {number}: "
                + "; ".join(
                    f"{t.section} {t.setting} {t.hosts}×{t.per_host} {t.variant}".strip() for t in tasks
                )
            )
        print(f"about {expected / 60:.1f} minutes")
        return 0
    head = machine.describe(" ".join(["bench/nodes/run.py", *map(shlex.quote, sys.argv[1:])]))
    head.append(f"mode: {mode.name}, {mode.rounds} rounds, seed {a.seed}")
    rows, start = Rows(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as scratch:
        # Not in the checkout's build folder: the programs must be those of this checkout, and the hosts see
        # this one.
        folder = Path(scratch)
        left_out |= programs.compile_all(folder, found)
        try:
            with tqdm(
                total=round(expected, 1),
                unit="s",
                smoothing=0.05,
                dynamic_ncols=True,
                mininterval=0.1 if sys.stderr.isatty() else 30,
                bar_format="{percentage:3.0f}% |{bar}| {elapsed} gone, {remaining} to go  {desc}",
            ) as bar:
                measure(
                    planned,
                    mode,
                    {s.name: s for s in chosen},
                    folder,
                    {"EVENKEEL_NODES": a.nodes} if a.nodes else {},
                    bar,
                    rows,
                )
                if "multicast" in sections:
                    multicast.measure(mode, folder, a.release, bar, rows)
        except RigUnavailableError as error:
            print(f"evenkeel: bench-nodes: {refusal}", file=sys.stderr)
            return 3
        except KeyboardInterrupt:
            print("evenkeel: bench-nodes: interrupted; writing what there is", file=sys.stderr)
            head.append("**interrupted**: not all rounds were run")
    write(rows, {"machine": head, "left_out": left_out, "seconds": time.monotonic() - start}, a.results)
    print(tables.target_table(rows))
    print(f"\n{a.results / 'results.md'}: all tables; results.json: every round; plots beside them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
