#!/usr/bin/env python3
"""Runs Debian's hpcc, an ordinary MPI program, with and without evenkeel and compares the two.

The two kinds of run alternate, so that a busy moment of the machine affects both. The table shows everything
that was measured, whether it became faster or slower. Needs only Python's standard library.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

INPUT = """\
HPLinpack benchmark input file
one small problem on a grid of {rows} x {columns} ranks
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{size}       Ns
1            # of NBs
32           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
# #### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: its key in hpcc's summary, its title, and whether more is better."""

    key: str
    title: str
    more_is_better: bool
    scale: float = 1.0


ROWS = [
    Row("wall_s", "whole program: wall time [s]", False),
    Row("cpu_s", "whole program: CPU time [s]", False),
    Row("HPL_time", "HPL: solve a linear system [s]", False),
    Row("PTRANS_time", "PTRANS: transpose a matrix [ms]", False, 1e3),
    Row("MPIRandomAccess_time", "random access over all ranks [s]", False),
    Row("MPIFFT_Gflops", "FFT over all ranks [GFlop/s]", True),
    Row("AvgPingPongLatency_usec", "ping-pong latency, mean [µs]", False),
    Row("RandomlyOrderedRingLatency_usec", "ring latency, random order [µs]", False),
    Row("RandomlyOrderedRingBandwidth_GBytes", "ring bandwidth, random order [GB/s]", True),
    Row("StarDGEMM_Gflops", "DGEMM, no communication [GFlop/s]", True),
]

NOTES = """\
How to read this: HPL, PTRANS, random access and the latency tests mostly send point-to-point messages. Where
all ranks share one machine, evenkeel carries these messages too. Between machines the MPI library carries
them, and a difference there comes from the placement of the ranks. A few runs on a shared machine scatter:
differences of some percent mean nothing."""


class DemonstrationError(Exception):
    """The demonstration cannot go on; the message says why."""


