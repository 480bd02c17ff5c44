#!/usr/bin/env python3
"""Measures this machine for the models, the simulator and the tuner, and compares their results with it.

    build/venv-tools/bin/python bench/simulation/machine.py            (twenty minutes, on an idle machine)
    build/venv-tools/bin/python bench/simulation/machine.py --quick    (two minutes, to see that it works)
    build/venv-tools/bin/python bench/simulation/machine.py --render   (only the page, from
    machine-record.json)

Writes docs/src/machine-results.md, and all numbers to machine-record.json:

* parameters (`evenkeel model measure`) and noise (`evenkeel noise`);
* a bare barrier and a loop under noise, measured beside simulated (measured.py);
* every barrier schedule in the engine beside the simulator (bench/tuning/measured.py);
* the loops of study.py under the noise of now, beside those under the noise of the study.

Needs mpicc.openmpi and mpirun.openmpi.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import machine_page

from evenkeel_bench.checkout import BOOK, EVENKEEL, ROOT

HERE = Path(__file__).resolve().parent
PAGE = BOOK / "machine-results.md"
CLUSTER = "L=1.5us,o=300ns,g=200ns,G=80ps"
STUDIED = "bench/simulation/noise-quiet.json"
NOW = "bench/simulation/noise-now.json"


def run(*command):
    """Runs a command from the top of the project; if it fails, the script ends with its output."""
    words = [str(word) for word in command]
    print(" ".join(words), flush=True)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def simulate(evenkeel, record, line):
    run(evenkeel, "simulate", *line.split(), "--json", record)
    return json.loads(record.read_text())["runs"][0]


def simulate_loops(evenkeel, record, most):
    """Rounds of a loop of 1 ms of work and a barrier, over the work: under two noises, strict and not."""
    results = []
    for ranks in [n for n in (2, 16, 256, 4096, 65536) if n <= most]:
        calls = max(20, min(2000, 1_000_000 // ranks))
        for noise in (STUDIED, NOW):
            for window in (None, 16):
                leave = f" --leave bypass --window {window}" if window else ""
                machine = f"--machine {CLUSTER} --iterations {calls}"
                work = f"--compute 1ms --noise {noise}{leave}"
                found = simulate(evenkeel, record, f"dissemination -n {ranks} {machine} {work}")
                times = {"loop": found["end_ns"] / calls / 1e6, "alone": found["alone_ns"] / calls / 1e6}
                results.append({"ranks": ranks, "noise": noise, "window": window} | times)
    return results


def cost_of_a_million_ranks(evenkeel, record):
    """What a million ranks of dissemination take to simulate: seconds, mebibytes, messages."""
    size = ["--ranks", 1000000, "--iterations", 1]
    line = [evenkeel, "simulate", "dissemination", *size, "--json", record]
    began = time.monotonic()
    child = subprocess.Popen([str(word) for word in line], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"the simulation of a million ranks failed ({status})")
    return {
        "elapsed_s": time.monotonic() - began,
        "processor_s": usage.ru_utime + usage.ru_stime,
        "mib": usage.ru_maxrss / 1024,
        "messages": json.loads(record.read_text())["runs"][0]["messages"],
    }


def measure_noise(evenkeel, seconds):
    run(evenkeel, "noise", "--seconds", seconds, "--trace", ROOT / NOW)
    cores = json.loads((ROOT / NOW).read_text())["cores"]
    watched_ns = sum(core["watched_ns"] for core in cores)
    gaps = [length for core in cores for _, length in core["gaps_ns"]]
    return {
        "seconds": seconds,
        "share": sum(gaps) / watched_ns,
        "gaps_per_second": len(gaps) / watched_ns * 1e9,
        "longest_ns": max(gaps, default=0),
    }


def compare_with_engine(evenkeel, quick):
    """The pages of the two scripts that measure beside the simulator.

    A quick run does not replace the kept ones.
    """
    simulated, tuned = (
        ROOT / "build" / f"machine-{name}.md" if quick else HERE.parent / name / "measured.md"
        for name in ("simulation", "tuning")
    )
    rounds = ["--rounds", 1 if quick else 5]
    run(sys.executable, HERE / "measured.py", "--evenkeel", evenkeel, *rounds, "--out", simulated)
    ranks = ["--ranks", "2,4", "--seconds", 8] if quick else ["--ranks", "2,3,4,8,16", "--seconds", 400]
    run(sys.executable, ROOT / "bench/tuning/measured.py", "--evenkeel", evenkeel, "--out", tuned, *ranks)
    return {"measured": simulated.read_text(), "tuned": tuned.read_text()}


def measure(options):
    """The whole record."""
    evenkeel, quick = options.evenkeel.resolve(), options.quick
    load = [os.getloadavg()[0]]
    began = time.time()
    machine, scratch = HERE / "machine.json", ROOT / "build" / "machine-scratch.json"
    passes = ["--ranks", 4 if quick else 16, "--passes", 3 if quick else 40]
    run(evenkeel, "model", "measure", *passes, "--json", machine)
    record = {
        "kind": "machine-record",
        "schema": 1,
        "began_unix_s": int(began),
        "quick": quick,
        "parameters": json.loads(machine.read_text()),
        "noise": measure_noise(evenkeel, 3 if quick else 30),
        "million": cost_of_a_million_ranks(evenkeel, scratch),
        "loops": simulate_loops(evenkeel, scratch, 256 if quick else 65536),
    }
    record |= compare_with_engine(evenkeel, quick)
    load.append(os.getloadavg()[0])
    scratch.unlink(missing_ok=True)
    return record | {"load": load, "elapsed_s": round(time.time() - began)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--quick", action="store_true", help="a little of everything")
    parser.add_argument("--render", action="store_true", help="only write the page, from machine-record.json")
    options = parser.parse_args()
    file = HERE / "machine-record.json"
    if not options.render:
        file.write_text(json.dumps(measure(options), indent=1) + "\n")
    PAGE.write_text(machine_page.page(json.loads(file.read_text())))
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
