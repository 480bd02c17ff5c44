"""When an agent, a host or a rank is lost, the job ends and names it. A slow one does not count as lost."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from agents import agents, kill_all_but_agents, wait_for_agents
from mpis import FAULT_TOLERANCE
from on_hosts import launcher, start, with_agents
from paths import ROOT


@pytest.fixture
def running(clean, openmpi4):
    """The rig, and a program of endless allreduces over all its hosts."""
    program = [openmpi4.build("killed_rank.c"), "victim=-1"]
    process = start(clean, openmpi4, program, with_agents(openmpi4))
    wait_for_agents(clean)
    time.sleep(0.5)
    yield clean, process
    kill_all_but_agents(clean)
    process.communicate()


def test_a_killed_agent_is_named(running):
    rig, process = running
    os.kill(agents(rig)["h2"][0], signal.SIGKILL)
    _, said = process.communicate(timeout=20)
    by_its_ranks = re.search(r"this node's agent \(process \d+\) has died while rank [45] waits", said)
    assert by_its_ranks or "node h2 (ranks 4, 5) " in said, said
    assert process.returncode != 0


def test_a_node_whose_cable_is_pulled_is_named(running):
    rig, process = running
    rig[3].unplug()
    began = time.monotonic()
    try:
        said = ""
        while "ending this job" not in said and time.monotonic() < began + 15:
            said += process.stderr.readline()
        took = time.monotonic() - began
        reasons = "has not been heard of for 2000 ms|cannot be reached any more"
        assert re.search(rf"node h\d \(ranks [\d, ]+\) ({reasons})", said), said
        assert took < 6, f"{took:.1f} s"
    finally:
        rig[3].plug_in()


def test_a_host_that_is_stopped_for_a_second_does_not_count_as_lost(running):
    rig, process = running
    rig[1].freeze()
    time.sleep(1.0)
    rig[1].thaw()
    time.sleep(1.5)
    assert process.poll() is None


def test_the_memory_of_an_agent_is_bounded(running):
    rig, _ = running
    for pid in (pid for on_host in agents(rig).values() for pid in on_host):
        status = Path(f"/proc/{pid}/status").read_text()
        kinds = [re.search(rf"{kind}:\s+(\d+) kB", status).group(1) for kind in ("RssAnon", "RssShmem")]
        assert sum(map(int, kinds)) < 32 * 1024, status


def test_survivors_on_all_hosts_go_on_where_the_library_reports_failures(clean, openmpi5):
    """With --with-ft the library carries out what spans hosts, and evenkeel ends no rank.

    A rank of h1 dies, the other rank there gets the library's error, and all others go on.
    """
    program = [openmpi5.build("survivors.c"), "victim=3"]
    words = launcher(openmpi5, with_agents(openmpi5), program, options=FAULT_TOLERANCE)
    done = clean[0].run(words, cwd=ROOT, timeout=40, check=False)
    assert re.search(r"SURVIVORS 7 RESULT checks 8 failures 0", done.stdout), (
        f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
