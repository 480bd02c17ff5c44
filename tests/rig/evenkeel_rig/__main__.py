"""Runs a command on the first of several virtual hosts, from which launchers reach the others.

tests/rig/run --hosts 4 -- mpirun --host h0:2,h1:2,h2:2,h3:2 hostname tests/rig/run --hosts 4 --slurm -- srun
-N4 hostname tests/rig/run --hosts 2                                            a shell on h0; `/tmp/rig/rsh
h1 …` runs on h1
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import Rig, RigUnavailableError
from .network import LinkShape
from .slurm import Cluster


def arguments():
    parser = argparse.ArgumentParser(
        prog="rig/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=4, help="number of hosts (default 4)")
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="PATH",
        help="a path under /tmp that the hosts see too (they see everything outside /tmp)",
    )
    parser.add_argument(
        "--rate", type=float, metavar="MBIT", help="limit of each link, in Mbit/s and each direction"
    )
    parser.add_argument(
        "--delay", type=float, metavar="MS", help="delay of each link; needs netem in the kernel"
    )
    parser.add_argument("--loss", type=float, default=0, metavar="PERCENT", help="packets lost")
    parser.add_argument(
        "--slurm",
        action="store_true",
        help="start a Slurm cluster: slurmctld on h0 and a slurmd on each host",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run on h0 (default: a shell)")
    return parser.parse_args()


def run(wanted):
    """Makes the rig, runs the command, and returns its exit code."""
    command = wanted.command[1:] if wanted.command[:1] == ["--"] else wanted.command
    here = Path.cwd()
    shared = [here, *wanted.share] if str(here) != "/tmp" else wanted.share
    with Rig(wanted.hosts, shared=shared) as rig:
        if wanted.rate or wanted.delay:
            rig.shape(LinkShape(rate_mbit=wanted.rate, delay_ms=wanted.delay))
        if wanted.loss:
            rig.set_loss(wanted.loss)
        env = Cluster(rig).environment if wanted.slurm else {}
        line = rig[0].command(command or [os.environ.get("SHELL", "/bin/sh")], here)
        return subprocess.run(line, env=rig[0].environment(os.environ | env), check=False).returncode


def main():
    wanted = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run(wanted)
    except RigUnavailableError as error:
        print(f"evenkeel: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


sys.exit(main())
