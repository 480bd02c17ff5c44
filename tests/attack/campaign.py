"""Runs attack.c for many rounds, over every MPI library, with 2 to 5 ranks, and says what it found.

    build/venv-tools/bin/python tests/attack/campaign.py --rounds 1000000 --out results.csv

Each line of the file is one run: library, mode of barriers, messages of evenkeel or of the library, ranks,
contexts, seed, rounds, observations, wrong ones, share of barriers that were deferred. What a run that went
wrong has printed is shown, and the exit code is 1.
"""

import argparse
import csv
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tqdm import tqdm

import mpis
from attack_runs import deferred_share, run_attack

COLUMNS = [
    "mpi",
    "barrier",
    "messages",
    "ranks",
    "contexts",
    "seed",
    "rounds",
    "observations",
    "wrong",
    "deferred",
]
SECONDS_PER_ROUND = 0.1  # a limit: a run that takes longer hangs


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=100_000, help="in all (default: 100000)")
    parser.add_argument("--rounds-per-run", type=int, default=5000, help="before the program starts anew")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first run; each has the next (default: 1)"
    )
    parser.add_argument("--mpi", default="", help="only these libraries: openmpi4,mpich5")
    parser.add_argument("--ranks", default="2,3,4,5", help="how many, in turn (default: 2,3,4,5)")
    parser.add_argument("--barrier", default="deferred,auto", help="modes, in turn (default: deferred,auto)")
    parser.add_argument(
        "--messages", default="own,host", help="own, host or both in turn (default: own,host)"
    )
    parser.add_argument("--out", type=Path, help="a CSV file to which each run adds a line")
    parser.add_argument("arguments", nargs="*", help="for attack.c, for example channels=file-size")
    return parser.parse_args()


def configurations(args):
    wanted = [name for name in args.mpi.split(",") if name]
    for mpi in mpis.ALL:
        if wanted and mpi.name not in wanted:
            continue
        if reason := mpi.skip_reason():
            print(f"not attacked: {mpi.name}: {reason}", file=sys.stderr)
            continue
        yield from itertools.product(
            [mpi],
            args.barrier.split(","),
            args.messages.split(","),
            map(int, args.ranks.split(",")),
            ["all", "itself"],
        )


def run_once(configuration, seed, rounds, arguments):
    """Returns a row of the results, and what the program printed if it went wrong."""
    mpi, barrier, messages, ranks, contexts = configuration
    if contexts != "all":
        arguments = [f"contexts={contexts}", *arguments]
    # What the library carries takes most of the time if MPICH spins, and ranks outnumber cores.
    yielding = mpis.YIELDING_MPICH if mpi.family == "mpich" else {}
    with tempfile.TemporaryDirectory(prefix="ek-", ignore_cleanup_errors=True) as folder:
        outcome, observations, wrong = run_attack(
            mpi,
            ranks,
            folder,
            f"seed={seed}",
            f"rounds={rounds}",
            *arguments,
            report=Path(folder, "run.json"),
            timeout=30 + SECONDS_PER_ROUND * rounds,
            EVENKEEL_BARRIER=barrier,
            EVENKEEL_MESSAGES=messages,
            **yielding,
        )
        counts = [0, "did not end", ""]
        if wrong is not None:
            counts = [observations, wrong, f"{deferred_share(outcome):.3f}"]
        row = [mpi.name, barrier, messages, ranks, contexts, seed, rounds, *counts]
        return row, "" if wrong == 0 else outcome.text[-6000:] or "It did not end, and printed nothing."


def write_row(path, row):
    if not path:
        return
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerow(row)


def main():
    args = parse()
    turns = itertools.cycle(list(configurations(args)))
    failures, done, seed = 0, 0, args.seed
    with tqdm(total=args.rounds, unit="round", disable=not sys.stderr.isatty()) as bar:
        while done < args.rounds:
            rounds = min(args.rounds_per_run, args.rounds - done)
            row, text = run_once(next(turns), seed, rounds, args.arguments)
            write_row(args.out, row)
            if text:
                failures += 1
                bar.write(f"{' '.join(map(str, row))}\n{text}")
            done, seed = done + rounds, seed + 1
            bar.update(rounds)
    print(f"{done} rounds, {failures} runs of them went wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
