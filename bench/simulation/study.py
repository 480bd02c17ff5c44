#!/usr/bin/env python3
"""What to choose when, and what deferral and bypass are worth, by simulation: makes docs/src/simulation-results.md and its pictures.

    build/venv-tools/bin/python bench/simulation/study.py                (half an hour on one core)
    build/venv-tools/bin/python bench/simulation/study.py --most 65536   (ten minutes)

Each line that it runs stands in results.json, which is also where it goes on if it was interrupted.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import figures
import pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOISE = {"quiet": "bench/simulation/noise-quiet.json", "busy": "bench/simulation/noise-busy.json"}

# By the ratio of latency to overhead: from a slow processor or a fast bus to a far network. One
# microsecond is o + L + o in all.
MACHINES = {
    "L/o = 1": "L=333ns,o=333ns,g=333ns",
    "L/o = 5": "L=715ns,o=143ns,g=143ns",
    "L/o = 20": "L=910ns,o=45ns,g=45ns",
    "L/o = 100": "L=980ns,o=9.8ns,g=9.8ns",
}
RANKS = [16, 256, 4096, 65536, 1048576]
# Of the largest, one machine is enough: the others would take hours.
LARGEST_ON = "L/o = 5"
MOST_N = 15

CLUSTER = "L=1.5us,o=300ns,g=200ns,G=80ps"
LOOPS = [("1ms", "quiet"), ("100us", "quiet"), ("1ms", "busy")]
WINDOWS = [None, 1, 16]
LOOP_RANKS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576]


def candidates(ranks):
    """For each number of rounds the least n that reaches all ranks: the only n worth a look."""
    found = {}
    for n in range(1, MOST_N + 1):
        reach, rounds = 1, 0
        while reach < ranks:
            reach, rounds = reach * (n + 1), rounds + 1
        found.setdefault(rounds, n)
    return sorted(found.values())


class Simulations:
    """Runs lines of `evenkeel simulate` once each."""

    def __init__(self, evenkeel, file):
        self.evenkeel, self.file = evenkeel, file
        self.known = json.loads(file.read_text()) if file.exists() else {}

    def run(self, line):
        if line not in self.known:
            print(line, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                record = pathlib.Path(folder) / "record.json"
                subprocess.run(
                    [self.evenkeel, "simulate", *line.split(), "--json", record],
                    check=True,
                    capture_output=True,
                    cwd=ROOT,
                )
                run = json.loads(record.read_text())["runs"][0]
            calls = run["calls"]
            del run["calls"]
            run["late"] = run["late"][:1]
            self.known[line] = run | {"iterations": len(calls)}
            # A line for each, so that changes can be seen.
            self.file.write_text(
                "{\n"
                + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in self.known.items())
                + "\n}\n"
            )
        return self.known[line]


def choosing(simulations, most):
    """Completion of n-way and n-wise barriers, alone and under noise: a list of cases."""
    cases = []
    for machine, parameters in MACHINES.items():
        for ranks in RANKS:
            if ranks > most or (ranks == max(RANKS) and machine != LARGEST_ON):
                continue
            for name in ("n-way-dissemination", "n-wise-exchange"):
                for n in candidates(ranks):
                    line = f"{name}:n={n} -n {ranks} --machine {parameters}"
                    calm = simulations.run(f"{line} --iterations 1")
                    # Enough calls to meet some detours, at any number of ranks.
                    calls = max(2, min(50, 400_000 // ranks))
                    noisy = simulations.run(
                        f"{line} --iterations {calls} --compute 1ms --noise {NOISE['quiet']}"
                    )
                    cases.append(
                        {
                            "machine": machine,
                            "ranks": ranks,
                            "name": name,
                            "n": n,
                            "calm_us": calm["completion"]["mean_ns"] / 1e3,
                            "noisy_us": noisy["completion"]["mean_ns"] / 1e3,
                            "messages": calm["messages"],
                        }
                    )
    return cases


def loops(simulations, most):
    """A loop of work and a call, strict and not, from 2 ranks on: a list of cases."""
    cases = []
    for schedule in ("dissemination", "reduce-binomial"):
        for compute, noise in LOOPS:
            for ranks in LOOP_RANKS:
                if ranks > most or (ranks > 65536 and (compute, noise) != LOOPS[0]):
                    continue
                # The largest take minutes each.
                for window in WINDOWS if ranks <= 65536 else [None, 16]:
                    # Many, because the long detours are rare.
                    calls = max(20, min(2000, 1_000_000 // ranks))
                    leave = f" --leave bypass --window {window}" if window else ""
                    line = f"{schedule} -n {ranks} --machine {CLUSTER} --iterations {calls} --compute {compute} --noise {NOISE[noise]}{leave}"
                    run = simulations.run(line)
                    work_ns = {"1ms": 1e6, "100us": 1e5}[compute]
                    cases.append(
                        {
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
                    )
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--most", default=1048576, type=int, help="the most ranks that are simulated")
    parser.add_argument("--results", default=HERE / "results.json", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "docs/src", type=pathlib.Path)
    options = parser.parse_args()
    simulations = Simulations(options.evenkeel.resolve(), options.results)
    looped, chosen = loops(simulations, options.most), choosing(simulations, options.most)
    pictures = options.out / "simulation"
    pictures.mkdir(exist_ok=True)
    figures.write_all(chosen, looped, pictures)
    (options.out / "simulation-results.md").write_text(pages.results(chosen, looped, MACHINES, CLUSTER))
    print(f"{options.out / 'simulation-results.md'} written")


if __name__ == "__main__":
    main()
