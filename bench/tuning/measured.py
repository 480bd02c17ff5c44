#!/usr/bin/env python3
"""Measures every barrier schedule in the engine, beside what the simulator says of it.

    bench/tuning/measured.py [--ranks 2,3,4,8,16] [--seconds 100] [--evenkeel target/release/evenkeel]
    bench/tuning/measured.py --from found.json   (of `evenkeel tune --all --dry-run --json found.json`)

Writes bench/tuning/measured.md. Measured and simulated times are ratios to the built-in barrier, measured in
turns that follow each other. So the load of the machine cancels out if it lasts longer than two turns, and so
does the cost of a context switch.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import EVENKEEL
from evenkeel_bench.markdown import table

HERE = Path(__file__).resolve().parent
COMMAND = "evenkeel tune --all --dry-run --ranks {} --time-limit {:g}"


def rows(case):
    """Of each schedule that was measured: name, measured ratio, its interval, simulated ratio."""
    builtin = case["ways"][0]["predicted_ns"]
    for schedule in case["ways"][1:]:
        found = schedule["found"] or {}
        ratio = found.get("finals") or found.get("screened")
        if ratio:
            predicted = schedule["predicted_ns"]
            simulated = predicted / builtin if predicted and builtin else None
            yield schedule["schedule"], ratio["median"], (ratio["low"], ratio["high"]), simulated


def errors(case):
    """How far off the simulated ratios are."""
    return [simulated / measured - 1 for _, measured, _, simulated in rows(case) if simulated]


def section(case):
    """The part of the page about one number of ranks; the fastest schedule first."""
    builtin_us = case["ways"][0]["found"]["median_ns"] / 1000
    median = statistics.median(abs(e) for e in errors(case))
    worst = max(errors(case), key=abs, default=0)
    lines = []
    for name, measured, (low, high), simulated in sorted(rows(case), key=lambda row: row[1]):
        off = [f"{simulated:.2f}", f"{simulated / measured - 1:+.0%}"] if simulated else ["-", "-"]
        lines.append([name, f"{measured:.2f}", f"{low:.2f} to {high:.2f}", *off])
    return [
        f"## {case['ranks']} ranks",
        f"The built-in barrier takes {builtin_us:.3g} µs. The simulated ratio is off by {median:.0%} in the "
        f"median, by {worst:+.0%} at worst.",
        table(["schedule", "measured", "99.9% interval", "simulated", "off by"], lines, numbers=True),
    ]


def page(record):
    """The whole page, from the record of `evenkeel tune`."""
    cases = record["cases"]
    command = COMMAND.format(",".join(str(case["ranks"]) for case in cases), record["time_limit_s"])
    shared = [abs(e) for case in cases if case["ranks"] > record["cores"] for e in errors(case)]
    parts = [
        "# Barriers by schedules: measured in the engine, and simulated",
        f"Made by `bench/tuning/measured.py` from `{command}`, on {record['cores']} cores of "
        f"{record['machine']['processor']}. All numbers are ratios to the built-in barrier, which the "
        "simulator takes for a central counter (an exchange of flags between two ranks).",
    ]
    if shared:
        parts.append(
            f"Where ranks share cores the simulated ratio is off by {statistics.median(shared):.0%} in the "
            f"median of {len(shared)} schedules."
        )
    return "\n\n".join([*parts, *(part for case in cases for part in section(case))]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--ranks", default="2,3,4,8,16")
    parser.add_argument("--seconds", default=100, type=float)
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing, take this record")
    parser.add_argument("--out", default=HERE / "measured.md", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source = options.source or Path(name) / "found.json"
        if not options.source:
            words = COMMAND.format(options.ranks, options.seconds).split()[1:]
            subprocess.run([options.evenkeel, *words, "--json", source], check=True)
        text = page(json.loads(source.read_text()))
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
