#!/usr/bin/env python3
"""The book's table of planted hangs: what is wrong, and what `evenkeel where --stacks` says of it.

    build/venv-tools/bin/python bench/watching/hangs.py [--library openmpi4] > docs/src/planted-hangs.md

Starts each job of tests/programs/planted_hangs.c on four ranks, looks at it until it is said what must be
said, measures how long a look takes, and ends it. Takes about a minute for each library.
"""

import argparse
import re
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import processes  # noqa: E402  # of the tests
from hanging_jobs import found, where  # noqa: E402
from mpis import named  # noqa: E402
from planted_hangs import PLANTED  # noqa: E402

LABELS = {"openmpi4": "Open MPI 4.1", "openmpi5": "Open MPI 5", "mpich4": "MPICH 4.0", "mpich5": "MPICH 5"}

HEAD = """\
# Planted hangs

What [`evenkeel where`](hangs.md) says of {count} mistakes, each on four ranks. The programs are
`tests/programs/planted_hangs.c`; `bench/watching/hangs.py` makes this table. "Proved": it is certain that the
job cannot go on, and `evenkeel run --deadlock end` ends it.

With `--stacks`, which also says in which function of the program the ranks are, a look takes {median:.2f} s
in the median and {longest:.2f} s at most under {libraries}, on a virtual machine with two cores; 0.1 s of it
lies between the two looks.

| what is wrong | proved | what is said first of it |
|---|---|---|
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--library", action="append", help="openmpi4, mpich4, …; the table is of the first")
    return p.parse_args()


def look_at(case, mpi):
    """What is said of one job, whether a deadlock is proved, and the seconds of a look."""
    seconds = []

    def then(process):
        where(process.pid, "--stacks")  # reads the libraries' tables for the first time
        began = time.monotonic()
        seen = where(process.pid, "--stacks")
        seconds.append(time.monotonic() - began)
        assert found(seen, case.kind), seen
        processes.kill_all(process.token)

    finding, seen, _ = case.hang(mpi, then)
    assert seen["deadlock"] == case.is_deadlock
    return finding["sentence"], seen["deadlock"], seconds[0]


def main():
    libraries = [named(name) for name in arguments().library or ["openmpi4", "mpich4"]]
    rows, seconds = [], []
    for number, mpi in enumerate(libraries):
        for case in PLANTED:
            sentence, is_proved, took = look_at(case, mpi)
            seconds.append(took)
            print(f"{mpi.name} {case.name}: {took:.2f} s, {sentence}", file=sys.stderr)
            if number == 0:
                said = re.sub(r" \(since [\d.]+ \w+\)", "", sentence)
                rows.append(f"| {case.mistake} | {'yes' if is_proved else 'no'} | {said} |")
    print(
        HEAD.format(
            count=len(PLANTED),
            median=statistics.median(seconds),
            longest=max(seconds),
            libraries=" and ".join(LABELS.get(mpi.name, mpi.name) for mpi in libraries),
        )
        + "\n".join(rows)
    )


if __name__ == "__main__":
    main()
