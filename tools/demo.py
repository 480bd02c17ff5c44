#!/usr/bin/env python3
"""Runs a program that nobody here wrote, Debian's hpcc, with and without evenkeel, and prints the two side by side.

The two take turns, so that a busy moment of the machine hits both. Nothing is left out: what became slower is printed
like what became faster. Needs only Python's standard library.
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
    """One line of the table: what hpcc calls it, what people call it, whether more is better."""

    key: str
    title: str
    more_is_better: bool
    scale: float = 1.0


ROWS = [
    Row("wall_s", "whole program, wall time [s]", False),
    Row("cpu_s", "whole program, CPU time [s]", False),
    Row("HPL_time", "HPL: solve a linear system [s]", False),
    Row("PTRANS_time", "PTRANS: transpose a matrix [ms]", False, 1e3),
    Row("MPIRandomAccess_time", "random access over all ranks [s]", False),
    Row("MPIFFT_Gflops", "FFT over all ranks [GFlop/s]", True),
    Row("AvgPingPongLatency_usec", "ping-pong latency, mean [us]", False),
    Row("RandomlyOrderedRingLatency_usec", "ring latency, random order [us]", False),
    Row("RandomlyOrderedRingBandwidth_GBytes", "ring bandwidth, random order [GB/s]", True),
    Row("StarDGEMM_Gflops", "no communication at all: DGEMM [GFlop/s]", True),
]


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
    """How the run with evenkeel compares, in words: 1.20 times as fast, 1.10 times slower, no difference."""
    if without <= 0 or with_ <= 0:
        return ""
    ratio = with_ / without if row.more_is_better else without / with_
    if 0.97 <= ratio <= 1.03:
        return "same (within 3 %)"
    return f"{ratio:.2f} x better" if ratio > 1 else f"{1 / ratio:.2f} x worse"


def table(without: list[dict[str, str]], with_: list[dict[str, str]]) -> str:
    """Both kinds of run side by side: median, all values when there are few, and the comparison."""
    lines = [f"{'':<42}{'without':>18}{'with evenkeel':>18}   comparison of medians"]
    for row in ROWS:
        a, b = (
            [float(run[row.key]) * row.scale for run in runs if row.key in run] for runs in (without, with_)
        )
        if not a or not b:
            continue
        shown = ("  ".join(f"{value:.4g}" for value in values) for values in (a, b))
        lines.append(
            f"{row.title:<42}"
            + "".join(f"{text:>18}" for text in shown)
            + f"   {verdict(row, statistics.median(a), statistics.median(b))}"
        )
    return "\n".join(lines)


def answers_agree(runs: list[dict[str, str]]) -> tuple[bool, str]:
    """Whether hpcc found its own results right in every run, and the sentence that says so."""
    # "Success" includes all of its checks; random access may lose up to 1 % of its updates by hpcc's own
    # rules.
    bad = [number for number, run in enumerate(runs, 1) if run.get("Success") != "1"]
    if bad:
        return False, f"hpcc found wrong results in run {', '.join(map(str, bad))} of {len(runs)}."
    return True, f"hpcc checked its results in all {len(runs)} runs and found them right."


def run(command: list[str], directory: Path, environment: dict[str, str]) -> tuple[dict[str, str], str]:
    """One run of hpcc: its summary with wall and CPU time added, and what was printed."""
    output = directory / "hpccoutf.txt"
    output.unlink(missing_ok=True)
    before, start = os.times(), time.monotonic()
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
    )
    wall, after = time.monotonic() - start, os.times()
    if done.returncode != 0 or not output.exists():
        sys.exit(
            f"evenkeel: the demonstration failed: {' '.join(command)} ended with code {done.returncode}. It said:\n{done.stdout}"
        )
    summary = parse_summary(output.read_text(errors="replace"))
    summary["wall_s"] = str(wall)
    summary["cpu_s"] = str(
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return summary, done.stdout


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--evenkeel", type=Path, default=Path("target/release/evenkeel"))
    options.add_argument("--ranks", type=int, default=16)
    options.add_argument("--size", type=int, default=1000, help="order of the linear system")
    options.add_argument("--turns", type=int, default=2, help="how often each of the two runs")
    options.add_argument(
        "--launcher-args", default="", help="further arguments of the launcher, hosts for instance"
    )
    options.add_argument(
        "--place", type=Path, help="a folder that all hosts see (default: the one for temporary files)"
    )
    given = options.parse_args()
    evenkeel = given.evenkeel.resolve()
    hpcc = shutil.which("hpcc")
    if hpcc is None:
        sys.exit(
            "evenkeel: the demonstration needs hpcc, which is not on PATH. Run tools/install-deps.sh demo."
        )

    # The launcher line without evenkeel is the same line, less what evenkeel adds.
    ranks = ["run", "-n", str(given.ranks)] + (
        ["--launcher-args", given.launcher_args] if given.launcher_args else []
    )
    planned = subprocess.run([evenkeel, *ranks, "--dry-run", "--", hpcc], text=True, capture_output=True)
    if planned.returncode != 0:
        sys.exit(planned.stderr.strip())
    plain = re.sub(r"-x (LD_PRELOAD|EVENKEEL_\w+)=\S+ ", "", planned.stdout.strip()).replace(
        "--bind-to none ", ""
    )
    environment = dict(os.environ)
    words = plain.split()
    while re.fullmatch(r"\w+=\S*", words[0]):
        name, value = words.pop(0).split("=", 1)
        environment[name] = value

    rows, columns = grid(given.ranks)
    without, with_, said = [], [], ""
    with tempfile.TemporaryDirectory(
        prefix="evenkeel-demo-", dir=given.place and given.place.resolve()
    ) as directory:
        place = Path(directory)
        (place / "hpccinf.txt").write_text(INPUT.format(rows=rows, columns=columns, size=given.size))
        record = Path("build/demo.json").resolve()
        record.parent.mkdir(exist_ok=True)
        commands = {
            "without": words,
            "with": [str(evenkeel), *ranks, "--report", str(record), "--", hpcc],
        }
        print(
            f"hpcc, {given.ranks} ranks on {len(os.sched_getaffinity(0))} cores, {given.turns} turns each:",
            flush=True,
        )
        for name, command in commands.items():
            print(f"  {name:<8} {' '.join(command)}", flush=True)
        for turn in range(1, given.turns + 1):
            for name, command in commands.items():
                summary, said_now = run(command, place, environment)
                print(f"  turn {turn} {name}: {float(summary['wall_s']):.1f} s", flush=True)
                (without if name == "without" else with_).append(summary)
                said = said_now if name == "with" else said
    print(f"\nevenkeel's own summary of the last run:\n\n{said.rstrip()}\n\nSide by side:\n")
    print(table(without, with_))
    right, sentence = answers_agree(without + with_)
    print(f"\n{sentence}")
    print(
        "HPL, PTRANS, random access and the latencies are mostly point-to-point messages. evenkeel carries them where all ranks\n"
        "share one machine; between machines they are the host library's, and what changes comes from where ranks are placed.\n"
        "Few turns on a shared machine scatter: differences of some percent mean nothing.\n"
        f"The record of the last run: {record}; as a page: {given.evenkeel} report {record} --html demo.html"
    )
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
