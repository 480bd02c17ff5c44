"""Runs attack.c for many rounds, over every MPI library, with 2 to 5 ranks, and says what it found.

    build/venv-tools/bin/python tests/attack/campaign.py --rounds 1000000 --out results.csv

Each line of the file is one run: library, mode of barriers, messages of evenkeel or of the library, ranks,
contexts, seed, rounds, observations, wrong ones, share of barriers that were deferred. What a run that went
wrong has printed is shown, and the exit code is 1.
"""

import argparse
import csv
import itertools
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tqdm import tqdm

import mpis
import processes

ATTACK = Path(__file__).parent / "attack.c"
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


def deferred_share(report):
    barriers = processes.operations(report, "barrier")
    calls = sum(entry["calls"] for entry in barriers)
    return sum(entry["deferred"] for entry in barriers) / calls if calls else 0


def run_once(configuration, seed, rounds, arguments):
    """Returns a row of the results, and what the program printed if it went wrong."""
    mpi, barrier, messages, ranks, contexts = configuration
    if contexts != "all":
        arguments = [f"contexts={contexts}", *arguments]
    folder = Path(tempfile.mkdtemp(prefix="ek-"))
    try:
        environment = {"EVENKEEL_BARRIER": barrier, "EVENKEEL_MESSAGES": messages}
        outcome = mpi.run(
            mpi.build(ATTACK, "-lrt", name="attack"),
            ranks,
            f"dir={folder}",
            f"seed={seed}",
            f"rounds={rounds}",
            *arguments,
            env=environment,
            report=folder / "run.json",
            timeout=30 + SECONDS_PER_ROUND * rounds,
        )
        found = re.search(r"RESULT rounds (\d+) observations (\d+) wrong (\d+)", outcome.out)
        ended = outcome.code == 0 and found
        share = f"{deferred_share(outcome.read_report()):.3f}" if ended else ""
        counts = found.groups() if ended else (rounds, 0, "did not end")
        row = [mpi.name, barrier, messages, ranks, contexts, seed, *counts, share]
        return row, "" if counts[2] == "0" else outcome.text[-6000:]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
