#!/usr/bin/env python3
"""Measures how long launchers take to start programs on this machine, and writes a page of the book.

    build/venv-tools/bin/python bench/launching/study.py [--rounds 11]

evenkeel's own launcher, `evenkeel run` with the library's launcher, the libraries' launchers by themselves,
and processes that are started without any launcher. Eleven rounds take some six minutes.
"""

import argparse
import json
import random
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench import launch, libraries, machine, programs
from evenkeel_bench.checkout import BOOK, BUILD, EVENKEEL, ROOT
from evenkeel_bench.progress import Progress, say_interrupted
from evenkeel_bench.study import HelpFormatter
from launching import page, plan

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results.json", BOOK / "launching-results.md"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=HelpFormatter)
    p.add_argument("--rounds", type=int, default=11, help="how often each command runs")
    p.add_argument("--seed", type=int, default=1, help="of the order in each round")
    p.add_argument("--build", type=Path, default=BUILD, help="folder for the programs")
    p.add_argument("--render", action="store_true", help="only write the page again from results.json")
    return p.parse_args()


def compile_programs(folder, found):
    """Returns the libraries for which the program compiles."""
    folder.mkdir(parents=True, exist_ok=True)
    start, spawn = programs.SOURCES / "start.c", programs.SOURCES / "spawn.c"
    compilation = programs.Compilation(max(p.stat().st_mtime for p in (start, spawn)))
    if complaint := compilation.compile("gcc", spawn, programs.path(folder, "spawn")):
        raise SystemExit(f"launching: gcc cannot compile spawn.c:\n{complaint}")
    good = []
    for library in found:
        target = programs.path(folder, "start", library)
        complaint = compilation.compile(library.compiler, start, target, library.compile_environment)
        if complaint:
            print(f"launching: {library.compiler} cannot compile start.c: {complaint}", file=sys.stderr)
        else:
            good.append(library)
    return good


def measure(cases, rounds, seed, record):
    """Runs all cases in each round, in random order, and adds to the record."""
    order = random.Random(seed)
    with Progress(len(cases) * rounds) as progress:
        for round_ in range(1, rounds + 1):
            for case in order.sample(cases, len(cases)):
                progress.begin(f"round {round_}: {case.key()}")
                outcome = launch.run(list(case.command), plan.LIMIT_S, case.environment)
                record["runs"] += 1
                if outcome.reason:
                    record["failures"].append([case.key(), round_, outcome.reason])
                else:
                    record["times"][case.key()][round_] = round(outcome.seconds, 5)
                progress.advance(1)
            record["rounds"] = round_
            write(record)


def write(record):
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page.page(json.loads(RESULTS.read_text())))


def main():
    a = arguments()
    if a.render:
        PAGE.write_text(page.page(json.loads(RESULTS.read_text())))
        return
    if not EVENKEEL.is_file():
        raise SystemExit("launching: no evenkeel; run `make build`")
    found, missing = libraries.libraries(a.build)
    for name, why in missing.items():
        print(f"launching: without {name}: {why}", file=sys.stderr)
    folder = a.build / "bench"
    found = compile_programs(folder, found)
    cases = plan.cases(found, folder, str(EVENKEEL))
    record = {
        "machine": machine.describe(shlex.join(["bench/launching/study.py", *sys.argv[1:]])),
        "libraries": {library.name: library.title for library in found},
        "rounds": 0,
        "runs": 0,
        "failures": [],
        "times": {case.key(): {} for case in cases},
    }
    try:
        measure(cases, a.rounds, a.seed, record)
    except KeyboardInterrupt:
        say_interrupted("launching")
    write(record)
    print(f"launching: wrote {RESULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
