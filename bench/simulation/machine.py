#!/usr/bin/env python3
"""Measures this machine for the models, the simulator and the tuner, and compares what they say with what it does: makes docs/src/machine-results.md.

    build/venv-tools/bin/python bench/simulation/machine.py            (twenty minutes, on an idle machine)
    build/venv-tools/bin/python bench/simulation/machine.py --quick    (two minutes, to see that it works)
    build/venv-tools/bin/python bench/simulation/machine.py --render   (the page only, from machine-record.json)

Parameters (`evenkeel model measure`), noise (`evenkeel noise`), a bare barrier and a loop under noise beside what is simulated of them
(measured.py), every barrier in the engine beside the simulator (bench/tuning/measured.py), and the loops of study.py under the noise of now
beside those under the noise that the study has. All numbers are in machine-record.json; needs mpicc.openmpi and mpirun.openmpi.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import machine_page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/src/machine-results.md"
CLUSTER = "L=1.5us,o=300ns,g=200ns,G=80ps"
STUDIED = "bench/simulation/noise-quiet.json"
NOW = "bench/simulation/noise-now.json"


def run(*command):
    """Runs it from the top of the project; a failure ends everything, with what it said."""
    print(" ".join(str(c) for c in command), flush=True)
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def simulated(evenkeel, record, line):
    run(evenkeel, "simulate", *line.split(), "--json", record)
    return json.loads(record.read_text())["runs"][0]


def loops(evenkeel, record, most):
    """Rounds of a loop of 1 ms of work and a barrier over the work, under two noises, held and not: a list of cases."""
    cases = []
    for ranks in [n for n in (2, 16, 256, 4096, 65536) if n <= most]:
        calls = max(20, min(2000, 1_000_000 // ranks))
        for noise in (STUDIED, NOW):
            for window in (None, 16):
                leave = f" --leave bypass --window {window}" if window else ""
                found = simulated(
                    evenkeel,
                    record,
                    f"dissemination -n {ranks} --machine {CLUSTER} --iterations {calls} --compute 1ms --noise {noise}{leave}",
                )
                cases.append(
                    {
                        "ranks": ranks,
                        "noise": noise,
                        "window": window,
                        "loop": found["end_ns"] / calls / 1e6,
                        "alone": found["alone_ns"] / calls / 1e6,
                    }
                )
    return cases


def costs(evenkeel, record):
    """What a million ranks of dissemination take to simulate: seconds, mebibytes, messages."""
    line = [
        evenkeel,
        "simulate",
        "dissemination",
        "--ranks",
        "1000000",
        "--iterations",
        "1",
        "--json",
        record,
    ]
    began = time.monotonic()
    child = subprocess.Popen([str(c) for c in line], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"the simulation of a million ranks failed ({status})")
    messages = json.loads(record.read_text())["runs"][0]["messages"]
    return {
        "elapsed_s": time.monotonic() - began,
        "processor_s": usage.ru_utime + usage.ru_stime,
        "mib": usage.ru_maxrss / 1024,
        "messages": messages,
    }


def noise(evenkeel, seconds):
    run(evenkeel, "noise", "--seconds", seconds, "--trace", ROOT / NOW)
    cores = json.loads((ROOT / NOW).read_text())["cores"]
    watched = sum(core["watched_ns"] for core in cores)
    gaps = [length for core in cores for _, length in core["gaps_ns"]]
    return {
        "seconds": seconds,
        "share": sum(gaps) / watched,
        "gaps_per_second": len(gaps) / watched * 1e9,
        "longest_ns": max(gaps, default=0),
    }


def measure(options):
    evenkeel, quick = options.evenkeel.resolve(), options.quick
    load = [os.getloadavg()[0]]
    began = time.time()
    machine, scratch = HERE / "machine.json", ROOT / "build" / "machine-scratch.json"
    run(
        evenkeel,
        "model",
        "measure",
        "--ranks",
        4 if quick else 16,
        "--passes",
        3 if quick else 40,
        "--json",
        machine,
    )
    record = {
        "kind": "machine-record",
        "schema": 1,
        "began_unix_s": int(began),
        "quick": quick,
        "parameters": json.loads(machine.read_text()),
        "noise": noise(evenkeel, 3 if quick else 30),
        "million": costs(evenkeel, scratch),
        "loops": loops(evenkeel, scratch, 256 if quick else 65536),
    }
    # What a short run finds is not kept in their place.
    pair, barriers = (
        ROOT / "build" / f"machine-{name}.md" if quick else HERE.parent / name / "measured.md"
        for name in ("simulation", "tuning")
    )
    run(
        sys.executable,
        HERE / "measured.py",
        "--evenkeel",
        evenkeel,
        "--rounds",
        1 if quick else 5,
        "--out",
        pair,
    )
    tuned = ["--ranks", "2,4", "--seconds", 8] if quick else ["--ranks", "2,3,4,8,16", "--seconds", 400]
    run(sys.executable, ROOT / "bench/tuning/measured.py", "--evenkeel", evenkeel, "--out", barriers, *tuned)
    record |= {"measured": pair.read_text(), "tuned": barriers.read_text()}
    load.append(os.getloadavg()[0])
    scratch.unlink(missing_ok=True)
    return record | {"load": load, "elapsed_s": round(time.time() - began)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument(
        "--render", action="store_true", help="measure nothing, write the page from machine-record.json"
    )
    options = parser.parse_args()
    file = HERE / "machine-record.json"
    if not options.render:
        file.write_text(json.dumps(measure(options), indent=1) + "\n")
    PAGE.write_text(machine_page.page(json.loads(file.read_text())))
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
