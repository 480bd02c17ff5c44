"""A rig, as its owner uses it: start it, run commands on its hosts, disturb its network."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import network
from .host import Host
from .paths import RIG
from .processes import run, signal_all
from .unavailable import RigUnavailableError, find, no_namespaces, require

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
NAMESPACES = ["--mount", "--net", "--uts", "--ipc", "--pid"]


class Rig:
    """Virtual hosts h0, h1, …; a context manager.

        with Rig(4, shared=[checkout]) as rig:
            rig[0].run(["mpirun", "--host", "h0,h1,h2,h3", "hostname"])

    `shared` are paths under /tmp that the hosts see too; they see everything outside /tmp. Raises
    RigUnavailableError where the machine does not allow a rig. Everything ends with `close`, or with this
    process, even if it is killed.
    """

    def __init__(self, hosts, shared=()):
        if not 1 <= hosts <= 250:
            raise ValueError(f"a rig has 1 to 250 hosts, not {hosts}")
        require()
        wanted = json.dumps({"hosts": hosts, "shared": [str(path) for path in shared]})
        self._has_own_user, self.hosts = False, []
        self._process, answer = self._start(wanted)
        if "error" in answer:
            self.close()
            raise no_namespaces(answer["error"])
        self.init_pid = self._pid_outside(1)
        self.hosts = [
            Host(self, index, name, self._pid_outside(pid))
            for index, (name, pid) in enumerate(answer["pids"].items())
        ]

    def _start(self, wanted):
        """Starts the rig's init, without a user namespace where that is allowed, otherwise in one.

        Returns its process and its answer.
        """
        said = ""
        for own_user in [False, True] if os.geteuid() == 0 else [True]:
            self._has_own_user = own_user
            process = subprocess.Popen(
                [
                    find("unshare"),
                    *(["--user", "--map-root-user"] if own_user else []),
                    *["--fork", "--kill-child", "--mount-proc", *NAMESPACES, "--"],
                    *[sys.executable, "-m", "evenkeel_rig.init", wanted],
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd="/",
                env=os.environ | {"PYTHONPATH": str(PACKAGE_FOLDER), "PYTHONDONTWRITEBYTECODE": "1"},
            )
            if answer := process.stdout.readline():
                return process, json.loads(answer)
            said = process.communicate()[1]
        raise no_namespaces(said)

    def _pid_outside(self, inner):
        """The id, outside the rig, of one of its processes."""
        inside = os.readlink(f"/proc/{self._process.pid}/ns/pid_for_children")
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(f"/proc/{entry.name}/ns/pid") == inside:
                    status = Path(f"/proc/{entry.name}/status").read_text()
                    ids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
                    if int(ids[-1]) == inner:
                        return int(entry.name)
        raise ProcessLookupError(f"process {inner} of the rig is gone")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends every process of the rig and returns when the last is gone."""
        # Stopped nsenters would not wait for their children, and the kernel waits for them: kill these first.
        for host in self.hosts:
            signal_all(host.all_processes(), signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()

    def __len__(self):
        return len(self.hosts)

    def __getitem__(self, index):
        return self.hosts[index]

    @property
    def names(self):
        return [host.name for host in self.hosts]

    def path(self, inside):
        """Where a file of the hosts' common folder is found outside the rig."""
        return Path(f"/proc/{self.init_pid}/root{inside}")

    def enter(self, pid):
        """The beginning of a command line that runs in the namespaces of a process."""
        user = ["--user", "--preserve-credentials"] if self._has_own_user else []
        return [find("nsenter"), "--target", str(pid), *user, *NAMESPACES, "--"]

    def at_switch(self, line, check=True):
        """Runs a command where the switch is."""
        return run([*self.enter(self.init_pid), find(line[0]), *line[1:]], check=check)

    def shape(self, wanted, hosts=None):
        """Limits every link, or those of some hosts, in both directions."""
        if wanted.needs_netem and not self.has_netem():
            raise RigUnavailableError(
                "delay, duplication and reordering need netem, which this kernel does not have. "
                "What to do: leave them to the fault layer of evenkeel's virtual network, "
                "or load the module sch_netem."
            )
        for host in self.hosts if hosts is None else hosts:
            remove, *add = network.shape(network.port(host.index), wanted)
            self.at_switch(remove, check=False)
            for line in add:
                self.at_switch(line)
            remove, *add = network.shape("eth0", wanted)
            host.run(remove, check=False)
            for line in add:
                host.run(line)

    def has_netem(self):
        """Whether the kernel can delay packets."""
        qdisc = ["dev", network.BRIDGE, "root"]
        added = self.at_switch(["tc", "qdisc", "add", *qdisc, "netem", "delay", "1ms"], check=False)
        self.at_switch(["tc", "qdisc", "del", *qdisc], check=False)
        return added.returncode == 0

    def set_loss(self, percent):
        """Makes every host lose so many per cent of what the others send it."""
        for host in self.hosts:
            host.loss_percent = percent
            host.apply_filter()

    def partition(self, *groups):
        """Makes hosts of different groups (sets of indices) unable to reach each other.

        Without groups, all hosts reach each other again.
        """
        for host in self.hosts:
            own = next((group for group in groups if host.index in group), None)
            others = [h for h in self.hosts if own is not None and h.index not in own]
            host.blocked = [network.address(other.index) for other in others]
            host.apply_filter()


assert RIG.startswith("/tmp/")  # init puts it into each host's own /tmp
