#!/usr/bin/env python3
"""Measures calls that the MPI libraries carry out, where ranks share cores; results.md is written anew.

    build/venv-tools/bin/python bench/host_waits/run.py [--rounds 5] [--ranks 4,8,16]

Each library runs as it is, in its best known setting, and under evenkeel. In each round every setting runs
once, in random order. Numbers are medians of the rounds.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import BUILD
from evenkeel_bench.libraries import known_libraries, libraries
from evenkeel_bench.settings import compiled, environment_of, names_of, settings_of
from evenkeel_bench.study import Study, in_rounds

HERE = Path(__file__).resolve().parent
STUDY = Study(HERE / "run.py", "Waiting in calls of the library")
TOLD = "Microseconds a call, medians of the rounds."
CALLS = ("ring", "sendrecv", "halo", "neighbour_alltoall", "fence", "lock", "flush", "dup", "split")
ROUNDS_OF_A_CALL = 20  # a spinning library takes 0.1 s for some of them
EXPECTED_S = 5  # of one run
LONGEST_S = 300


def run(setting, program, ranks):
    """A row for each call; none if the program hangs."""
    try:
        done = subprocess.run(
            setting.command(ranks, program, ROUNDS_OF_A_CALL),
            env=setting.environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
        sys.stderr.write(f"left out: {failure}\n")
        return
    for words in map(str.split, done.stdout.splitlines()):
        if len(words) == 2 and words[0] in CALLS:
            row = {"ranks": ranks, "library": setting.library.title, "setting": setting.name}
            yield row | {"call": words[0], "us": float(words[1])}


def measure(options):
    found = libraries(BUILD)[0]
    with tempfile.TemporaryDirectory() as folder:
        programs = {library: compiled(library, HERE / "waits.c", folder) for library in found}
        settings = [s for library in found for s in settings_of(library, environment_of(library))]
        cases = {f"{ranks} ranks": ranks for ranks in options.ranks}

        def run_case(ranks, setting):
            return run(setting, programs[setting.library], ranks)

        yield from in_rounds(options, cases, settings, run_case, EXPECTED_S)


def tables(found):
    """A table for each number of ranks: a row for each library and setting, a column for each call."""
    titles = {x["library"] for x in found}
    settings = [(x.title, name) for x in known_libraries(BUILD) if x.title in titles for name in names_of(x)]
    times = {}
    for x in found:
        times.setdefault((x["ranks"], x["library"], x["setting"], x["call"]), []).append(x["us"])
    for ranks in dict.fromkeys(x["ranks"] for x in found):
        rows = [f"| {ranks} ranks | | {' | '.join(CALLS)} |", "|---|---" + "|--:" * len(CALLS) + "|"]
        for library, setting in settings:
            of_calls = [times.get((ranks, library, setting, call)) for call in CALLS]
            cells = [f"{statistics.median(us):,.0f}" if us else "-" for us in of_calls]
            rows.append(f"| {library} | {setting} | {' | '.join(cells)} |")
        yield "\n".join(rows)


def main():
    STUDY.main(STUDY.parser(__doc__, rounds=5, ranks=[4, 8, 16]), measure, TOLD, tables)


if __name__ == "__main__":
    main()
