"""A Slurm cluster on a rig, from Debian's packages: slurmctld on h0, a slurmd on every host.

It uses no file outside the rig.
"""

import os
import subprocess
import time

from .paths import SLURM
from .unavailable import RigUnavailableError, require

TOOLS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
CONF = f"{SLURM}/slurm.conf"
SOCKET = f"{SLURM}/munge.socket"


def configuration(hosts, cores):
    """slurm.conf for hosts h0, h1, …. Slurm is told that each has so many cores; they share the machine's."""
    return f"""\
ClusterName=rig
SlurmctldHost=h0
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={SOCKET}
StateSaveLocation={SLURM}/state
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile={SLURM}/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile={SLURM}/slurmctld.log
SlurmdLogFile={SLURM}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
InactiveLimit=0
KillWait=2
NodeName=h[0-{hosts - 1}] CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


# How long the daemons may take, also on a busy machine.
PATIENCE_S = 300


class Cluster:
    """Starts Slurm's daemons and waits until every node is idle. They end with the rig."""

    def __init__(self, rig, cores=16, patience_s=PATIENCE_S):
        require(TOOLS)
        self.rig = rig
        folder = rig.path(SLURM)
        (folder / "state").mkdir(parents=True)
        (folder / "slurm.conf").write_text(configuration(len(rig), cores))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        files = {name: f"{SLURM}/munged.{name}" for name in ("pid", "log", "seed")}
        options = [f"--{name}-file={path}" for name, path in files.items()]
        munge = [f"--key-file={SLURM}/munge.key", f"--socket={SOCKET}", *options]
        self._start(rig[0], ["munged", "--foreground", "--force", *munge])
        self._wait(lambda: rig.path(SOCKET).exists(), patience_s, "munged does not answer", "munged.log")
        self._start(rig[0], ["slurmctld", "-D", "-f", CONF])
        for host in rig.hosts:
            self._start(host, ["slurmd", "-D", "-N", host.name, "-f", CONF])
        self.wait_idle(patience_s)

    def _start(self, host, line):
        """Starts a daemon."""
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        host.popen(line, env=self.environment, **quiet)

    def _wait(self, condition, patience_s, words, log):
        deadline = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > deadline:
                path = self.rig.path(f"{SLURM}/{log}")
                last = path.read_text(errors="replace")[-2000:] if path.exists() else ""
                raise RigUnavailableError(
                    f"Slurm does not start: {words} within {patience_s} s. The end of {log}:\n{last}"
                )
            time.sleep(0.05)

    def wait_idle(self, patience_s=PATIENCE_S):
        """Waits until no node has a job. A job that has ended takes a moment to be gone."""
        self._wait(
            lambda: self.states() == ["idle"] * len(self.rig),
            patience_s,
            "not all nodes became idle",
            "slurmctld.log",
        )

    @property
    def environment(self):
        return {"SLURM_CONF": CONF}

    def states(self):
        """The state of every node, in the order of their names."""
        done = self.run(["sinfo", "--noheader", "--Node", "--format=%T"], check=False)
        return done.stdout.split()

    def run(self, line, **options):
        """Runs srun, sbatch, … on h0.

        If it takes too long, its job is cancelled, and every node is idle, before TimeoutExpired is raised.
        """
        env = self.environment | options.pop("env", {})
        try:
            return self.rig[0].run(line, env=env, **options)
        except subprocess.TimeoutExpired:
            self.cancel_all()
            raise

    def cancel_all(self):
        """Ends all jobs and returns when every node is idle."""
        self.rig[0].run(["scancel", "--user=root"], env=self.environment, check=False)
        self.wait_idle()
