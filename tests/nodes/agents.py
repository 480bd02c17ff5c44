"""The agents of a rig's hosts: finds them, waits for them, and ends a program without ending them."""

import signal
import time

from evenkeel_rig.processes import signal_all


def agents(rig):
    """Process ids, on each host, of its agents."""
    return {
        host.name: [pid for pid, words in host.processes().items() if "evenkeel-agent" in words]
        for host in rig.hosts
    }


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} within {seconds} s"
        time.sleep(0.02)


def wait_for_agents(rig):
    wait_for(lambda: all(agents(rig).values()), 20, "an agent on every host")


def kill_all_but_agents(rig):
    """Kills the program on all hosts. Agents must end by themselves."""

    def others():
        kept = {pid for pids in agents(rig).values() for pid in pids}
        return {pid for host in rig.hosts for pid in host.processes()} - kept

    deadline = time.monotonic() + 10
    while others() and time.monotonic() < deadline:
        signal_all(others(), signal.SIGKILL)
        time.sleep(0.02)
    wait_for(lambda: not any(agents(rig).values()), 10, "no agent left")
    for host in rig.hosts:  # what Open MPI leaves there when it is killed
        for file in host.path("/dev/shm").glob("vader_segment.*"):
            file.unlink()
