"""Virtual hosts on one machine, for tests and demonstrations of programs that run on several.

A [`Rig`](rig.py) is a handful of hosts, each with network, UTS, IPC and mount namespaces of its own, joined by a bridge. Its first
process is the init of a PID namespace around all of them: with it everything ends, and nothing of a rig has a name
outside, so there is nothing to clean up, however its owner ends. May use: Python's standard library, util-linux, iproute2,
nftables, and Slurm where a cluster is asked for. Knows nothing of evenkeel or MPI but the launchers' settings.
"""

from .refusal import Refusal
from .rig import Host, Rig

__all__ = ["Host", "Refusal", "Rig"]
