"""A rig, seen by its owner: start it, run commands on its hosts, disturb its network, stop and kill hosts."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from . import network
from .places import RIG, launch_environment, login_environment
from .refusal import Refusal, find, missing_tools, namespaces

HERE = pathlib.Path(__file__).resolve().parent.parent
NAMESPACES = ["--mount", "--net", "--uts", "--ipc", "--pid"]


class Rig:
    """Virtual hosts h0, h1, …; a context manager.

        with Rig(4, shared=[checkout]) as rig:
            rig[0].run(["mpirun", "--host", "h0,h1,h2,h3", "hostname"])

    `shared`: paths under /tmp that the hosts are to see too; everything outside /tmp they see anyway. Raises Refusal where
    the machine does not allow it. Everything ends with `close`, or with this process, even if that is killed."""

    def __init__(self, hosts, shared=()):
        if not 1 <= hosts <= 250:
            raise ValueError(f"a rig has 1 to 250 hosts, not {hosts}")
        words = missing_tools()
        if words:
            raise Refusal(words)
        wanted = json.dumps({"hosts": hosts, "shared": [str(path) for path in shared]})
        self._own_user, self.hosts = False, []
        self._process, answer = self._start(wanted)
        if answer is None:
            raise namespaces(self._words)
        if "error" in answer:
            self.close()
            raise namespaces(answer["error"])
        self.keeper = self._outside(None)
        self.hosts = [
            Host(self, index, name, self._outside(pid))
            for index, (name, pid) in enumerate(answer["pids"].items())
        ]

    def _start(self, wanted):
        """Without a user namespace where that is allowed, otherwise in one."""
        for own_user in ([False] if os.geteuid() == 0 else []) + [True]:
            self._own_user = own_user
            line = [
                find("unshare"),
                *(["--user", "--map-root-user"] if own_user else []),
                "--fork",
                "--kill-child",
                "--mount-proc",
                *NAMESPACES,
                "--",
                sys.executable,
                "-m",
                "evenkeel_rig.keeper",
                wanted,
            ]
            process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd="/",
                env=os.environ | {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"},
            )
            told = process.stdout.readline()
            if told:
                return process, json.loads(told)
            self._words = process.communicate()[1]
        return process, None

    def _outside(self, inner):
        """The id out here of a process of the rig; None: of its first."""
        inside = os.readlink(f"/proc/{self._process.pid}/ns/pid_for_children")
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(f"/proc/{entry.name}/ns/pid") == inside:
                    status = pathlib.Path(f"/proc/{entry.name}/status").read_text()
                    ids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
                    if int(ids[-1]) == (inner or 1):
                        return int(entry.name)
        raise ProcessLookupError(f"process {inner or 1} of the rig is gone")

    # ---- its life
    # -------------------------------------------------------------------------------------------

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends every process of the rig and returns when the last is gone."""
        for (
            host
        ) in self.hosts:  # a stopped nsenter would not take leave of its child, and the kernel waits for that
            signal_all(host._members(), signal.SIGKILL)
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
        """Where a file of the hosts' common folder is to be found out here."""
        return pathlib.Path(f"/proc/{self.keeper}/root{inside}")

    # ---- commands
    # -------------------------------------------------------------------------------------------

    def enter(self, pid):
        """The front of a command line that is to run among the namespaces of a process."""
        user = ["--user", "--preserve-credentials"] if self._own_user else []
        return [find("nsenter"), "--target", str(pid), *user, *NAMESPACES, "--"]

    def at_switch(self, line, check=True):
        """Runs a command where the switch is."""
        return run(self.enter(self.keeper) + [find(line[0]), *line[1:]], check=check)

    # ---- the network
    # ----------------------------------------------------------------------------------------

    def shape(self, wanted, hosts=None):
        """Limits every link, or those of some hosts, in both directions."""
        if wanted.needs_netem and not self.has_netem():
            raise Refusal(
                "delay, duplication and reordering need netem, which this kernel does not have. What to do: leave them "
                "to the fault layer of evenkeel's virtual network, or load the module sch_netem."
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
        there = self.at_switch(
            ["tc", "qdisc", "add", "dev", network.BRIDGE, "root", "netem", "delay", "1ms"], check=False
        )
        self.at_switch(["tc", "qdisc", "del", "dev", network.BRIDGE, "root"], check=False)
        return there.returncode == 0

    def lose(self, percent):
        """Every host loses so many per cent of what the others send it; 0: none."""
        for host in self.hosts:
            host.loss_percent = percent
            host.apply_rules()

    def part(self, *groups):
        """Hosts of different groups hear each other no more. Without groups: all hear all again."""
        for host in self.hosts:
            mine = next((group for group in groups if host.index in group), None)
            others = [h for h in self.hosts if mine is not None and h.index not in mine]
            host.deaf_to = [network.address(other.index) for other in others]
            host.apply_rules()


class Host:
    """One virtual host."""

    def __init__(self, rig, index, name, pid):
        self.rig, self.index, self.name, self.pid = rig, index, name, pid
        self.loss_percent, self.deaf_to = 0.0, []
        self._uts = os.readlink(f"/proc/{pid}/ns/uts")

    @property
    def address(self):
        return network.address(self.index)

    def command(self, line, cwd="/"):
        """The command line that runs `line` on this host."""
        return self.rig.enter(self.pid) + ["sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *map(str, line)]

    def environment(self, more=None):
        """What commands get: a fresh login's environment, the launchers' settings, and what else is wanted."""
        return login_environment(os.environ) | launch_environment() | (more or {})

    def popen(self, line, env=None, cwd="/", **how):
        return subprocess.Popen(self.command(line, cwd), env=self.environment(env), **how)

    def run(self, line, env=None, cwd="/", timeout=60, check=True, stdin=""):
        """Runs a command to its end; its output is in the result. Raises OSError if it fails and `check` is set."""
        return run(self.command(line, cwd), self.environment(env), timeout, check, stdin)

    def apply_rules(self):
        self.run(["nft", "-f", "-"], stdin=network.filter_rules(self.loss_percent, self.deaf_to))

    def processes(self):
        """Command lines, by id, of what runs here, but for the process that holds the host."""
        members = self._members()
        inside = members.get(self.pid, (None, None))[
            1
        ]  # a host without power has no holder, and nothing else
        return {pid: words for pid, (words, space) in members.items() if space == inside and pid != self.pid}

    def _members(self):
        """All processes of this host, those among them that wait outside for one within: id to command line and PID namespace."""
        found = {}
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(f"/proc/{entry.name}/ns/uts") == self._uts:
                    words = (
                        pathlib.Path(f"/proc/{entry.name}/cmdline")
                        .read_bytes()
                        .replace(b"\0", b" ")
                        .decode(errors="replace")
                    )
                    if words:  # a zombie has none
                        found[int(entry.name)] = (words, os.readlink(f"/proc/{entry.name}/ns/pid"))
        return found

    def unplug(self):
        """Pulls the host's cable. Nobody is told: no connection is closed."""
        self.rig.at_switch(network.link(self.index, False))

    def plug_in(self):
        """Returns when the host has noticed, which the kernel may let wait for a second: libraries pass over a device without a carrier."""
        self.rig.at_switch(network.link(self.index, True))
        deadline = time.monotonic() + 10
        while (
            "state UP" not in self.run(["ip", "-o", "link", "show", "eth0"]).stdout
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)

    def freeze(self):
        """Stops every process here (SIGSTOP): the host is slow, not dead. Returns when all have stopped."""
        deadline = time.monotonic() + 10
        while not {state(pid) for pid in self.processes()} <= set("TXZ") and time.monotonic() < deadline:
            signal_all(self.processes(), signal.SIGSTOP)
            time.sleep(0.005)

    def thaw(self):
        """Lets them go on. nsenter stops itself when its child is stopped, and may do so late: hence more than once."""
        deadline = time.monotonic() + 10
        while any(state(pid) == "T" for pid in self._members()) and time.monotonic() < deadline:
            signal_all(self._members(), signal.SIGCONT)
            time.sleep(0.005)

    def power_off(self):
        """Ends the host as a power failure does: first the cable, so that no connection is closed properly, then everything."""
        self.unplug()
        deadline = time.monotonic() + 10
        while self._members() and time.monotonic() < deadline:
            signal_all(self._members(), signal.SIGKILL)
            time.sleep(0.01)


def signal_all(pids, what):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def state(pid):
    """One letter, as in ps; X: gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def run(line, env=None, timeout=60, check=True, stdin=""):
    done = subprocess.run(
        line, env=env, input=stdin, capture_output=True, text=True, errors="replace", timeout=timeout
    )
    if check and done.returncode != 0:
        raise OSError(
            f"{' '.join(line)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}"
        )
    return done


assert RIG.startswith("/tmp/")  # the keeper puts it into the hosts' own /tmp
