#!/usr/bin/env python3
"""Simulates which barrier to choose, and what deferral and bypass are worth.

    build/venv-tools/bin/python bench/simulation/study.py                (half an hour on one core)
    build/venv-tools/bin/python bench/simulation/study.py --most 65536   (ten minutes)

Writes docs/src/simulation-results.md and its figures. Every simulation is kept in results.json, by its
command line; an interrupted study goes on from there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import figures
import pages

from evenkeel_bench.checkout import BOOK, EVENKEEL, ROOT
from evenkeel_bench.kept_results import KeptResults

HERE = Path(__file__).resolve().parent
NOISE = {"quiet": "bench/simulation/noise-quiet.json", "busy": "bench/simulation/noise-busy.json"}

# By the ratio of latency to overhead: from a slow processor or a fast bus to a distant network. A message
# takes o + L + o, which is one microsecond on all of them.
MACHINES = {
    "L/o = 1": "L=333ns,o=333ns,g=333ns",
    "L/o = 5": "L=715ns,o=143ns,g=143ns",
    "L/o = 20": "L=910ns,o=45ns,g=45ns",
    "L/o = 100": "L=980ns,o=9.8ns,g=9.8ns",
}
RANKS = [16, 256, 4096, 65536, 1048576]
# The most ranks are simulated on one machine only: the others would take hours.
LARGEST_ON = "L/o = 5"
MOST_N = 15

CLUSTER = "L=1.5us,o=300ns,g=200ns,G=80ps"
LOOPS = [("1ms", "quiet"), ("100us", "quiet"), ("1ms", "busy")]
WINDOWS = [None, 1, 16]
LOOP_RANKS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576]


def candidates(ranks):
    """For each number of rounds the least n that reaches all ranks: no other n can be better."""
    found = {}
    for n in range(1, MOST_N + 1):
        reach, rounds = 1, 0
        while reach < ranks:
            reach, rounds = reach * (n + 1), rounds + 1
        found.setdefault(rounds, n)
    return sorted(found.values())


class Simulations:
    """Runs lines of `evenkeel simulate`, once each."""

    def __init__(self, evenkeel, file):
        self.evenkeel, self.kept = evenkeel, KeptResults(file)

    def run(self, line):
        return self.kept.get(line, lambda: self.simulate(line))

    def simulate(self, line):
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            command = [self.evenkeel, "simulate", *line.split(), "--json", record]
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
            run = json.loads(record.read_text())["runs"][0]
        calls = run.pop("calls")
        run["late"] = run["late"][:1]
        return run | {"iterations": len(calls)}


def barriers(simulations, most):
    """Completion of n-way and n-wise barriers, without noise and with it."""
    results = []
    for machine, parameters in MACHINES.items():
        for ranks in RANKS:
            if ranks > most or (ranks == max(RANKS) and machine != LARGEST_ON):
                continue
            for name in ("n-way-dissemination", "n-wise-exchange"):
                for n in candidates(ranks):
                    times = barrier(simulations, f"{name}:n={n} -n {ranks} --machine {parameters}", ranks)
                    results.append({"machine": machine, "ranks": ranks, "name": name, "n": n} | times)
    return results


def barrier(simulations, line, ranks):
    calm = simulations.run(f"{line} --iterations 1")
    # Enough calls to meet some detours, with any number of ranks.
    calls = max(2, min(50, 400_000 // ranks))
    noisy = simulations.run(f"{line} --iterations {calls} --compute 1ms --noise {NOISE['quiet']}")
    return {
        "calm_us": calm["completion"]["mean_ns"] / 1e3,
        "noisy_us": noisy["completion"]["mean_ns"] / 1e3,
        "messages": calm["messages"],
    }


def loops(simulations, most):
    """Loops of work and a call, strict and not, from 2 ranks on."""
    results = []
    for schedule in ("dissemination", "reduce-binomial"):
        for compute, noise in LOOPS:
            for ranks in LOOP_RANKS:
                if ranks > most or (ranks > 65536 and (compute, noise) != LOOPS[0]):
                    continue
                # The largest take minutes each.
                for window in WINDOWS if ranks <= 65536 else [None, 16]:
                    results.append(loop(simulations, schedule, compute, noise, ranks, window))
    return results


def loop(simulations, schedule, compute, noise, ranks, window):
    # Many calls, since long detours are rare.
    calls = max(20, min(2000, 1_000_000 // ranks))
    leave = f" --leave bypass --window {window}" if window else ""
    machine = f"--machine {CLUSTER} --iterations {calls}"
    work = f"--compute {compute} --noise {NOISE[noise]}{leave}"
    run = simulations.run(f"{schedule} -n {ranks} {machine} {work}")
    work_ns = {"1ms": 1e6, "100us": 1e5}[compute]
    return {
        "schedule": schedule,
        "compute": compute,
        "noise": noise,
        "ranks": ranks,
        "window": window,
        "loop": run["end_ns"] / calls / work_ns,
        "alone": run["alone_ns"] / calls / work_ns,
        "held_us": run["held"]["mean_ns"] / 1e3,
        "held_p99_us": run["held"]["p99_ns"] / 1e3,
        "held_max_us": run["held"]["max_ns"] / 1e3,
        "calls": calls,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--most", default=1048576, type=int, help="the most ranks that are simulated")
    parser.add_argument("--results", default=HERE / "results.json", type=Path)
    parser.add_argument("--out", default=BOOK, type=Path, help="folder of the page")
    options = parser.parse_args()
    simulations = Simulations(options.evenkeel.resolve(), options.results)
    of_loops, of_barriers = loops(simulations, options.most), barriers(simulations, options.most)
    folder = options.out / "simulation"
    folder.mkdir(exist_ok=True)
    figures.write_all(of_barriers, of_loops, folder)
    page = options.out / "simulation-results.md"
    page.write_text(pages.results(of_barriers, of_loops, MACHINES, CLUSTER))
    print(f"{page} written")


if __name__ == "__main__":
    main()
