#!/usr/bin/env python3
"""Measures calls that the MPI libraries carry out, where ranks share cores; results.md is written anew.

    build/venv-tools/bin/python bench/host_waits/run.py [--rounds 5] [--ranks 4,8,16]

Each library runs as it is, in its best known setting, and under evenkeel. In each round every setting runs
once, in random order. Numbers are medians of the rounds.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from evenkeel_bench.libraries import AS_ROOT, BEST_KNOWN, libraries  # noqa: E402
from evenkeel_bench.progress import Progress  # noqa: E402

EVENKEEL = Path(os.environ.get("EVENKEEL", ROOT / "target/release/evenkeel"))
CALLS = ("ring", "sendrecv", "halo", "neighbour_alltoall", "fence", "lock", "flush", "dup", "split")
ROUNDS_OF_A_CALL = 20  # a spinning library takes 0.1 s for some of them
EXPECTED_S = 5  # of one run
LONGEST_S = 300


def settings(folder):
    """(Library, setting) → (command line before and after the number of ranks, environment)."""
    made = {}
    for library in libraries(ROOT / "build")[0]:
        program = folder / f"waits-{library.name}"
        environment = os.environ | library.compile_environment | AS_ROOT
        line = [library.compiler, "-O2", "-o", program, HERE / "waits.c"]
        subprocess.run(line, check=True, env=environment)
        oversubscribe = ["--oversubscribe"] if library.family == "openmpi" else []
        own = [library.launcher, *oversubscribe, "-n"]
        made[library.title, "library"] = (own, [program], environment)
        if library.name in BEST_KNOWN:
            made[library.title, "best known setting"] = (
                own,
                [program],
                environment | BEST_KNOWN[library.name],
            )
        folder_of_launcher = Path(library.launcher).parent
        path = f"{folder_of_launcher}:{os.environ['PATH']}" if folder_of_launcher.is_absolute() else None
        ours = environment | ({"PATH": path} if path else {})
        made[library.title, "evenkeel"] = ([EVENKEEL, "run", "--quiet", "-n"], ["--", program], ours)
    return made


def run(setting, ranks):
    """Microseconds of each call; nothing if the program hangs."""
    before, after, environment = setting
    line = list(map(str, [*before, ranks, *after, ROUNDS_OF_A_CALL]))
    try:
        done = subprocess.run(
            line, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
        sys.stderr.write(f"left out: {failure}\n")
        return {}
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: float(words[1]) for words in lines if len(words) == 2 and words[0] in CALLS}


def measure(made, options):
    """[{ranks, library, setting, call, us}], one for each number that was printed."""
    order, found = random.Random(options.seed), []
    with Progress(EXPECTED_S * len(made) * len(options.ranks) * options.rounds) as progress:
        for ranks in options.ranks:
            for _ in range(options.rounds):
                for key in order.sample(sorted(made), len(made)):
                    progress.begin(f"{ranks} ranks, {key[0]}, {key[1]}")
                    for call, us in run(made[key], ranks).items():
                        found.append(
                            {"ranks": ranks, "library": key[0], "setting": key[1], "call": call, "us": us}
                        )
    return found


def page(found, made, options):
    """A table for each number of ranks: a row for each library and setting, a column for each call."""
    command = f"bench/host_waits/run.py --rounds {options.rounds} --ranks {','.join(map(str, options.ranks))}"
    cores = len(os.sched_getaffinity(0))
    parts = [
        "# Waiting in calls of the library: results",
        f"`{command}`, {cores} cores, Linux {os.uname().release}. "
        "Microseconds a call, medians of the rounds.",
    ]
    for ranks in options.ranks:
        rows = [f"| {ranks} ranks | | {' | '.join(CALLS)} |", "|---|---" + "|--:" * len(CALLS) + "|"]
        for library, setting in made:
            cells = []
            for call in CALLS:
                of_cell = [
                    x["us"]
                    for x in found
                    if (x["ranks"], x["library"], x["setting"], x["call"]) == (ranks, library, setting, call)
                ]
                cells.append(f"{statistics.median(of_cell):,.0f}" if of_cell else "-")
            rows.append(f"| {library} | {setting} | {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--ranks", type=lambda text: list(map(int, text.split(","))), default=[4, 8, 16])
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = settings(Path(folder))
        found = measure(made, options)
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "results.md").write_text(page(found, made, options))
    sys.stdout.write(page(found, made, options))


if __name__ == "__main__":
    main()
