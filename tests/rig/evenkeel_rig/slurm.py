"""A Slurm cluster on a rig: slurmctld on h0, a slurmd on every host, each with Debian's packages and no file outside the rig."""

import os
import subprocess
import time

from .places import SLURM
from .refusal import Refusal, missing_tools

TOOLS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
CONF = f"{SLURM}/slurm.conf"
SOCKET = f"{SLURM}/munge.socket"


def configuration(hosts, cores):
    """slurm.conf for hosts h0…, each said to have so many cores: they share the real ones."""
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


class Cluster:
    """Starts Slurm's daemons and waits until every node is idle. They end with the rig."""

    def __init__(self, rig, cores=16, patience_s=30):
        words = missing_tools(TOOLS)
        if words:
            raise Refusal(words)
        self.rig = rig
        folder = rig.path(SLURM)
        (folder / "state").mkdir(parents=True)
        (folder / "slurm.conf").write_text(configuration(len(rig), cores))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._daemon(
            rig[0],
            [
                "munged",
                "--foreground",
                "--force",
                f"--key-file={SLURM}/munge.key",
                f"--socket={SOCKET}",
                f"--pid-file={SLURM}/munged.pid",
                f"--log-file={SLURM}/munged.log",
                f"--seed-file={SLURM}/munged.seed",
            ],
        )
        self._wait(lambda: rig.path(SOCKET).exists(), patience_s, "munged does not answer", "munged.log")
        self._daemon(rig[0], ["slurmctld", "-D", "-f", CONF])
        for host in rig.hosts:
            self._daemon(host, ["slurmd", "-D", "-N", host.name, "-f", CONF])
        self.wait_idle(patience_s)

    def _daemon(self, host, line):
        host.popen(
            line,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _wait(self, condition, patience_s, words, log):
        deadline = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > deadline:
                path = self.rig.path(f"{SLURM}/{log}")
                last = path.read_text(errors="replace")[-2000:] if path.exists() else ""
                raise Refusal(
                    f"Slurm does not come up: {words} within {patience_s} s. The end of {log}:\n{last}"
                )
            time.sleep(0.05)

    def wait_idle(self, patience_s=30):
        """Until no node has anything to do; a job that has ended takes a moment to be gone."""
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

    def run(self, line, **how):
        """Runs srun, sbatch, … on h0. Of one that takes too long no job is left: it is cancelled, and every node idle, before TimeoutExpired is raised."""
        env = self.environment | how.pop("env", {})
        try:
            return self.rig[0].run(line, env=env, **how)
        except subprocess.TimeoutExpired:
            self.cancel_all()
            raise

    def cancel_all(self):
        """Ends all jobs and returns when every node is idle."""
        self.rig[0].run(["scancel", "--user=root"], env=self.environment, check=False)
        self.wait_idle()
