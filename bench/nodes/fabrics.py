#!/usr/bin/env python3
"""Compares TLS and UCX over TCP between agents, in turns on virtual hosts of this machine.

Prints medians over rounds and, in brackets, the smallest and largest value, in microseconds: for a barrier
and an allreduce the mean over ranks and calls, for a broadcast the time until the slowest rank returns.

    python3 bench/nodes/fabrics.py --rounds 11 --cells 2x1,4x1
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "rig"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench import libraries, programs
from evenkeel_bench.checkout import ROOT
from evenkeel_rig import Rig
from nodes import plan, run, runs, settings

OPERATIONS = {
    ("barrier", 0): "mean_us",
    ("allreduce", 8): "mean_us",
    ("bcast", 65536): "completion_us",
    ("bcast", 1048576): "completion_us",
}
FABRICS = {
    "tls": {"EVENKEEL_FABRIC": "tls"},
    "ucx over tcp": {"EVENKEEL_FABRIC": "ucx", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"},
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=11)
    p.add_argument("--cells", default="2x1,4x1", help="hosts x ranks on each")
    p.add_argument("--over", default="openmpi4", help="the MPI library")
    p.add_argument("--build", type=Path, default=ROOT / "build")
    p.add_argument("--release", type=Path, default=run.RELEASE)
    return p.parse_args()


def task(setting, hosts, per_host, environment):
    names = ",".join(op if op == "barrier" else f"{op}:{size}" for op, size in OPERATIONS)
    words = ("--ops", names, "--cap", 0.25, "--budget", 8, "--limit", 15)
    wanted = plan.STRICT | {"EVENKEEL_NODES": "agents"} | environment
    return plan.Task(
        "collectives", setting.name, hosts, per_host, "collectives", words, 15, 0.0, environment=wanted
    )


def measure(rig, setting, folder, cells, rounds):
    """Lists of microseconds by (cell, fabric, operation, bytes)."""
    found = {}
    for number in range(rounds):
        for cell in cells:
            names = list(FABRICS) if number % 2 else list(FABRICS)[::-1]
            for name in names:
                planned = task(setting, *cell, FABRICS[name])
                outcome, _ = runs.run_task(rig, planned, setting, folder)
                if outcome.reason:
                    print(f"{cell}, {name}: {outcome.reason}", file=sys.stderr)
                for row in outcome.rows:
                    statistic = OPERATIONS.get((row.get("op"), row.get("bytes")))
                    if statistic and row.get(statistic) is not None:
                        key = (cell, name, row["op"], row["bytes"])
                        found.setdefault(key, []).append(row[statistic])
    return found


def main():
    a = arguments()
    cells = [tuple(map(int, word.split("x"))) for word in a.cells.split(",")]
    found, _ = libraries.libraries(a.build)
    found = [library for library in found if library.name == a.over]
    known, left_out = settings.settings(found, a.release / "lib/evenkeel")
    setting = next((s for s in known if s.name == f"{a.over}+evenkeel"), None)
    if not setting:
        sys.exit(f"there is no {a.over} with evenkeel here: {left_out}")
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        programs.compile_all(folder, found)
        with Rig(max(hosts for hosts, _ in cells), shared=run.shared(folder, [setting])) as rig:
            values = measure(rig, setting, Path(folder), cells, a.rounds)
    print("| hosts × ranks | | " + " | ".join(f"{op} {size or ''}".strip() for op, size in OPERATIONS) + " |")
    print("|---" * (2 + len(OPERATIONS)) + "|")
    for cell in cells:
        for name in FABRICS:
            texts = []
            for op, size in OPERATIONS:
                all_of_them = values.get((cell, name, op, size), [])
                low, high = min(all_of_them, default=0), max(all_of_them, default=0)
                median = statistics.median(all_of_them or [0])
                texts.append(f"{median:.1f} ({low:.1f}–{high:.1f})")
            print(f"| {cell[0]} × {cell[1]} | {name} | " + " | ".join(texts) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
