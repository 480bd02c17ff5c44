#!/usr/bin/env python3
"""Measures what recording for `evenkeel check` costs a program of many 8-byte messages and collectives.

    build/venv-tools/bin/python bench/checking/study.py [--rounds 9] [--turns 50000] [--compiler mpicc.mpich]

In each round the program runs without a trace and at each level, in random order. The table shows medians
over the rounds; a ratio is taken within a round. With the defaults it takes about a minute.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVENKEEL = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/evenkeel"
SOURCE = ROOT / "bench/src/small_calls.c"
LEVELS = ["none", "order", "times", "checks"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--turns", type=int, default=50000, help="of each part (default: 50000)")
    p.add_argument("--compiler", default="mpicc.mpich")
    return p.parse_args()


def run(program, turns, trace, level):
    """{part: (ns of a turn, calls of a turn)}"""
    recorded = [] if level == "none" else ["--trace", trace, "--trace-level", level]
    line = [EVENKEEL, "run", "--quiet", "--launcher", "evenkeel", "-n", "2", *recorded, "--", program, turns]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=True)
    parts = [text.split() for text in done.stdout.splitlines()]
    return {name: (float(ns), int(calls)) for name, ns, calls in parts}


def measure(args, program, trace):
    """[{level: {part: (ns, calls)}}] by round, and the bytes of the trace at each level."""
    rounds, room = [], {}
    for _ in range(args.rounds):
        taken = {}
        for level in random.sample(LEVELS, len(LEVELS)):
            shutil.rmtree(trace, ignore_errors=True)
            taken[level] = run(program, args.turns, trace, level)
            if level != "none":
                room[level] = sum(file.stat().st_blocks * 512 for file in trace.iterdir())
        rounds.append(taken)
    return rounds, room


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "small_calls"
        # gcc takes MPICH's MPI_STATUSES_IGNORE, a special address, for a short array.
        subprocess.run([args.compiler, "-O2", "-Wno-stringop-overflow", "-o", program, SOURCE], check=True)
        rounds, room = measure(args, program, Path(folder) / "trace")
    print("ns a call, median; in brackets the ratio to no trace")
    print(f"{'':12}" + "".join(f"{level:>16}" for level in LEVELS))
    for part, (_, calls) in rounds[0]["none"].items():
        cells = ""
        for level in LEVELS:
            ns = statistics.median(taken[level][part][0] for taken in rounds) / calls
            ratio = statistics.median(taken[level][part][0] / taken["none"][part][0] for taken in rounds)
            cells += f"{ns:8.0f} ({ratio:5.2f})"
        print(f"{part:12}{cells}")
    turns = args.turns + args.turns // 10
    calls = 2 * turns * sum(calls for _, calls in rounds[0]["none"].values())
    print("bytes a call: " + ", ".join(f"{level} {room[level] / calls:.1f}" for level in LEVELS[1:]))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {args.rounds} rounds")


if __name__ == "__main__":
    main()
