"""Virtual hosts on one machine, for tests and demonstrations of programs that run on several.

A [`Rig`](rig.py) is a handful of hosts, each with network, UTS, IPC and mount namespaces of its own, joined
by a bridge. Its first process is the init of a PID namespace around all of them. Every process of the rig
ends with it, and nothing of a rig has a name outside: there is nothing to clean up, however its owner ends.

May use: Python's standard library, util-linux, iproute2, nftables, and Slurm where a cluster is asked for.
Must never: know anything of evenkeel, or of MPI except the launchers' settings.

Modules, from the top down: `__main__` (the command line), `slurm` (a Slurm cluster on a rig), `rig` and
`host` (what an owner uses), `init` (the first process inside), `launching` and `network` (values:
environments and command lines), `kernel`, `processes`, `paths`, `unavailable`.
"""

from .rig import Rig
from .unavailable import RigUnavailableError

__all__ = ["Rig", "RigUnavailableError"]
