#!/usr/bin/env python3
"""Measures collectives of long data on this machine, beside the MPI libraries; results.md is written anew.

    build/venv-tools/bin/python bench/long_collectives/study.py [--rounds 5] [--ranks 2,4,8]

In each round every setting runs once, in random order. Numbers are the lowest of the rounds: on
a virtual machine the speed of memory may differ by a factor of two to three from process to process.
"""

import argparse
import json
import os
import random
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
EXPECTED_S = 8  # of one run
BLOCKING = (
    "allreduce,reduce,reduce_scatter_block,scan,bcast,gather,scatter,allgather,alltoall,"
    "gatherv,scatterv,allgatherv,alltoallv"
)
NONBLOCKING = "iallreduce,ireduce,ireduce_scatter_block,ibcast,igather,iscatter,iallgather,ialltoall"
OPERATIONS = f"{BLOCKING},{NONBLOCKING}"
SIZES = "8192,49152,262144,1048576,4194304"


def settings(folder):
    """Name → (command line before and after the number of ranks, environment)."""
    made = {}
    for library in libraries(ROOT / "build")[0]:
        if library.name == "mpich4":
            continue  # it spins, and cannot be told not to
        program = folder / f"long-collectives-{library.name}"
        environment = os.environ | library.compile_environment | AS_ROOT
        line = [library.compiler, "-O2", "-o", program, HERE / "long_collectives.c"]
        subprocess.run(line, check=True, env=environment)
        oversubscribe = ["--oversubscribe"] if library.family == "openmpi" else []
        made[library.name] = (
            [library.launcher, *oversubscribe, "-n"],
            [program],
            environment | BEST_KNOWN.get(library.name, {}),
        )
        if library.name == "openmpi4":
            run = [EVENKEEL, "run", "--quiet", "-n"]
            made["evenkeel"] = (run, ["--", program], environment)
            made["evenkeel, segment only"] = (run, ["--", program], environment | {"EVENKEEL_CMA": "off"})
    return made


def measure(made, options):
    """[{ranks, operation, bytes, setting, us}], one for each number that was printed."""
    order, found = random.Random(options.seed), []
    runs = [(ranks, name) for ranks in options.ranks for _ in range(options.rounds) for name in made]
    with Progress(EXPECTED_S * len(runs)) as progress:
        for at in range(0, len(runs), len(made)):
            for ranks, name in order.sample(runs[at : at + len(made)], len(made)):
                progress.begin(f"{ranks} ranks, {name}")
                before, after, environment = made[name]
                line = list(map(str, [*before, ranks, *after, OPERATIONS, SIZES]))
                done = subprocess.run(
                    line, env=environment, capture_output=True, text=True, timeout=600, check=True
                )
                for words in map(str.split, done.stdout.splitlines()):
                    operation, size, us = words
                    found.append(
                        {
                            "ranks": ranks,
                            "operation": operation,
                            "bytes": int(size),
                            "setting": name,
                            "us": float(us),
                        }
                    )
    return found


def page(found, made, options):
    """The table: the lowest times, and their ratios to the best library's."""
    ours = [name for name in made if name.startswith("evenkeel")]
    theirs = [name for name in made if name not in ours]
    rows = [f"| ranks | operation | KiB | {' | '.join(made)} | evenkeel / best library |"]
    rows.append("|---|---|---" + "|---" * (len(made) + 1) + "|")
    for ranks, operation, size in dict.fromkeys((x["ranks"], x["operation"], x["bytes"]) for x in found):
        lowest = {
            name: min(
                x["us"]
                for x in found
                if (x["ranks"], x["operation"], x["bytes"], x["setting"]) == (ranks, operation, size, name)
            )
            for name in made
        }
        ratio = lowest["evenkeel"] / min(lowest[name] for name in theirs)
        cells = " | ".join(f"{lowest[name]:,.1f}" for name in made)
        rows.append(f"| {ranks} | {operation} | {size // 1024:,} | {cells} | {ratio:.2f} |")
    ranks = ",".join(map(str, options.ranks))
    command = f"bench/long_collectives/study.py --rounds {options.rounds} --ranks {ranks}"
    cores = len(os.sched_getaffinity(0))
    head = (
        f"`{command}`, {cores} cores, Linux {os.uname().release}. Microseconds a call, lowest of the rounds."
    )
    return "\n\n".join(["# Collectives of long data: results", head, "\n".join(rows)]) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--ranks", type=lambda text: list(map(int, text.split(","))), default=[2, 4, 8])
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = settings(Path(folder))
        if "evenkeel" not in made:
            sys.exit("mpicc.openmpi is missing: make deps-test installs it")
        found = measure(made, options)
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "results.md").write_text(page(found, made, options))
    sys.stdout.write(page(found, made, options))


if __name__ == "__main__":
    main()
