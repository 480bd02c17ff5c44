"""Runs a command on the first of several virtual hosts, from which launchers reach the others.

tests/rig/run --hosts 4 -- mpirun --host h0:2,h1:2,h2:2,h3:2 hostname
tests/rig/run --hosts 4 --slurm -- srun -N4 hostname
tests/rig/run --hosts 2                                            a shell on h0; `/tmp/rig/rsh h1 …` goes to h1
"""

import argparse
import os
import signal
import subprocess
import sys

from . import Refusal, Rig
from .network import Shape
from .slurm import Cluster


def arguments():
    parser = argparse.ArgumentParser(
        prog="rig/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=4, help="how many (default 4)")
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="PATH",
        help="a path under /tmp that the hosts see too",
    )
    parser.add_argument(
        "--rate", type=float, metavar="MBIT", help="limit of each link, in Mbit/s and each direction"
    )
    parser.add_argument(
        "--delay", type=float, metavar="MS", help="delay of each link; needs netem in the kernel"
    )
    parser.add_argument("--loss", type=float, default=0, metavar="PERCENT", help="packets lost")
    parser.add_argument(
        "--slurm", action="store_true", help="with a Slurm cluster, slurmctld on h0 and a slurmd on each"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run on h0 (default: a shell)")
    return parser.parse_args()


def main():
    wanted = arguments()
    command = wanted.command[1:] if wanted.command[:1] == ["--"] else wanted.command
    here = os.getcwd()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with Rig(wanted.hosts, shared=[here, *wanted.share] if here != "/tmp" else wanted.share) as rig:
            rig.shape(
                Shape(rate_mbit=wanted.rate, delay_ms=wanted.delay)
            ) if wanted.rate or wanted.delay else None
            if wanted.loss:
                rig.lose(wanted.loss)
            env = Cluster(rig).environment if wanted.slurm else {}
            line = rig[0].command(command or [os.environ.get("SHELL", "/bin/sh")], here)
            return subprocess.run(line, env=rig[0].environment(os.environ | env)).returncode
    except Refusal as refusal:
        print(f"evenkeel: {refusal}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


sys.exit(main())