def parse_summary(text: str) -> dict[str, str]:
    """The `name=value` lines of the last summary in an hpccoutf.txt."""
    start = text.rfind("Begin of Summary section.")
    end = text.find("End of Summary section.", start)
    if start < 0 or end < 0:
        return {}
    pairs = (line.split("=", 1) for line in text[start:end].splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def grid(ranks: int) -> tuple[int, int]:
    """The most nearly square grid of exactly this many ranks."""
    rows = next(r for r in range(int(ranks**0.5), 0, -1) if ranks % r == 0)
    return rows, ranks // rows


def verdict(row: Row, without: float, with_: float) -> str:
    """How the run with evenkeel compares: 1.20 x better, 1.10 x worse, or the same."""
    if without <= 0 or with_ <= 0:
        return ""
    ratio = with_ / without if row.more_is_better else without / with_
    if 0.97 <= ratio <= 1.03:
        return "same (within 3%)"
    return f"{ratio:.2f} x better" if ratio > 1 else f"{1 / ratio:.2f} x worse"


def table(without: list[dict[str, str]], with_: list[dict[str, str]]) -> str:
    """All values of both kinds of run side by side, and the comparison of their medians."""
    lines = [f"{'':<38}{'without':>18}{'with evenkeel':>18}   with evenkeel"]
    for row in ROWS:
        a, b = (
            [float(run[row.key]) * row.scale for run in runs if row.key in run] for runs in (without, with_)
        )
        if not a or not b:
            continue
        shown = ("  ".join(f"{value:.4g}" for value in values) for values in (a, b))
        comparison = verdict(row, statistics.median(a), statistics.median(b))
        lines.append(f"{row.title:<38}" + "".join(f"{text:>18}" for text in shown) + f"   {comparison}")
    return "\n".join(lines)


def answers_agree(runs: list[dict[str, str]]) -> tuple[bool, str]:
    """Whether hpcc found its own results right in every run, and the sentence that says so."""
    # "Success" covers all checks of hpcc. By its own rules, random access may lose up to 1% of its updates.
    bad = [number for number, run in enumerate(runs, 1) if run.get("Success") != "1"]
    if bad:
        return False, f"hpcc found wrong results in run {', '.join(map(str, bad))} of {len(runs)}."
    return True, f"hpcc checked its results in all {len(runs)} runs and found them right."


@dataclass(frozen=True)
class Command:
    """A command line of the launcher, and the environment that it needs."""

    words: list[str]
    environment: dict[str, str]

    def run(self, directory: Path) -> tuple[dict[str, str], str]:
        """Runs hpcc. Returns its summary, to which wall and CPU time are added, and what was printed."""
        output = directory / "hpccoutf.txt"
        output.unlink(missing_ok=True)
        before, start = os.times(), time.monotonic()
        done = subprocess.run(
            self.words,
            cwd=directory,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        wall, after = time.monotonic() - start, os.times()
        if done.returncode != 0 or not output.exists():
            raise DemonstrationError(
                f"{' '.join(self.words)} ended with exit code {done.returncode}. Its output:\n{done.stdout}"
            )
        summary = parse_summary(output.read_text(errors="replace"))
        summary["wall_s"] = str(wall)
        summary["cpu_s"] = str(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
        return summary, done.stdout


def commands(options, hpcc: str, record: Path) -> dict[str, Command]:
    """The command lines without and with evenkeel.

    The one without it is the launcher's command line that evenkeel would run, less what evenkeel adds to it.
    """
    run = [str(options.evenkeel), "run", "-n", str(options.ranks)]
    if options.launcher_args:
        run += ["--launcher-args", options.launcher_args]
    dry_run = subprocess.run([*run, "--dry-run", "--", hpcc], text=True, capture_output=True, check=False)
    if dry_run.returncode != 0:
        raise DemonstrationError(dry_run.stderr.strip())
    plain = re.sub(r"-x (LD_PRELOAD|EVENKEEL_\w+)=\S+ ", "", dry_run.stdout.strip())
    words = plain.replace("--bind-to none ", "").split()
    environment = dict(os.environ)
    while re.fullmatch(r"\w+=\S*", words[0]):
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    return {
        "without": Command(words, environment),
        "with": Command([*run, "--report", str(record), "--", hpcc], dict(os.environ)),
    }


def alternate(
    both: dict[str, Command], runs: int, directory: Path
) -> tuple[dict[str, list[dict[str, str]]], str]:
    """Runs both commands in alternation. Returns the summaries of each, and the last output with evenkeel."""
    summaries: dict[str, list[dict[str, str]]] = {name: [] for name in both}
    last_output = ""
    for number in range(1, runs + 1):
        for name, command in both.items():
            summary, printed = command.run(directory)
            print(f"  run {number} {name + ' evenkeel:':<18} {float(summary['wall_s']):6.1f} s", flush=True)
            summaries[name].append(summary)
            last_output = printed if name == "with" else last_output
    return summaries, last_output


def parse_options():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--evenkeel", type=Path, default=Path("target/release/evenkeel"), help="the program (%(default)s)"
    )
    parser.add_argument("--ranks", type=int, default=16, help="number of ranks (%(default)s)")
    parser.add_argument("--size", type=int, default=1000, help="order of the linear system (%(default)s)")
    parser.add_argument("--runs", type=int, default=2, help="runs of each kind (%(default)s)")
    parser.add_argument("--launcher-args", default="", help="more arguments for the launcher, such as hosts")
    parser.add_argument(
        "--directory", type=Path, help="a directory that all hosts see (default: that of temporary files)"
    )
    options = parser.parse_args()
    options.evenkeel = options.evenkeel.resolve()
    return options


def demonstrate(options) -> bool:
    """Runs and prints the comparison. Returns whether all results were right."""
    hpcc = shutil.which("hpcc")
    if hpcc is None:
        raise DemonstrationError("hpcc is not on PATH. `tools/install-deps.sh demo` installs it.")
    record = Path("build/demo.json").resolve()
    record.parent.mkdir(exist_ok=True)
    both = commands(options, hpcc, record)
    cores = len(os.sched_getaffinity(0))
    print(
        f"Running hpcc with {options.ranks} ranks on {cores} cores, alternately without and with evenkeel:\n"
    )
    for name, command in both.items():
        print(f"  {name + ':':<8} {' '.join(command.words)}")
    print(flush=True)
    rows, columns = grid(options.ranks)
    parent = options.directory and options.directory.resolve()
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-", dir=parent) as directory:
        input_file = Path(directory) / "hpccinf.txt"
        input_file.write_text(INPUT.format(rows=rows, columns=columns, size=options.size))
        summaries, last_output = alternate(both, options.runs, Path(directory))
    right, sentence = answers_agree(summaries["without"] + summaries["with"])
    shown = [os.path.relpath(path) for path in (options.evenkeel, record)]
    print(f"\nThe summary that evenkeel printed after its last run:\n\n{last_output.rstrip()}\n")
    print(f"All runs side by side:\n\n{table(summaries['without'], summaries['with'])}")
    print(f"\n{sentence}\n\n{NOTES}")
    print(f"\nTo see the last run in a browser:\n\n  {shown[0]} report {shown[1]} --html demo.html")
    return right


def main() -> None:
    """Ends with exit code 1 if the demonstration fails or a result was wrong."""
    try:
        right = demonstrate(parse_options())
    except DemonstrationError as error:
        sys.exit(f"evenkeel: the demonstration failed: {error}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
