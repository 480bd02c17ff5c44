#!/usr/bin/env python3
"""Every barrier schedule in the engine beside what the simulator says of it; writes bench/tuning/measured.md.

    bench/tuning/measured.py [--ranks 2,3,4,8,16] [--seconds 100] [--evenkeel target/release/evenkeel]
    bench/tuning/measured.py --from found.json      from what `evenkeel tune --all --dry-run --json found.json` has written

Both are ratios to the built-in way: turns that follow each other, and simulated times. So the machine's load falls out as far as it
lasts longer than two turns, and so does what a switch takes.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def rows(case):
    """Name, measured ratio, its interval, predicted ratio; of all ways that were measured, the fastest first."""
    builtin = case["ways"][0]
    for way in case["ways"][1:]:
        found = way["found"] or {}
        ratio = found.get("finals") or found.get("screened")
        if ratio:
            predicted = (
                way["predicted_ns"] / builtin["predicted_ns"]
                if way["predicted_ns"] and builtin["predicted_ns"]
                else None
            )
            yield way["schedule"], ratio["median"], (ratio["low"], ratio["high"]), predicted


def errors(case):
    return [predicted / measured - 1 for _, measured, _, predicted in rows(case) if predicted]


def section(case):
    found, shown = case["ways"][0]["found"], sorted(rows(case), key=lambda row: row[1])
    off = [abs(e) for e in errors(case)]
    worst = max(errors(case), key=abs, default=0)
    yield f"## {case['ranks']} ranks"
    yield ""
    yield (
        f"The built-in way takes {found['median_ns'] / 1000:.3g} µs. The simulated ratio is off by {statistics.median(off):.0%} in the median, "
        f"by {worst:+.0%} at worst."
    )
    yield ""
    yield "| schedule | measured | 99.9% interval | simulated | off by |"
    yield "|---|--:|--:|--:|--:|"
    for name, measured, (low, high), predicted in shown:
        said = f"{predicted:.2f} | {predicted / measured - 1:+.0%}" if predicted else "- | -"
        yield f"| {name} | {measured:.2f} | {low:.2f} to {high:.2f} | {said} |"
    yield ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--ranks", default="2,3,4,8,16")
    parser.add_argument("--seconds", default=100, type=float)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--out", default=HERE / "measured.md", type=pathlib.Path)
    options = parser.parse_args()
    command = "evenkeel tune --all --dry-run --ranks {} --time-limit {:g}"
    measuring = command.format(options.ranks, options.seconds)
    with tempfile.TemporaryDirectory() as name:
        source = options.source or pathlib.Path(name) / "found.json"
        if not options.source:
            subprocess.run([options.evenkeel, *measuring.split()[1:], "--json", source], check=True)
        record = json.loads(source.read_text())
    cases = record["cases"]
    command = command.format(",".join(str(case["ranks"]) for case in cases), record["time_limit_s"])
    shared = [abs(e) for case in cases if case["ranks"] > record["cores"] for e in errors(case)]
    lines = [
        "# Barriers by schedules: measured in the engine, and simulated",
        "",
        f"Made by `bench/tuning/measured.py` from `{command}`, on {record['cores']} cores of {record['machine']['processor']}. All numbers are "
        "ratios to the built-in way, which the simulator takes for a central counter (an exchange of flags between two ranks).",
        "",
        *(
            [
                f"Where ranks share cores the simulated ratio is off by {statistics.median(shared):.0%} in the median of {len(shared)} schedules."
            ]
            if shared
            else []
        ),
        "",
        *(line for case in cases for line in section(case)),
    ]
    options.out.write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
