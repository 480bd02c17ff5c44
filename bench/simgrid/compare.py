#!/usr/bin/env python3
"""Runs the same barriers in SimGrid's SMPI and in `evenkeel simulate`, on the same network.

    bench/simgrid/compare.py [--evenkeel target/release/evenkeel] [--out bench/simgrid/results.md]

Writes a table. Needs smpicc and smpirun (Debian: libsimgrid-dev). The only thing that is measured is how long
the simulations take: their results are the same on every machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import EVENKEEL
from evenkeel_bench.markdown import table

HERE = Path(__file__).resolve().parent
LATENCY_US, OVERHEAD_US = 1.5, 0.3
RANKS = (64, 100, 128, 256, 500, 512, 1000, 1024)
CALLS = 10
# Name in both, n, the schedule's parameters for evenkeel.
BARRIERS = [
    ("n-way-dissemination", 1, "n=1"),
    ("n-way-dissemination", 3, "n=3"),
    ("n-way-dissemination", 7, "n=7"),
    ("n-wise-exchange", 1, "n=1"),
    ("n-wise-exchange", 3, "n=3"),
    ("tournament", 0, "release=binomial"),
]
# A link's latency is half of L, since a message passes the sender's link and the receiver's. Bandwidth is
# unlimited, and FATPIPE means no contention, as in LogP.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf"
           bw="1e15Bps" lat="{latency}us" sharing_policy="FATPIPE"/>
</platform>
"""
# The plain flow model without its corrections for TCP; o for each send and receive; no time for the program's
# own computation; eager messages.
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


def run_smpi(folder, name, n, ranks):
    """Microseconds of a barrier, and seconds that the simulation took."""
    where = ["-platform", folder / "platform.xml", "-hostfile", folder / "hosts"]
    settings = ["--log=root.thres:warning", *(f"--cfg={setting}" for setting in SETTINGS)]
    program = [folder / "barriers", name, str(n), str(CALLS)]
    command = ["smpirun", "-np", str(ranks), *where, *settings, *program]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if done.returncode or len(found) != 1:
        sys.exit(f"smpirun failed for {name} with {ranks} ranks: {done.stderr.strip()}")
    return float(found[0]), time.monotonic() - began


def run_evenkeel(evenkeel, folder, name, parameters, ranks):
    """The same by `evenkeel simulate`."""
    record = folder / "record.json"
    machine = f"L={LATENCY_US}us,o={OVERHEAD_US}us"
    options = ["-n", str(ranks), "--iterations", str(CALLS), "--machine", machine, "--json", record]
    began = time.monotonic()
    subprocess.run([evenkeel, "simulate", f"{name}:{parameters}", *options], check=True, capture_output=True)
    took = time.monotonic() - began
    return json.loads(record.read_text())["runs"][0]["end_ns"] / 1e3 / CALLS, took


def prepare(folder):
    """Compiles the program and writes SMPI's platform."""
    subprocess.run(["smpicc", "-O2", "-o", folder / "barriers", HERE / "barriers.c"], check=True)
    (folder / "platform.xml").write_text(PLATFORM.format(last=max(RANKS) - 1, latency=LATENCY_US / 2))
    (folder / "hosts").write_text("".join(f"n{i}\n" for i in range(max(RANKS))))


def compare(evenkeel, folder):
    """Yields a row of the table, the relative error, and the seconds that both simulations took."""
    for barrier, n, parameters in BARRIERS:
        for ranks in RANKS:
            theirs, their_s = run_smpi(folder, barrier, n, ranks)
            ours, our_s = run_evenkeel(evenkeel, folder, barrier, parameters, ranks)
            error = ours / theirs - 1
            name = f"{barrier} {parameters}"
            row = [name, ranks, f"{theirs:.3f}", f"{ours:.3f}", f"{error * 1e6:+.3f}"]
            print(*row, flush=True)
            yield row, error, their_s, our_s


def page(version, found):
    rows, errors, their_s, our_s = zip(*found, strict=True)
    worst = max(map(abs, errors)) * 1e6
    head = ["barrier", "ranks", "SMPI, µs", "evenkeel, µs", "difference, millionths"]
    return f"""# Barriers in SimGrid's SMPI and in `evenkeel simulate`

Made by `bench/simgrid/compare.py`. {version}. L = {LATENCY_US} µs, o = {OVERHEAD_US} µs, g = 0, no
contention, no noise; the mean of {CALLS} barriers that follow each other, until the last rank has left. The
greatest difference is {worst:.3f} millionths. All runs together took SMPI {sum(their_s):.0f} s and `evenkeel
simulate` {sum(our_s):.1f} s.

{table(head, rows)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--out", default=HERE / "results.md", type=Path)
    options = parser.parse_args()
    said = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False).stdout
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        found = list(compare(options.evenkeel, folder))
    options.out.write_text(page(said.split("\n")[0].strip(), found))
    print(f"{options.out} written")


if __name__ == "__main__":
    main()
