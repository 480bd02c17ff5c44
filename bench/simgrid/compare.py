#!/usr/bin/env python3
"""The same barriers in SimGrid's SMPI and in `evenkeel simulate`, on the same network; writes a table.

    bench/simgrid/compare.py [--evenkeel target/release/evenkeel] [--out bench/simgrid/results.md]

Needs smpicc and smpirun (Debian: libsimgrid-dev). Nothing is measured but what the simulations themselves take: their results are the same everywhere.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LATENCY_US, OVERHEAD_US = 1.5, 0.3
RANKS = (64, 100, 128, 256, 500, 512, 1000, 1024)
CALLS = 10
# Name in both, n, the schedule's parameters.
BARRIERS = [
    ("n-way-dissemination", 1, "n=1"),
    ("n-way-dissemination", 3, "n=3"),
    ("n-way-dissemination", 7, "n=7"),
    ("n-wise-exchange", 1, "n=1"),
    ("n-wise-exchange", 3, "n=3"),
    ("tournament", 0, "release=binomial"),
]
# A link's latency is half of L: a message passes the sender's link and the receiver's. Bandwidth
# without end and FATPIPE: no contention, as in LogP.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1e15Bps" lat="{latency}us" sharing_policy="FATPIPE"/>
</platform>
"""
# The plain flow model without its corrections for TCP; o for each send and receive; nothing for what
# the program computes; eager messages.
SETTINGS = [
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "smpi/simulate-computation:no",
    f"smpi/os:0:{OVERHEAD_US}e-6:0",
    f"smpi/or:0:{OVERHEAD_US}e-6:0",
    "smpi/init:0",
    "smpi/wtime:0",
    "smpi/async-small-thresh:65536",
    "smpi/send-is-detached-thresh:65536",
]


def smpi(folder, name, n, ranks):
    command = [
        "smpirun",
        "-np",
        str(ranks),
        "-platform",
        folder / "platform.xml",
        "-hostfile",
        folder / "hosts",
        "--log=root.thres:warning",
        *(f"--cfg={s}" for s in SETTINGS),
        folder / "barriers",
        name,
        str(n),
        str(CALLS),
    ]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if done.returncode or len(found) != 1:
        sys.exit(f"smpirun failed for {name} with {ranks} ranks: {done.stderr.strip()}")
    return float(found[0]), time.monotonic() - begun


def ours(evenkeel, folder, name, parameters, ranks):
    begun = time.monotonic()
    subprocess.run(
        [
            evenkeel,
            "simulate",
            f"{name}:{parameters}",
            "-n",
            str(ranks),
            "--iterations",
            str(CALLS),
            "--json",
            folder / "record.json",
            "--machine",
            f"L={LATENCY_US}us,o={OVERHEAD_US}us",
        ],
        check=True,
        capture_output=True,
    )
    took = time.monotonic() - begun
    return json.loads((folder / "record.json").read_text())["runs"][0]["end_ns"] / 1e3 / CALLS, took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--out", default=HERE / "results.md", type=pathlib.Path)
    options = parser.parse_args()
    version = (
        subprocess.run(["smpirun", "-version"], capture_output=True, text=True).stdout.split("\n")[0].strip()
    )
    rows, worst, times = [], 0.0, [0.0, 0.0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["smpicc", "-O2", "-o", folder / "barriers", HERE / "barriers.c"], check=True)
        (folder / "platform.xml").write_text(PLATFORM.format(last=max(RANKS) - 1, latency=LATENCY_US / 2))
        (folder / "hosts").write_text("".join(f"n{i}\n" for i in range(max(RANKS))))
        for barrier, n, parameters in BARRIERS:
            for ranks in RANKS:
                theirs, took = smpi(folder, barrier, n, ranks)
                mine, mine_took = ours(options.evenkeel, folder, barrier, parameters, ranks)
                times = [times[0] + took, times[1] + mine_took]
                error = mine / theirs - 1
                worst = max(worst, abs(error))
                rows.append(
                    f"| {barrier} {parameters} | {ranks} | {theirs:.3f} | {mine:.3f} | {error * 1e6:+.3f} |"
                )
                print(rows[-1], flush=True)
    text = (
        f"""# Barriers in SimGrid's SMPI and in `evenkeel simulate`

Made by `bench/simgrid/compare.py`. {version}. L = {LATENCY_US} µs, o = {OVERHEAD_US} µs, g = 0, no contention, no noise; the mean of {CALLS} barriers that
follow each other, until the last rank is through. The greatest difference is {worst * 1e6:.3f} millionths. All runs together took SMPI
{times[0]:.0f} s and `evenkeel simulate` {times[1]:.1f} s.

| barrier | ranks | SMPI, µs | evenkeel, µs | difference, millionths |
|---|---|---|---|---|
"""
        + "\n".join(rows)
        + "\n"
    )
    options.out.write_text(text)
    print(f"{options.out} written; the greatest difference is {worst * 1e6:.3f} millionths")


if __name__ == "__main__":
    main()
