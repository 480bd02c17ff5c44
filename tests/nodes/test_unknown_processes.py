"""Processes on the network that do not know a job's secret do not disturb it, and learn nothing of it."""

import contextlib
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from agents import agents, wait_for
from evenkeel_rig.processes import signal_all
from on_hosts import assert_passed, launcher, read_lines, run, with_agents
from paths import ROOT
from processes import HUNG_S
from test_lost_agents import endless_allreduces

LISTENS = "0A"
MARKER = b"it can be recognized"

# Connects again and again, and sends what it is given, or nothing. Some connections stay open.
CONNECTS = """
import socket, sys, time
address, port, sent, count = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3]), int(sys.argv[4])
kept = []
for _ in range(count):
    connection = socket.create_connection((address, port))
    connection.sendall(sent)
    kept = (kept + [connection])[-200:]
"""

# Writes everything that passes on eth0 to a file, until it is ended.
RECORDS = """
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
packets.bind(("eth0", 0))
packets.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)  # SO_RCVBUFFORCE
print("RECORDS", flush=True)
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        file.write(packets.recv(1 << 17))
"""


def listening(pid):
    """Addresses and ports on which a process listens."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.update(re.findall(r"socket:\[(\d+)\]", str(entry.readlink())))
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS and words[9] in sockets:
                number, port = words[1].split(":")
                groups = [bytes.fromhex(number[i : i + 8])[::-1] for i in range(0, len(number), 8)]
                found.append((socket.inet_ntop(family, b"".join(groups)), int(port, 16)))
    return found


@pytest.fixture
def running(clean, openmpi4):
    with endless_allreduces(clean, openmpi4) as process:
        wait_for(lambda: all(map(listening, all_agents(clean))), "agents that listen")
        yield clean, process


def all_agents(rig):
    return [pid for pids in agents(rig).values() for pid in pids]


def assert_runs_on(process):
    """The job goes on. Returns what was said meanwhile."""
    now, said = time.monotonic(), ""
    while not (line := process.stderr.readline()).startswith("RUNNING") or float(line.split()[1]) < now:
        assert line and "ending" not in line, said + line + process.stderr.read()
        said += line
    return said


def test_an_agent_has_one_port_and_listens_at_its_hosts_address(running):
    rig, _ = running
    for host in rig.hosts:
        (agent,) = agents(rig)[host.name]
        ((address, _port),) = listening(agent)
        assert address == host.address


@pytest.mark.parametrize(
    "sent, count",
    [
        (b"", 1000),
        (b"\x1f\x08\0\0\0" + b"\xff" * 8, 300),  # over UCX's TCP these 13 bytes ended a job
        (b"evenkeel" + b"\0" * 56, 300),
        (b"\x16\x03\x01" + b"\x5a" * 600, 300),
    ],
)
def test_connections_of_unknown_processes_do_not_disturb_a_job(running, sent, count):
    rig, process = running
    (agent,) = agents(rig)["h1"]
    ((address, port),) = listening(agent)
    rig[2].run(["python3", "-c", CONNECTS, address, port, sent.hex(), count], timeout=HUNG_S)
    said = assert_runs_on(process)
    assert said.count("has refused") <= 1, said
    assert agents(rig)["h1"] == [agent]


def test_a_refused_connection_is_reported_with_its_address(running):
    rig, process = running
    (agent,) = agents(rig)["h1"]
    ((address, port),) = listening(agent)
    rig[2].run(["python3", "-c", CONNECTS, address, port, (b"\0" * 64).hex(), 5], timeout=HUNG_S)
    said = read_lines(process.stderr, "has refused")
    assert re.search(rf"the agent on h1 has refused .* from {re.escape(rig[2].address)}:\d+", said), said


@contextlib.contextmanager
def recorded(host, path):
    """Records what passes on a host's network; yields a function that ends that and gives the bytes."""
    recorder = host.popen(["python3", "-c", RECORDS, path], stdout=subprocess.PIPE, text=True)

    def end():
        signal_all([pid for pid, words in host.processes().items() if path in words], signal.SIGKILL)
        recorder.wait()
        return host.path(path).read_bytes()

    try:
        assert recorder.stdout.readline() == "RECORDS\n"
        yield end
    finally:
        end()
        host.path(path).unlink()


@pytest.mark.parametrize(
    "environment, is_seen",
    [
        ({}, False),
        # What UCX sends over TCP can be read: the search finds what is there.
        ({"EVENKEEL_FABRIC": "ucx", "UCX_TLS": "tcp,self"}, True),
    ],
)
def test_what_passes_on_the_network_does_not_show_the_data(clean, openmpi4, environment, is_seen):
    program = [openmpi4.build("marked_broadcasts.c")]
    with recorded(clean[1], "/tmp/recorded") as end:
        done = run(clean, openmpi4, program, with_agents(openmpi4, **environment))
        assert_passed(done)
        assert (MARKER in end()) == is_seen


def test_where_the_fabric_that_was_asked_for_is_missing_the_library_carries_collectives(clean, openmpi4):
    program = [openmpi4.build("marked_broadcasts.c")]
    words = launcher(openmpi4, with_agents(openmpi4, EVENKEEL_FABRIC="ucx"), program)
    done = clean[0].run(words, cwd=ROOT, timeout=HUNG_S, check=False)
    assert "there is no hardware for RDMA here" in done.stderr, done.stderr
    assert "no agent on this node" in done.stderr and done.returncode == 0, done.stderr
