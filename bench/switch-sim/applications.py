#!/usr/bin/env python3
"""Application cores on three fabrics, against the tables of the paper: makes docs/src/fabric-applications.md.

python3 bench/switch-sim/applications.py          (two minutes on one core)
python3 bench/switch-sim/applications.py --page   (the page alone, from applications.json)
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/src/fabric-applications.md"
FABRICS = ["myrinet", "ethernet", "avici", "avici-fabric"]
SIZES = [32, 64, 128, 256, 512, 1024, 2048]
SEEDS = 10

# Chen, Wyckoff, CANPC 2000, tables 1 to 4: least, mean, most, deviation, in microseconds.
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


def lines():
    """Command lines, as few as will do."""
    seeds = ["--seeds", str(SEEDS)]
    yield ["--core", "token", *seeds]
    yield ["--core", "fan-in", "--core", "fan-out", *seeds]
    yield ["--core", "mesh", "--core", "torus", "--bytes", ",".join(map(str, SIZES)), *seeds]


def measure(evenkeel, threads):
    cases = []
    for line in lines():
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "record.json"
            subprocess.run(
                [evenkeel, "route", "application", *line, "--threads", threads, "--json", record],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            cases += json.loads(record.read_text())["cases"]
    for case in cases:
        for key in ("percentiles", "iterations"):
            del case[key]
    return cases


def times(values):
    return " / ".join(f"{v:.3f}" if v < 10 else f"{v:.2f}" for v in values)


def row(what, found, paper):
    off = round(100 * (found["mean"] / paper[1] - 1), 1) + 0.0
    mark = "" if abs(off) <= 10 else " **"
    return f"| {what} | {times([found[k] for k in ('least', 'mean', 'most', 'deviation')])} | {times(paper)} | {off:+.1f}%{mark} |"


HEAD = "| {} | found | paper | mean off by |\n|---|---|---|---|"


def page(cases):
    of = {(c["fabric"], c["core"], c["bytes"]): c for c in cases}
    text = [
        "# Simulated: application cores on three fabrics",
        "",
        "This page is generated: `python3 bench/switch-sim/applications.py`. What is not said here stands in [Simulation of fabrics](switch-simulation.md#application-cores).",
        "",
        f"Latencies in microseconds, each as least / mean / most / standard deviation; means over {SEEDS} seeds. Paper: Chen, Wyckoff, CANPC 2000, tables 1 to 4. Means that are more than a tenth off have two stars.",
        "",
        "## Token: one byte round a ring of 256 hosts",
        "",
        HEAD.format("fabric"),
    ]
    text += [row(f, of[f, "token", 1]["messages"], TOKEN[f]) for f in FABRICS]
    for core, paper in (("fan-in", FAN_IN), ("fan-out", FAN_OUT)):
        text += ["", f"## {core.capitalize()}: 255 messages of 2 KB", "", HEAD.format("fabric")]
        # The paper's figures for conventional Ethernet are those of frames.
        text += [
            row(f, of[f, core, 2048]["frames" if f == "ethernet" else "messages"], paper[f]) for f in FABRICS
        ]
    text += ["", "## Mesh: exchange with two to four neighbours, ten iterations", ""]
    for f, paper in MESH.items():
        text += [
            HEAD.format(f"{f}, bytes"),
            *[row(s, of[f, "mesh", s]["messages"], paper[i]) for i, s in enumerate(SIZES)],
            "",
        ]
    text += [
        "Total times, and the most iterations that two hosts were apart:",
        "",
        "| bytes | " + " | ".join(f"{f}, µs | apart" for f in MESH) + " |",
        "|---" * (1 + 2 * len(MESH)) + "|",
    ]
    text += [
        f"| {s} | "
        + " | ".join(f"{of[f, 'mesh', s]['total']:,.0f} | {of[f, 'mesh', s]['farthest_apart']}" for f in MESH)
        + " |"
        for s in SIZES
    ]
    text += [
        "",
        "## Torus: the same with the edges joined",
        "",
        "| bytes | " + " | ".join(MESH) + " |",
        "|---" * (1 + len(MESH)) + "|",
    ]
    text += [
        f"| {s} | "
        + " | ".join(
            times([of[f, "torus", s]["messages"][k] for k in ("least", "mean", "most", "deviation")])
            for f in MESH
        )
        + " |"
        for s in SIZES
    ]
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--threads", default="2", help="how many simulations at a time")
    parser.add_argument("--page", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    results = HERE / "applications.json"
    if not arguments.page:
        results.write_text(
            "[\n"
            + ",\n".join(json.dumps(c) for c in measure(arguments.evenkeel, arguments.threads))
            + "\n]\n"
        )
    PAGE.write_text(page(json.loads(results.read_text())))


if __name__ == "__main__":
    main()
