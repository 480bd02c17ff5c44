#!/usr/bin/env python3
"""Measures collectives of long data on this machine, beside the MPI libraries; results.md is written anew.

    build/venv-tools/bin/python bench/long_collectives/study.py [--rounds 5] [--ranks 2,4,8]

In each round every setting runs once, in random order. Numbers are the lowest of the rounds: on
a virtual machine the speed of memory may differ by a factor of two to three from process to process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import BUILD
from evenkeel_bench.libraries import BEST_KNOWN, libraries
from evenkeel_bench.markdown import table
from evenkeel_bench.settings import alone, compiled, environment_of, under_evenkeel
from evenkeel_bench.study import Study, in_rounds

HERE = Path(__file__).resolve().parent
STUDY = Study(HERE / "study.py", "Collectives of long data")
TOLD = "Microseconds a call, lowest of the rounds."
EXPECTED_S = 8  # of one run
BLOCKING = (
    "allreduce,reduce,reduce_scatter_block,scan,bcast,gather,scatter,allgather,alltoall,"
    "gatherv,scatterv,allgatherv,alltoallv"
)
NONBLOCKING = "iallreduce,ireduce,ireduce_scatter_block,ibcast,igather,iscatter,iallgather,ialltoall"
OPERATIONS = f"{BLOCKING},{NONBLOCKING}"
SIZES = "8192,49152,262144,1048576,4194304"
# Those of the libraries are called like these, at their best; evenkeel's are over Open MPI 4.
OURS, SEGMENT_ONLY = "evenkeel", "evenkeel, segment only"
COLUMNS = ("openmpi4", OURS, SEGMENT_ONLY, "openmpi5", "mpich5", "impi")


def settings(found):
    for library in found:
        if library.name not in COLUMNS:
            continue  # MPICH 4 spins, and cannot be told not to
        environment = environment_of(library)
        yield alone(library, library.name, environment | BEST_KNOWN.get(library.name, {}))
        if library.name == "openmpi4":
            yield under_evenkeel(library, OURS, environment)
            yield under_evenkeel(library, SEGMENT_ONLY, environment | {"EVENKEEL_CMA": "off"})


def run(setting, program, ranks):
    """A row for each number that is printed."""
    done = subprocess.run(
        setting.command(ranks, program, OPERATIONS, SIZES),
        env=setting.environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    for operation, size, us in map(str.split, done.stdout.splitlines()):
        row = {"ranks": ranks, "operation": operation, "bytes": int(size), "setting": setting.name}
        yield row | {"us": float(us)}


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        made = list(settings(libraries(BUILD)[0]))
        if OURS not in [setting.name for setting in made]:
            sys.exit("mpicc.openmpi is missing: make deps-test installs it")
        source = HERE / "long_collectives.c"
        programs = {s.library: compiled(s.library, source, folder) for s in made}
        cases = {f"{ranks} ranks": ranks for ranks in options.ranks}

        def run_case(ranks, setting):
            return run(setting, programs[setting.library], ranks)

        yield from in_rounds(options, cases, made, run_case, EXPECTED_S)


def tables(found):
    """The lowest times, and their ratios to the best library's."""
    lowest = {}
    for x in found:
        of_call = lowest.setdefault((x["ranks"], x["operation"], x["bytes"]), {})
        of_call[x["setting"]] = min(x["us"], of_call.get(x["setting"], x["us"]))
    columns = [name for name in COLUMNS if any(name in of_call for of_call in lowest.values())]
    rows = []
    for (ranks, operation, size), of_call in lowest.items():
        best = min(us for name, us in of_call.items() if name not in (OURS, SEGMENT_ONLY))
        cells = [f"{of_call[name]:,.1f}" for name in columns]
        rows.append([ranks, operation, f"{size // 1024:,}", *cells, f"{of_call[OURS] / best:.2f}"])
    return [table(["ranks", "operation", "KiB", *columns, "evenkeel / best library"], rows)]


def main():
    STUDY.main(STUDY.parser(__doc__, rounds=5, ranks=[2, 4, 8]), measure, TOLD, tables)


if __name__ == "__main__":
    main()
