"""The agents of a rig's hosts: finds them, waits for them, and ends a program without ending them."""

import signal
import time

from evenkeel_rig.processes import signal_all, state
from processes import HUNG_S, until


def agents(rig):
    """Process ids, on each host, of its agents."""
    return {
        host.name: [pid for pid, words in host.processes().items() if "evenkeel-agent" in words]
        for host in rig.hosts
    }


def wait_for(condition, what):
    assert until(condition), f"{what} within {HUNG_S} s"


def wait_for_agents(rig, process):
    """Waits until every host has an agent, as long as the launcher's process lives."""

    def are_there():
        assert process.poll() is None, f"the program is over: {process.communicate()}"
        return all(agents(rig).values())

    wait_for(are_there, "an agent on every host")


def wait_for_sleeping_agents(rig):
    """Waits until every agent sleeps, and is seen to do so again and again."""
    pids = [pid for on_host in agents(rig).values() for pid in on_host]
    seen = 0

    def all_sleep():
        nonlocal seen
        seen = seen + 1 if all(state(pid) == "S" for pid in pids) else 0
        return seen >= 50

    wait_for(all_sleep, "all agents asleep")


def kill_all_but_agents(rig):
    """Kills the program on all hosts. Agents must end by themselves."""

    def others():
        kept = {pid for pids in agents(rig).values() for pid in pids}
        return {pid for host in rig.hosts for pid in host.processes()} - kept

    deadline = time.monotonic() + HUNG_S
    while others() and time.monotonic() < deadline:
        signal_all(others(), signal.SIGKILL)
        time.sleep(0.02)
    wait_for(lambda: not any(agents(rig).values()), "no agent left")
    for host in rig.hosts:  # what Open MPI and MPICH leave there when they are killed
        for library in ("vader_segment.*", "mpich_shm_*"):
            for file in host.path("/dev/shm").glob(library):
                file.unlink()
