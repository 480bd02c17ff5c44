#!/usr/bin/env python3
"""Measures what noise costs barriers on this machine, and fits the equations of Pakin's thesis to it.

    build/venv-tools/bin/python bench/barrier_noise/study.py [--rounds 5]

Open MPI's barriers, evenkeel's strict ones, and deferred ones; ranks that always respond, an idle machine,
and a busy process on each core. Writes results.json beside it, and a page of the book; some 20 minutes.
"""

import argparse
import json
import os
import re
import shlex
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from barrier_noise import page, plan
from evenkeel_bench import disturbance, launch, libraries, machine, programs
from evenkeel_bench.checkout import BOOK, BUILD, SHIMS
from evenkeel_bench.progress import Progress, say_interrupted
from evenkeel_bench.study import HelpFormatter

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"

NUMBERS = ("seconds", "mean_s", "compute_s", "barrier_us", "slow", "efficiency", "switches", "spin")
# The kernel may schedule each session as a group, which has a priority of its own.
AT_HIGH_PRIORITY = ("sh", "-c", 'echo -20 2>/dev/null >/proc/self/autogroup; exec nice -n -20 "$@"', "sh")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=HelpFormatter)
    p.add_argument("--rounds", type=int, default=5, help="how often each program runs")
    p.add_argument("--build", type=Path, default=BUILD, help="folder for the programs")
    p.add_argument("--shims", type=Path, default=SHIMS, help="folder with evenkeel's shims")
    p.add_argument("--render", action="store_true", help="only write the page again from results.json")
    return p.parse_args()


def measured(text):
    """What a program of apps/ printed: numbers, each rank's seconds, and the histogram of gaps.

    >>> measured("rank 1 seconds=2.5\\ngap from_us=1.024 count=7 share=1\\nRESULT ok app=mg seconds=3")
    {'seconds': 3.0, 'ranks': [2.5], 'gaps': [[1.024, 7]]}
    """
    line = next((x for x in text.splitlines() if x.startswith("RESULT ok ")), "")
    said = dict(word.split("=", 1) for word in line.split() if "=" in word)
    found = {name: float(said[name]) for name in NUMBERS if name in said}
    by_rank = re.findall(r"^rank (\d+) seconds=(\S+)$", text, re.MULTILINE)
    gaps = re.findall(r"^gap from_us=(\S+) count=(\d+)", text, re.MULTILINE)
    if by_rank:
        found["ranks"] = [float(s) for _, s in sorted(by_rank, key=lambda pair: int(pair[0]))]
    if gaps:
        found["gaps"] = [[float(us), int(n)] for us, n in gaps]
    return found


class Session:
    """The compiled programs, Open MPI without evenkeel and with it."""

    def __init__(self, a, disturber, folder):
        library = next(x for x in libraries.known_libraries(a.build) if x.name == "openmpi4")
        if failed := programs.compile_all(folder, [library]):
            raise SystemExit(f"barrier_noise: {failed[library.name]}")
        found, missing = libraries.configurations([library], a.shims, programs.one_session(folder))
        by_name = {c.name: c for c in found}
        if f"{plan.LIBRARY}+evenkeel" not in by_name:
            raise SystemExit(f"barrier_noise: {missing.get(f'{plan.LIBRARY}+evenkeel')}; run `make build`")
        self.bare, self.ours = by_name[plan.LIBRARY], by_name[f"{plan.LIBRARY}+evenkeel"]
        self.disturber, self.folder, self.library = disturber, folder, library

    def run(self, run):
        """What the program printed, or the reason why it printed nothing."""
        configuration = self.bare if run.barriers == plan.HOST else self.ours
        program = programs.path(self.folder, run.program, self.library)
        command = configuration.command(run.ranks, program, run.arguments, run.environment())
        if run.condition == plan.RESPONSIVE:
            command = [*AT_HIGH_PRIORITY, *command]
        else:
            command = self.disturber.command(run.condition, command)
        outcome = launch.run(command, run.limit_s, configuration.environment)
        return {"reason": outcome.reason} if outcome.reason else measured(outcome.text)


def measure(a, cores):
    folder = a.build / "bench"
    rounds = []
    planned = [list(plan.one_round(n, cores)) for n in range(1, a.rounds + 1)]
    with (
        disturbance.Disturber(programs.path(folder, "competitors")) as disturber,
        Progress(sum(map(len, planned))) as progress,
    ):
        session = Session(a, disturber, folder)
        try:
            for runs in planned:
                found = {}
                for run in runs:
                    progress.begin(run.key())
                    found[run.key()] = session.run(run)
                    if reason := found[run.key()].get("reason"):
                        progress.say(f"{run.key()}: {reason}")
                    progress.advance(1)
                rounds.append(found)
        except KeyboardInterrupt:
            say_interrupted("barrier_noise")
    return rounds


def main():
    a = arguments()
    if not a.render:
        cores = len(os.sched_getaffinity(0))
        head, start = (
            machine.describe(shlex.join(["bench/barrier_noise/study.py", *sys.argv[1:]])),
            time.time(),
        )
        rounds = measure(a, cores)
        minutes = round((time.time() - start) / 60)
        lines = ",\n".join(json.dumps(r) for r in rounds)
        first = json.dumps({"machine": head, "cores": cores, "minutes": minutes})[1:-1]
        RESULTS.write_text(f'{{{first}, "rounds": [\n{lines}\n]}}\n')
    page.write(json.loads(RESULTS.read_text()), BOOK)


if __name__ == "__main__":
    main()
