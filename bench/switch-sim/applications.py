#!/usr/bin/env python3
"""Simulates application cores on three fabrics, beside the tables of the paper.

python3 bench/switch-sim/applications.py          (two minutes on one core)
python3 bench/switch-sim/applications.py --page   (only the page, from applications.json)

Writes docs/src/fabric-applications.md.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import BOOK, EVENKEEL
from evenkeel_bench.markdown import table

HERE = Path(__file__).resolve().parent
PAGE = BOOK / "fabric-applications.md"
FABRICS = ["myrinet", "ethernet", "avici", "avici-fabric"]
SIZES = [32, 64, 128, 256, 512, 1024, 2048]
SEEDS = 10

# Chen and Wyckoff, CANPC 2000, tables 1 to 4: least, mean, most, standard deviation, in microseconds.
TOKEN = {
    "myrinet": (0.388, 0.427, 0.869, 0.093),
    "ethernet": (1.564, 1.595, 3.532, 0.244),
    "avici": (1.380, 1.386, 1.530, 0.024),
    "avici-fabric": (0.180, 0.186, 0.330, 0.024),
}
FAN_IN = {
    "myrinet": (13.19, 1663.51, 3313.83, 956.55),
    "ethernet": (24.83, 2488.14, 4345.48, 1343.83),
    "avici": (538.26, 2941.32, 4349.76, 1055.05),
    "avici-fabric": (4.68, 129.72, 233.49, 66.55),
}
FAN_OUT = {
    "myrinet": (13.43, 1666.60, 3319.09, 957.94),
    "ethernet": (24.83, 46.17, 54.76, 11.13),
    "avici": (63.24, 159.54, 258.60, 45.13),
    "avici-fabric": (21.18, 141.44, 233.43, 61.62),
}
MESH = {
    "myrinet": [
        (0.58, 1.57, 5.74, 0.90),
        (0.78, 2.23, 9.85, 1.44),
        (1.18, 3.74, 17.58, 2.54),
        (1.98, 7.85, 55.75, 7.07),
        (3.58, 16.73, 226.71, 18.83),
        (6.78, 36.54, 441.90, 43.75),
        (13.18, 75.89, 906.86, 93.33),
    ],
    "ethernet": [
        (1.56, 49.55, 174.77, 19.82),
        (1.85, 49.35, 175.06, 19.90),
        (2.88, 49.30, 190.47, 20.65),
        (4.92, 48.18, 214.20, 26.61),
        (9.02, 48.32, 333.28, 52.31),
        (17.21, 84.04, 586.44, 98.29),
        (29.52, 151.36, 1088.28, 188.40),
    ],
    "avici": [
        (1.38, 2.57, 5.28, 0.87),
        (1.65, 3.27, 7.11, 1.10),
        (2.76, 5.34, 9.72, 1.75),
        (4.86, 9.18, 17.37, 3.02),
        (9.09, 16.97, 30.93, 5.44),
        (17.49, 32.56, 55.95, 10.25),
        (22.20, 59.20, 112.59, 20.21),
    ],
}


STATISTICS = ("least", "mean", "most", "deviation")


def lines():
    """The command lines' options: as few lines as possible."""
    seeds = ["--seeds", str(SEEDS)]
    yield ["--core", "token", *seeds]
    yield ["--core", "fan-in", "--core", "fan-out", *seeds]
    yield ["--core", "mesh", "--core", "torus", "--bytes", ",".join(map(str, SIZES)), *seeds]


def measure(evenkeel, threads):
    """Runs all simulations. Returns what the page needs of each."""
    found = []
    for line in lines():
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            command = [evenkeel, "route", "application", *line, "--threads", threads, "--json", record]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found += json.loads(record.read_text())["cases"]
    for result in found:
        for key in ("percentiles", "iterations"):
            del result[key]
    return found


def times(values):
    return " / ".join(f"{v:.3f}" if v < 10 else f"{v:.2f}" for v in values)


def statistics(result):
    return times([result[key] for key in STATISTICS])


def compare(first_column, rows):
    """A table of (what, simulated, the paper's). Means that are more than a tenth off are marked."""
    lines = []
    for what, found, paper in rows:
        off = round(100 * (found["mean"] / paper[1] - 1), 1) + 0.0
        mark = "" if abs(off) <= 10 else " **"
        lines.append([what, statistics(found), times(paper), f"{off:+.1f}%{mark}"])
    return table([first_column, "found", "paper", "mean off by"], lines)


def fan(by_key, core, paper):
    # The paper's figures for conventional Ethernet are those of frames.
    rows = [
        (f, by_key[f, core, 2048]["frames" if f == "ethernet" else "messages"], paper[f]) for f in FABRICS
    ]
    return f"## {core.capitalize()}: 255 messages of 2 KB\n\n{compare('fabric', rows)}"


def meshes(by_key):
    """A table for each fabric."""
    for fabric, paper in MESH.items():
        rows = [(size, by_key[fabric, "mesh", size]["messages"], paper[i]) for i, size in enumerate(SIZES)]
        yield compare(f"{fabric}, bytes", rows)


def totals(by_key):
    lines = []
    for size in SIZES:
        results = [by_key[fabric, "mesh", size] for fabric in MESH]
        lines.append([size, *(cell for r in results for cell in (f"{r['total']:,.0f}", r["farthest_apart"]))])
    return table(["bytes", *(cell for fabric in MESH for cell in (f"{fabric}, µs", "apart"))], lines)


def torus(by_key):
    lines = [
        [size, *(statistics(by_key[fabric, "torus", size]["messages"]) for fabric in MESH)] for size in SIZES
    ]
    return table(["bytes", *MESH], lines)


def page(results):
    """The whole page."""
    by_key = {(r["fabric"], r["core"], r["bytes"]): r for r in results}
    token = [(f, by_key[f, "token", 1]["messages"], TOKEN[f]) for f in FABRICS]
    parts = [
        "# Simulated: application cores on three fabrics",
        "This page is generated by `python3 bench/switch-sim/applications.py`. For what is not said here, "
        "see [Simulation of fabrics](switch-simulation.md#application-cores).",
        f"Latencies in microseconds, each as least / mean / most / standard deviation; means over {SEEDS} "
        "seeds. Paper: Chen and Wyckoff, CANPC 2000, tables 1 to 4. Means that are more than a tenth off "
        "have two stars.",
        "## Token: one byte around a ring of 256 hosts",
        compare("fabric", token),
        fan(by_key, "fan-in", FAN_IN),
        fan(by_key, "fan-out", FAN_OUT),
        "## Mesh: exchange with two to four neighbours, ten iterations",
        *meshes(by_key),
        "Total times, and the most iterations that two hosts were apart:",
        totals(by_key),
        "## Torus: the same with the edges joined",
        torus(by_key),
    ]
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--threads", default="2", help="how many simulations at a time")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    arguments = parser.parse_args()
    results = HERE / "applications.json"
    if not arguments.page:
        found = measure(arguments.evenkeel, arguments.threads)
        results.write_text("[\n" + ",\n".join(json.dumps(result) for result in found) + "\n]\n")
    PAGE.write_text(page(json.loads(results.read_text())))


if __name__ == "__main__":
    main()
