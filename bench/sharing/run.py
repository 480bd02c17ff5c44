#!/usr/bin/env python3
"""Measures jobs that take turns (`evenkeel run --share`) on this machine; results.md is written anew.

    build/venv-tools/bin/python bench/sharing/run.py [--rounds 5] [--seconds 2]

Two jobs with as many ranks as there are cores each: rounds of 100 us of work and a barrier. In each round of
the benchmark one job runs alone and then two at once in every setting, in random order; ratios are taken
within a round. The shim is off where not said otherwise, so it is the library's own barrier that waits.
"""

import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import EVENKEEL, ROOT
from evenkeel_bench.markdown import table
from evenkeel_bench.study import Study

HERE = Path(__file__).resolve().parent
STUDY = Study(HERE / "run.py", "Jobs that take turns", ("rounds", "seconds", "priority"))
WORK_US = 100
CALLS = ("nanosleep", "poll", "select", "futex", "epoll_wait", "recv", "semtimedop", "sigtimedwait")

# Name, options of `evenkeel run` for both jobs.
SETTINGS = {
    "kernel alone": (),
    "stop, 50 ms": ("--share", "--switch", "stop", "--quantum", "50ms"),
    "stop, 10 ms": ("--share", "--switch", "stop", "--quantum", "10ms"),
    "stop, 2 ms": ("--share", "--switch", "stop", "--quantum", "2ms"),
    "freeze, 50 ms": ("--share", "--switch", "freeze", "--quantum", "50ms"),
    "freeze, 10 ms": ("--share", "--switch", "freeze", "--quantum", "10ms"),
    "freeze, 2 ms": ("--share", "--switch", "freeze", "--quantum", "2ms"),
}
PROGRAMS = {
    "MPICH 4": ("mpicc.mpich", "mpirun.mpich", ("--off",), {}),
    "MPICH 5": ("build/venv-mpich5/bin/mpicc", "", ("--off",), {}),
    "Open MPI 4": ("mpicc.openmpi", "", ("--off",), {}),
    "MPICH 4 with evenkeel": ("mpicc.mpich", "", (), {}),
}


def arguments():
    p = STUDY.parser(__doc__, rounds=5)
    p.add_argument("--seconds", type=float, default=2, help="of each run")
    p.add_argument("--priority", action="store_true", help="before other sessions, on a machine that is busy")
    p.add_argument("--only", default="", help="programs whose names contain this")
    return p.parse_args()


def compiled(folder, source):
    """Library → program, of those that there are."""
    found = {}
    for name, (compiler, *_) in PROGRAMS.items():
        path = ROOT / compiler if "/" in compiler else shutil.which(compiler)
        if path and Path(path).exists():
            target = folder / f"{source.removesuffix('.c')}-{name.replace(' ', '-')}"
            subprocess.run([path, "-O2", "-o", target, HERE / source], check=True)
            found[name] = target
    return found


def line(name, program, options, words):
    _, _, own, _ = PROGRAMS[name]
    cores = len(os.sched_getaffinity(0))
    return [EVENKEEL, "run", "-n", cores, "--launcher", "evenkeel", *own, *options, "--", program, *words]


def run(lines):
    """Runs command lines at once; returns their outputs, standard error included."""
    started = [
        subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for words in lines
    ]
    return [process.communicate(timeout=300)[0] for process in started]


def busy():
    """The part of the processors' time that others use at the moment."""
    read = lambda: [int(x) for x in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]  # noqa: E731
    before = read()
    time.sleep(0.2)
    spent = [b - a for a, b in zip(before, read(), strict=True)]
    return 1 - (spent[3] + spent[4]) / max(sum(spent), 1)


def rate(output):
    found = [float(value) for value in re.findall(r"per_second ([\d.]+)", output)]
    return statistics.mean(found) if found else float("nan")


def together(outputs):
    """Rounds of both jobs, by the time from the beginning of the first one to the end of the last one."""
    pattern = r"begun ([\d.]+) rounds (\d+) seconds ([\d.]+)"
    jobs = [[tuple(map(float, one)) for one in re.findall(pattern, output)] for output in outputs]
    every = [one for job in jobs for one in job]
    if not all(jobs):
        return float("nan")
    took = max(begun + seconds for begun, _, seconds in every) - min(begun for begun, _, _ in every)
    return sum(statistics.mean(rounds for _, rounds, _ in job) for job in jobs) / took


def switchers(outputs):
    text = "".join(outputs)
    late = re.findall(r"were ([\d.]+) ms late \(median\), ([\d.]+) ms \(99%\), ([\d.]+) ms", text)
    used = [float(value) for value in re.findall(r"switcher used ([\d.]+)%", text)]
    outside = [float(value) for value in re.findall(r"([\d.]+)% of the job's processor time", text)]
    return {"late_ms": [list(map(float, one)) for one in late], "used": used, "outside": outside}


