"""The global primitives between four virtual hosts, over UCX's TCP.

There is a single winner, data arrive on all hosts, a lost host is named, and a slow one is not.
"""

import re
import signal
import subprocess
import time

import pytest

from evenkeel_rig.processes import signal_all
from paths import RELEASE
from processes import HUNG_S

PROGRAM = RELEASE / "examples" / "across_hosts"

# UCX says that a cable was pulled, too: its own messages are switched off.
UCX = {
    "UCX_NET_DEVICES": "eth0",
    "UCX_TLS": "tcp,self",
    "UCX_ERROR_SIGNALS": "",
    "UCX_LOG_LEVEL": "fatal",
}


def read_until_watching(process):
    """What a node prints until it and the other nodes watch each other."""
    lines = []
    while not lines or lines[-1] != "watching\n":
        lines.append(process.stdout.readline())
        assert lines[-1], f"{lines}\n{process.stderr.read()}"
    return "".join(lines)


@pytest.fixture
def start(fresh_rig, request):
    """Starts one node on each host.

    Returns the processes, and what each has printed, once they watch each other.
    """
    if not PROGRAM.exists():
        build = "cargo build --release -p evenkeel-primitives --example across_hosts"
        pytest.skip(f"{PROGRAM} has not been built ({build})")
    name = re.sub(r"\W", "-", request.node.name)
    fresh_rig.path(f"/tmp/rig/{name}").mkdir()
    processes = []

    def start(seconds, limit_ms=10_000):
        """Nodes watch each other for so long. One that is silent for longer than the limit is lost."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        for host in fresh_rig.hosts:
            line = ["timeout", HUNG_S, PROGRAM, host.index, 4, f"/tmp/rig/{name}", seconds, limit_ms]
            processes.append(host.popen(line, env=UCX, text=True, **pipes))
        return processes, [read_until_watching(process) for process in processes]

    yield start
    for host in fresh_rig.hosts:
        host.thaw()
        signal_all([pid for pid, words in host.processes().items() if PROGRAM.name in words], signal.SIGKILL)
    for process in processes:
        process.communicate()


def test_there_is_one_winner_and_data_arrive_everywhere(clean_fresh_rig, start):
    processes, said = start(1)
    winners = {re.search(r"winner (\d)", text).group(1) for text in said}
    assert len(winners) == 1
    assert [i for i, text in enumerate(said) if "won true" in text] == [int(winners.pop())]
    assert all("received all" in text for text in said)
    rest = [process.communicate(timeout=HUNG_S)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert "stopped 4 nodes" in rest[1] and "lost" not in rest[1]


@pytest.mark.parametrize("lost", [0, 2, 3])
def test_a_lost_host_is_named(fresh_rig, start, lost):
    """Node 0 orders all operations. If it is lost, the next node takes over, and the others go on."""
    processes, _ = start(HUNG_S, limit_ms=5000)
    fresh_rig[lost].unplug()
    out, err = processes[1].communicate(timeout=HUNG_S)
    found = re.search(r"lost node (\d)", out)
    assert found and int(found.group(1)) == lost, out + err
    assert "stopped 3 nodes" in out and processes[1].returncode == 0, out + err


def test_a_host_that_is_stopped_for_a_third_of_the_limit_does_not_count_as_lost(clean_fresh_rig, start):
    processes, _ = start(15, limit_ms=15_000)
    clean_fresh_rig[3].freeze()
    time.sleep(5.0)
    assert processes[1].poll() is None
    clean_fresh_rig[3].thaw()
    out, err = processes[1].communicate(timeout=HUNG_S)
    assert "stopped 4 nodes" in out and "lost" not in out, out + err
    assert int(re.search(r"longest (\d+) ms", out).group(1)) >= 2500, "it was not stopped"
