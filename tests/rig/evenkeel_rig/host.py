"""One virtual host, as the owner of its rig uses it."""

import os
import signal
import subprocess
import time
from pathlib import Path

from . import network
from .launching import launch_environment, login_environment
from .processes import of_namespace, run, signal_all, state

# Connects to a port that is closed (discard, 9): the other host refuses, if it is reached.
CONNECTS = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9), timeout=1)
except ConnectionRefusedError:
    pass
except OSError:
    sys.exit(1)
"""

# How long anything on a host may take, also on a busy machine. Only what hangs takes longer.
PATIENCE_S = 300
# How long a host may take to reach another one that is there; it may be off, or without a cable.
REACHED_S = 5


def repeat_until(condition, seconds, interval_s, action=lambda: None):
    """Repeats an action until the condition holds, or the time is up."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        action()
        time.sleep(interval_s)


class Host:
    """One virtual host. `pid` is the process that holds its namespaces, by its id outside the rig."""

    def __init__(self, rig, index, name, pid):
        self.rig, self.index, self.name, self.pid = rig, index, name, pid
        self.loss_percent, self.blocked = 0.0, []
        self._uts = os.readlink(f"/proc/{pid}/ns/uts")

    @property
    def address(self):
        return network.address(self.index)

    def command(self, line, cwd="/"):
        """The command line that runs `line` on this host."""
        return [*self.rig.enter(self.pid), "sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *map(str, line)]

    def environment(self, more=None):
        """What commands get: a fresh login's environment, the launchers' settings, and `more`."""
        return login_environment(os.environ) | launch_environment() | (more or {})

    def popen(self, line, env=None, cwd="/", **options):
        return subprocess.Popen(self.command(line, cwd), env=self.environment(env), **options)

    def run(self, line, env=None, cwd="/", timeout=PATIENCE_S, check=True, stdin=""):
        """Runs a command to its end. With `check`, raises OSError if it fails."""
        return run(self.command(line, cwd), self.environment(env), timeout, check, stdin)

    def apply_filter(self):
        """Makes the kernel follow `loss_percent` and `blocked`."""
        self.run(["nft", "-f", "-"], stdin=network.filter_rules(self.loss_percent, self.blocked))

    def path(self, inside):
        """Where a file of this host is found outside the rig."""
        return Path(f"/proc/{self.pid}/root{inside}")

    def processes(self):
        """Processes on this host except the holder of its namespaces: id to command line."""
        all_of_them = self.all_processes()
        # A host without power has no holder, and no other process.
        inside = all_of_them.get(self.pid, (None, None))[1]
        return {
            pid: words for pid, (words, space) in all_of_them.items() if space == inside and pid != self.pid
        }

    def all_processes(self):
        """The same with the holder, and with the nsenters that wait outside.

        By process id: command line and PID namespace.
        """
        return of_namespace("uts", self._uts)

    def unplug(self):
        """Pulls the host's cable. No process is told, and no connection is closed."""
        self.rig.at_switch(network.link(self.index, False))

    def plug_in(self):
        """Plugs the cable in. Returns when the host reaches the others again, which may take a second.

        Libraries pass over a device without a carrier, and a kernel that has just looked for a neighbour in
        vain refuses the next connections at once.
        """

        def has_carrier():
            return "state UP" in self.run(["ip", "-o", "link", "show", "eth0"]).stdout

        self.rig.at_switch(network.link(self.index, True))
        repeat_until(has_carrier, PATIENCE_S, 0.02)
        for other in self.rig.hosts:
            if other is not self:
                repeat_until(lambda there=other: self.reaches(there), REACHED_S, 0.1)
                repeat_until(lambda there=other: there.reaches(self), REACHED_S, 0.1)

    def reaches(self, other):
        """Whether the network carries a connection to another host, though nothing listens there."""
        command = ["python3", "-c", CONNECTS, other.address]
        return self.run(command, check=False).returncode == 0

    def freeze(self):
        """Stops every process here (SIGSTOP): the host is slow, not dead. Returns when all have stopped."""

        def all_stopped():
            return {state(pid) for pid in self.processes()} <= set("TXZ")

        repeat_until(all_stopped, PATIENCE_S, 0.005, lambda: signal_all(self.processes(), signal.SIGSTOP))

    def thaw(self):
        """Continues every process, repeatedly: nsenter stops itself after its child has stopped."""

        def none_stopped():
            return not any(state(pid) == "T" for pid in self.all_processes())

        def continue_all():
            signal_all(self.all_processes(), signal.SIGCONT)

        repeat_until(none_stopped, PATIENCE_S, 0.005, continue_all)

    def power_off(self):
        """Ends the host like a power failure.

        The cable is pulled first, so that no connection is closed properly; then all processes are killed.
        """
        self.unplug()

        def none_left():
            return not self.all_processes()

        repeat_until(none_left, PATIENCE_S, 0.01, lambda: signal_all(self.all_processes(), signal.SIGKILL))