def measure(options, programs, steps):
    order, results = random.Random(options.seed), []
    for round_ in range(options.rounds):
        for name, program in programs.items():
            for work, words in {
                "barriers": (options.seconds, int(steps * WORK_US)),
                "computation": (options.seconds, int(steps * WORK_US), "alone"),
            }.items():
                if work == "computation" and name != "MPICH 4":
                    continue
                load = busy()
                alone = rate(run([line(name, program, (), words)])[0])
                shared = rate(run([line(name, program, ("--share",), words)])[0])
                entry = {
                    "round": round_,
                    "program": name,
                    "work": work,
                    "load": load,
                    "alone": alone,
                    "alone_share": shared / alone,
                    "together": {},
                }
                for setting in order.sample(list(SETTINGS), len(SETTINGS)):
                    load = busy()
                    outputs = run([line(name, program, SETTINGS[setting], words)] * 2)
                    entry["together"][setting] = {
                        "sum": together(outputs) / alone,
                        "load": load,
                        **switchers(outputs),
                    }
                results.append(entry)
                print(json.dumps(entry), flush=True)
    return results


def interrupted(programs):
    """Call → how each mechanism ends it."""
    found = {}
    for switch in ("freeze", "stop"):
        for call in CALLS:
            share = ("--share", "--switch", switch)
            program = programs["MPICH 4"]
            outputs = run(
                [line("MPICH 4", program, share, (call,)), line("MPICH 4", program, share, ("spin", 2))]
            )
            said = re.findall(rf"^{call} (.*)$", outputs[0], re.MULTILINE)
            found.setdefault(call, {})[switch] = sorted(set(said))
    return found


def spread(values):
    values = sorted(values)
    return f"{statistics.median(values):.2f} ({values[0]:.2f}–{values[-1]:.2f})" if values else "–"


def by_setting(results, name, work):
    """The table of one program and one kind of work."""
    rows = [
        "| | sum of both / one alone | outside of turns | late, median / 99% | a switcher |",
        "|---|---|---|---|---|",
    ]
    mine = [entry for entry in results if entry["program"] == name and entry["work"] == work]
    for setting in SETTINGS:
        cells = [entry["together"][setting] for entry in mine]
        middle = lambda values: statistics.median(values) if values else None  # noqa: E731
        outside = middle([value for cell in cells for value in cell["outside"]])
        late = [middle([one[at] for cell in cells for one in cell["late_ms"]]) for at in (0, 1)]
        used = middle([value for cell in cells for value in cell["used"]])
        rows.append(
            f"| {setting} | {spread([cell['sum'] for cell in cells])} "
            f"| {'–' if outside is None else f'{outside:.1f}%'} "
            f"| {'–' if late[0] is None else f'{late[0]:.2f} / {late[1]:.2f} ms'} "
            f"| {'–' if used is None else f'{used:.2f}%'} |"
        )
    alone = spread([entry["alone_share"] for entry in mine])
    return "\n".join([*rows, "", f"One job with `--share`, over one without: {alone}."])


def told(results):
    loads = [cell["load"] for entry in results for cell in entry["together"].values()]
    return (
        f"Median, lowest and highest. Before the runs others used {statistics.median(loads):.0%} of the "
        f"processors (median; worst {max(loads):.0%})."
    )


def tables(results, calls):
    """The parts of the page below its head."""
    parts = []
    for name, work in dict.fromkeys((entry["program"], entry["work"]) for entry in results):
        what = f"{WORK_US} us of work and a barrier" if work == "barriers" else "computation without barriers"
        parts += [f"## {name}: {what}", by_setting(results, name, work)]
    rows = [[f"`{call}`", ", ".join(by["freeze"]), ", ".join(by["stop"])] for call, by in calls.items()]
    return [
        *parts,
        "## Blocking calls of ranks that are switched",
        table(["call", "freeze", "stop"], rows),
    ]


def main():
    options = arguments()
    if options.priority:
        # Kernels with sched_autogroup weigh sessions, so a nice value of this process would not help.
        if os.getsid(0) != os.getpid():
            os.setsid()
        Path("/proc/self/autogroup").write_text("-19")
    with tempfile.TemporaryDirectory() as folder:
        rounds = compiled(Path(folder), "rounds.c")
        calls = compiled(Path(folder), "blocking_calls.c")
        programs = {name: program for name, program in rounds.items() if options.only in name}
        calibrated = subprocess.run(
            [next(iter(rounds.values())), "calibrate"], capture_output=True, text=True, check=True
        )
        results = measure(options, programs, float(calibrated.stdout))
        parts = tables(results, interrupted(calls))
    sys.stdout.write(STUDY.write(options, results, told(results), parts))


if __name__ == "__main__":
    main()
