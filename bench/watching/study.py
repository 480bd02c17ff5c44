#!/usr/bin/env python3
"""Measures what `evenkeel top` costs: its processor time, and the rate of the job that it looks at.

    build/venv-tools/bin/python bench/watching/study.py [--ranks 64] [--rounds 10] [--seconds 6]

A job of many ranks computes and meets in MPI_Allreduce, round after round, and counts the rounds. In each
round of the measurement it is watched for some seconds and left alone for as long, in random order. `top`
draws on a terminal of 120 by 50 characters. With the defaults it takes some three minutes.
"""

import argparse
import fcntl
import os
import pty
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evenkeel_bench.checkout import EVENKEEL
from evenkeel_bench.programs import SOURCES
from evenkeel_bench.study import HelpFormatter

SOURCE = SOURCES / "rounds.c"
# Until the view has been drawn a few times.
SETTLE_S = 2


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=HelpFormatter)
    p.add_argument("--ranks", type=int, default=64, help="of the job")
    p.add_argument("--rounds", type=int, default=10, help="stretches of each kind")
    p.add_argument("--seconds", type=float, default=6, help="of each stretch")
    p.add_argument("--work", type=float, default=20, help="microseconds of computing between collectives")
    p.add_argument("--interval", default="1", help="the option of top")
    p.add_argument("--compiler", default="mpicc.openmpi", help="of the job's program")
    return p.parse_args()


def words(file):
    return struct.unpack("=QQ", file.read_bytes())


def processor_time(pid):
    """Seconds that a process has run."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Top:
    """`evenkeel top` on a terminal of its own, whose output is thrown away."""

    def __init__(self, job, interval):
        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        line = [EVENKEEL, "top", str(job), "--interval", interval]
        self.process = subprocess.Popen(line, stdin=terminal, stdout=terminal, start_new_session=True)
        os.close(terminal)
        self.drawn = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while data := os.read(self.master, 1 << 16):
                self.drawn += len(data)
        except OSError:
            pass  # the other end is closed

    def close(self):
        os.write(self.master, b"q")
        self.process.wait()
        self.reader.join()
        os.close(self.master)


def stretch(counts, seconds, top):
    """The job's rounds a second, and the part of a core that top takes."""
    time.sleep(SETTLE_S)
    began, rounds = time.monotonic(), words(counts)[0]
    used = processor_time(top.process.pid) if top else 0
    time.sleep(seconds)
    elapsed = time.monotonic() - began
    used = processor_time(top.process.pid) - used if top else 0
    return (words(counts)[0] - rounds) / elapsed, used / elapsed


def measure(args, job, counts):
    ratios, cores = [], []
    for number in range(args.rounds):
        rate = {}
        for watched in random.sample([True, False], 2):
            top = Top(job, args.interval) if watched else None
            rate[watched], core = stretch(counts, args.seconds, top)
            if top:
                cores.append(core)
                top.close()
        ratios.append(rate[True] / rate[False])
        print(
            f"{number + 1}: {rate[False]:.0f} rounds/s alone, {rate[True]:.0f} watched; "
            f"top {cores[-1] * 100:.2f}% of a core",
            file=sys.stderr,
        )
    return ratios, cores


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        program, counts = Path(folder) / "rounds", Path(folder) / "counts"
        subprocess.run([args.compiler, "-O2", "-o", program, SOURCE], check=True)
        counts.write_bytes(bytes(16))
        line = [EVENKEEL, "run", "-n", str(args.ranks), "--", program, counts, str(args.work)]
        quiet = os.environ | {"EVENKEEL_QUIET": "1"}
        job = subprocess.Popen(list(map(str, line)), env=quiet)
        while words(counts)[0] < 100:
            time.sleep(0.1)
            if job.poll() is not None:
                raise SystemExit("watching: the job has ended")
        ratios, cores = measure(args, job.pid, counts)
        with counts.open("r+b") as file:
            file.seek(8)
            file.write(struct.pack("=Q", 1))
        job.wait()
    ratios.sort()
    quarter = len(ratios) // 4
    print(
        f"{args.ranks} ranks, {args.rounds} rounds of {args.seconds:g} s: top takes "
        f"{statistics.mean(cores) * 100:.2f}% of a core (at most {max(cores) * 100:.2f}%); "
        f"the job's rate watched / alone: median {statistics.median(ratios):.4f}, "
        f"quartiles {ratios[quarter]:.4f} to {ratios[-1 - quarter]:.4f}"
    )


if __name__ == "__main__":
    main()
