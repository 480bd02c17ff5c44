#!/usr/bin/env python3
"""Compares simulated times with measured ones on this machine; writes bench/simulation/measured.md.

    bench/simulation/measured.py [--rounds 5] [--evenkeel target/release/evenkeel]

1. A bare barrier of two ranks (bench/src/floor.c: each sets a flag for the other), beside dissemination under
   the parameters that `evenkeel model measure` finds.
2. A loop of work and MPI_Barrier (bench/apps/barrier.c, two ranks, Open MPI), beside the same loop under the
   noise that `evenkeel noise --trace` finds.

In each round all of them are measured one after the other, so that they see the machine in the same
condition. Needs mpicc.openmpi and mpirun.openmpi.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import EVENKEEL, ROOT
from evenkeel_bench.markdown import table

HERE = Path(__file__).resolve().parent
WORK_US = 1000
SIMULATED_CALLS = 2000


def output(*command):
    """Standard output of a command, which must succeed."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@dataclass
class Comparison:
    """Measures and simulates with the programs in a folder."""

    evenkeel: Path
    folder: Path
    priority: list  # command line that gives a program real-time priority, or []

    def compile(self):
        output("gcc", "-O2", "-o", self.folder / "floor", ROOT / "bench/src/floor.c", "-lm")
        output("mpicc.openmpi", "-O2", "-o", self.folder / "barrier", ROOT / "bench/apps/barrier.c", "-lm")

    def run_loop(self, ranks, *arguments, options=()):
        launcher = ["mpirun.openmpi", "--allow-run-as-root", *options, "-n", ranks]
        return output(*launcher, self.folder / "barrier", *arguments, "check=0")

    def calibrate(self):
        """Iterations of the program's computation that take the work when nothing disturbs it."""
        said = self.run_loop(1, "mode=compute", "count=10", "spin=100000")
        seconds = float(re.search(r"compute_s=([\d.]+)", said).group(1)) / 1e6
        return round(WORK_US / 1e6 / seconds)

    def simulate(self, calls, *more):
        """The record of two ranks of dissemination."""
        machine, record = self.folder / "machine.json", self.folder / "record.json"
        line = ["-n", 2, "--machine", machine, "--iterations", calls, *more, "--json", record]
        output(self.evenkeel, "simulate", "dissemination", *line)
        return json.loads(record.read_text())

    def pair(self):
        """Nanoseconds of a barrier of two ranks: simulated, measured."""
        measuring = ["model", "measure", "-n", 2, "--passes", 10, "--json", self.folder / "machine.json"]
        output(*self.priority, self.evenkeel, *measuring)
        run = self.simulate(1000)["runs"][0]
        floor = [self.folder / "floor", "--ranks", 2, "--cap", 0.2, "--variant", "spin"]
        lines = output(*self.priority, *floor).splitlines()
        found = next(line for line in lines if '"barrier"' in line).removeprefix("result ")
        return run["end_ns"] / 1000, json.loads(found)["mean_us"] * 1000

    def loop(self, spin, calls):
        """A round of work and barrier, over the work: simulated, measured; and the share of noise."""
        noise = self.folder / "noise.json"
        output(self.evenkeel, "noise", "--seconds", 6, "--trace", noise)
        record = self.simulate(SIMULATED_CALLS, "--compute", f"{WORK_US}us", "--noise", noise)
        arguments = ("mode=loop", f"count={calls}", f"spin={spin}")
        text = self.run_loop(2, *arguments, options=("--bind-to", "core"))
        seconds = float(re.search(r"seconds=([\d.]+)", text).group(1))
        simulated = record["runs"][0]["end_ns"] / SIMULATED_CALLS / WORK_US / 1e3
        return simulated, seconds / calls / WORK_US * 1e6, record["noise_share"]


def page(pairs, loops, command):
    rows = []
    for i, ((s, m), (ls, lm, share)) in enumerate(zip(pairs, loops, strict=True), 1):
        pair = [f"{s:.0f}", f"{m:.0f}", f"{s / m - 1:+.0%}"]
        rows.append([i, *pair, f"{100 * share:.1f}%", f"{ls:.2f}", f"{lm:.2f}", f"{ls / lm - 1:+.0%}"])
    of_pairs = statistics.median(s / m - 1 for s, m in pairs)
    of_loops = statistics.median(s / m - 1 for s, m, _ in loops)
    head = ["round", "pair, simulated", "measured", "difference", "noise"]
    return f"""# Simulated and measured, on one machine

Made by `{command}`. Two ranks on two cores. *pair*: a bare barrier, nanoseconds. *loop*: a round of {WORK_US}
µs of work and a barrier, over the work. *noise*: the share of the time that other work took just before, as
`evenkeel noise` measured it. Median of the differences: pair {of_pairs:+.0%}, loop {of_loops:+.0%}.

{table([*head, "loop, simulated", "measured", "difference"], rows)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--calls", default=600, type=int)
    parser.add_argument("--out", default=HERE / "measured.md", type=Path)
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="give the first part real-time priority, on a machine that is not idle (needs root)",
    )
    options = parser.parse_args()
    priority = ["chrt", "-f", 20] if options.real_time else []
    with tempfile.TemporaryDirectory() as name:
        comparison = Comparison(options.evenkeel, Path(name), priority)
        comparison.compile()
        spin = comparison.calibrate()
        pairs = [comparison.pair() for _ in range(options.rounds)]
        loops = [comparison.loop(spin, options.calls) for _ in range(options.rounds)]
    command = "bench/simulation/measured.py" + (" --real-time" if options.real_time else "")
    text = page(pairs, loops, command)
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
