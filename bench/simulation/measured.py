#!/usr/bin/env python3
"""Simulated times beside measured ones on this machine; writes bench/simulation/measured.md.

    bench/simulation/measured.py [--rounds 5] [--evenkeel target/release/evenkeel]

1. A bare barrier of two ranks (bench/src/floor.c: each raises the other's flag) beside dissemination under the parameters that `evenkeel model
   measure` finds. 2. A loop of work and MPI_Barrier (bench/apps/barrier.c, two ranks, Open MPI) beside the same loop under the noise that
   `evenkeel noise --trace` finds. In each round all are measured one after the other, so that they see the machine in the same state.
   Needs mpicc.openmpi and mpirun.openmpi.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK_US = 1000


def output(*command, **more):
    return subprocess.run(
        [str(c) for c in command], check=True, capture_output=True, text=True, **more
    ).stdout


def simulated(evenkeel, folder, *line):
    output(evenkeel, "simulate", *line, "--json", folder / "record.json")
    return json.loads((folder / "record.json").read_text())["runs"][0]


def pair(evenkeel, folder, priority):
    """Nanoseconds of a barrier of two ranks: simulated, measured."""
    output(
        *priority, evenkeel, "model", "measure", "-n", 2, "--passes", 10, "--json", folder / "machine.json"
    )
    run = simulated(
        evenkeel, folder, "dissemination", "-n", 2, "--machine", folder / "machine.json", "--iterations", 1000
    )
    found = json.loads(
        next(
            line
            for line in output(
                *priority, folder / "floor", "--ranks", 2, "--cap", 0.2, "--variant", "spin"
            ).splitlines()
            if '"barrier"' in line
        ).removeprefix("result ")
    )
    return run["end_ns"] / 1000, found["mean_us"] * 1000


def loop(evenkeel, folder, turns, calls):
    """A round of work and barrier over the work, two ranks: simulated, measured; and the share of time that noise took."""
    noise = folder / "noise.json"
    output(evenkeel, "noise", "--seconds", 6, "--trace", noise)
    run = simulated(
        evenkeel,
        folder,
        "dissemination",
        "-n",
        2,
        "--machine",
        folder / "machine.json",
        "--iterations",
        2000,
        "--compute",
        f"{WORK_US}us",
        "--noise",
        noise,
    )
    share = json.loads((folder / "record.json").read_text())["noise_share"]
    text = output(
        "mpirun.openmpi",
        "--allow-run-as-root",
        "--bind-to",
        "core",
        "-n",
        2,
        folder / "barrier",
        "mode=loop",
        f"count={calls}",
        f"spin={turns}",
        "check=0",
    )
    seconds = float(re.search(r"seconds=([\d.]+)", text).group(1))
    return run["end_ns"] / 2000 / WORK_US / 1e3, seconds / calls / WORK_US * 1e6, share


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--calls", default=600, type=int)
    parser.add_argument("--out", default=HERE / "measured.md", type=pathlib.Path)
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="the first part with real-time priority, on a machine that is not idle (takes root)",
    )
    options = parser.parse_args()
    priority = ["chrt", "-f", 20] if options.real_time else []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output("gcc", "-O2", "-o", folder / "floor", ROOT / "bench/src/floor.c", "-lm")
        output("mpicc.openmpi", "-O2", "-o", folder / "barrier", ROOT / "bench/apps/barrier.c", "-lm")
        # Turns of computation that take the work when nothing disturbs, from the program's own calibration.
        said = output(
            "mpirun.openmpi",
            "--allow-run-as-root",
            "-n",
            1,
            folder / "barrier",
            "mode=compute",
            "count=10",
            "spin=100000",
            "check=0",
        )
        seconds_per_turn = float(re.search(r"compute_s=([\d.]+)", said).group(1)) / 1e6
        turns = round(WORK_US / 1e6 / seconds_per_turn)
        pairs = [pair(options.evenkeel, folder, priority) for _ in range(options.rounds)]
        loops = [loop(options.evenkeel, folder, turns, options.calls) for _ in range(options.rounds)]
    rows = [
        f"| {i} | {s:.0f} | {m:.0f} | {s / m - 1:+.0%} | {100 * share:.1f}% | {ls:.2f} | {lm:.2f} | {ls / lm - 1:+.0%} |"
        for i, ((s, m), (ls, lm, share)) in enumerate(zip(pairs, loops), 1)
    ]
    middle = [
        statistics.median(s / m - 1 for s, m in pairs),
        statistics.median(s / m - 1 for s, m, _ in loops),
    ]
    text = (
        f"""# Simulated and measured, on one machine

Made by `bench/simulation/measured.py{" --real-time" if options.real_time else ""}`. Two ranks on two cores. *pair*: a bare barrier, nanoseconds. *loop*: a round of {WORK_US} µs of work
and a barrier, over the work. *noise*: the share of the time that `evenkeel noise` saw others take, just before.
Median of the differences: pair {middle[0]:+.0%}, loop {middle[1]:+.0%}.

| round | pair, simulated | measured | difference | noise | loop, simulated | measured | difference |
|---|---|---|---|---|---|---|---|
"""
        + "\n".join(rows)
        + "\n"
    )
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
