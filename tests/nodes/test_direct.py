"""Small collectives between hosts that ranks carry themselves, without their agents."""

import contextlib
import json
import os
import random
import re
import signal
import socket
import time
from collections import Counter
from pathlib import Path

import pytest

from agents import agents, wait_for
from counters import Counters
from evenkeel_rig.processes import signal_all, state
from on_hosts import RANKS, assert_passed, read_report, run, start, with_agents
from paths import BUILD, ROOT
from processes import HUNG_S, MOMENT_S, communicators, pause, until
from test_lost_agents import ranks_on

CALLS = 3000
COMMUNICATORS = 7  # of direct_collectives.c


@pytest.fixture
def counters():
    return Counters(BUILD / "counters", RANKS)


@pytest.fixture
def entered():
    """Counters for direct_collectives.c."""
    return Counters(BUILD / "entered", RANKS * COMMUNICATORS)


def run_random_calls(rig, mpi, entered, *arguments, **options):
    program = [mpi.build("direct_collectives.c"), f"counters={entered.path}", *arguments]
    return run(rig, mpi, program, with_agents(mpi, **options))


def agents_messages(rig, path):
    """Messages that the agents have sent to each other in a run with EVENKEEL_AGENT_COUNTS=path."""
    files = [host.path(path) for host in rig.hosts]
    # An agent may end after the ranks and their launcher, on a network that loses packets by seconds.
    assert until(lambda: all(file.exists() and file.read_text() for file in files), MOMENT_S), files
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sum(json.loads(line)["sent"] for line in lines)


def test_results_are_right(clean, one_mpi_of_each_family, entered):
    assert_passed(run_random_calls(clean, one_mpi_of_each_family, entered, f"calls={CALLS}", "seed=1"))


@pytest.mark.parametrize("arguments", [["late=30"], ["free=1"], ["late=10", "free=1"]])
def test_results_are_right_if_ranks_are_late_and_communicators_are_freed(clean, openmpi4, entered, arguments):
    assert_passed(run_random_calls(clean, openmpi4, entered, "calls=1500", "seed=2", *arguments))


def test_results_do_not_depend_on_who_carries_the_calls(clean, openmpi4, entered):
    runs = [
        run_random_calls(clean, openmpi4, entered, "calls=500", "seed=3", EVENKEEL_DIRECT=direct)
        for direct in ("auto", "off")
    ]
    assert len({assert_passed(done) for done in runs}) == 1


@pytest.mark.parametrize("arguments", [[], ["late=20", "free=1"]])
def test_results_are_right_with_several_threads_in_mpi(clean, openmpi4, entered, arguments):
    """Each communicator has a thread of its own."""
    assert_passed(run_random_calls(clean, openmpi4, entered, "calls=500", "seed=5", "threads=1", *arguments))


def test_results_are_right_while_ranks_are_stopped_and_go_on(clean, openmpi4, entered):
    """Now and then some rank stands still for up to 30 ms, wherever it is: also one that reads for others."""
    program = [openmpi4.build("direct_collectives.c"), f"counters={entered.path}", "calls=6000", "seed=8"]
    process = start(clean, openmpi4, program, with_agents(openmpi4))
    wait_for(lambda: any(entered.read()), "the program's first calls")
    pids = [pid for host in range(4) for pid in ranks_on(clean, host, "direct").values()]
    draw, stops = random.Random(9), 0
    while process.poll() is None:
        stops += pause(draw.choice(pids), draw.uniform(0, 0.03))
        time.sleep(draw.uniform(0, 0.02))
    output, errors = process.communicate(timeout=HUNG_S)
    assert process.returncode == 0 and "failures 0" in output, errors
    assert stops > 20, "the program ended too early"


@pytest.mark.parametrize("threads", [0, 1])
def test_results_are_right_if_the_faster_one_is_wanted(clean, one_mpi_of_each_family, entered, threads):
    """Library and evenkeel take turns until one is chosen, for each kind and length of calls."""
    mpi = one_mpi_of_each_family
    arguments = ["calls=3000", "seed=10", "late=5", "free=1", f"threads={threads}"]
    assert_passed(run_random_calls(clean, mpi, entered, *arguments, EVENKEEL_NODES="auto"))


def test_both_are_tried_if_the_faster_one_is_wanted(clean, openmpi4, entered):
    """A trial has 96 calls of each."""
    options = {"EVENKEEL_NODES": "auto", "EVENKEEL_REPORT": "/tmp/tried.json"}
    assert_passed(run_random_calls(clean, openmpi4, entered, "calls=20000", "seed=11", **options))
    carried, left = Counter(), Counter()
    for comm in communicators(read_report(clean, "/tmp/tried.json")):
        for entry in comm["ops"]:
            carried[entry["op"]] += entry["calls"]
            left[entry["op"]] += entry["host_calls"]
    for op in ("barrier", "bcast", "reduce", "allreduce"):
        assert carried[op] >= 96 and left[op] >= 96, (carried, left)


@pytest.mark.parametrize("percent", [2, 8])
def test_results_are_right_on_a_network_that_loses_packets(clean, openmpi4, entered, percent):
    """The agents ask each other for what is lost. Their own connections bear losses, too, and are slow."""
    clean.set_loss(percent)
    try:
        options = {"EVENKEEL_AGENT_COUNTS": "/tmp/counts", "EVENKEEL_NODE_PATIENCE_MS": "60000"}
        done = run_random_calls(clean, openmpi4, entered, "calls=300", "seed=4", "free=1", **options)
    finally:
        clean.set_loss(0)
    assert_passed(done)
    assert agents_messages(clean, "/tmp/counts") > 20


@pytest.mark.parametrize("threads, most", [(0, 400), (1, 8000)])
def test_agents_have_next_to_nothing_to_do_while_nothing_is_lost(clean, openmpi4, entered, threads, most):
    """They tell each other which communicators are over, and that they leave.

    And they ask for ranks that wait for long, as happens if 56 threads share a few cores. If they carried the
    calls they would send some 40,000 messages, and 300,000 with threads.
    """
    arguments = ["calls=2000", "seed=7", "longer=0", f"threads={threads}"]
    options = {"EVENKEEL_AGENT_COUNTS": "/tmp/idle"}
    began = time.monotonic()
    assert_passed(run_random_calls(clean, openmpi4, entered, *arguments, **options))
    assert agents_messages(clean, "/tmp/idle") <= most + may_ask_in(time.monotonic() - began, threads)


def may_ask_in(seconds, threads):
    """How many messages agents may send about ranks that wait because another one gets no core."""
    return 300 * (COMMUNICATORS if threads else 1) * seconds


def test_programs_in_python_need_no_agents_either(clean, openmpi4):
    """mpi4py asks for several threads in MPI."""
    if not openmpi4.python:
        pytest.skip("there is no mpi4py for Open MPI 4")
    program = [openmpi4.python, ROOT / "tests" / "programs" / "direct_allreduces.py"]
    environment = with_agents(openmpi4, EVENKEEL_AGENT_COUNTS="/tmp/python", **openmpi4.python_env)
    began = time.monotonic()
    done = run(clean, openmpi4, program, environment)
    assert done.returncode == 0 and "allreduces are right" in done.stdout, done.stderr
    assert agents_messages(clean, "/tmp/python") <= 400 + may_ask_in(time.monotonic() - began, threads=0)


@contextlib.contextmanager
def with_a_stopped_rank(rig, mpi, counters, op, stopped, rounds):
    """A program in which one rank stops itself before its next call; ends when it goes on."""
    program = [
        mpi.build("bypass.c"),
        counters.path,
        f"op={op}",
        f"stopped={stopped}",
        "bytes=8",
        f"rounds={rounds}",
    ]
    process = start(rig, mpi, program, with_agents(mpi))
    try:
        counters.wait_until(lambda now: now[stopped] == -1)
        yield
    finally:
        for host in rig.hosts:
            signal_all(set(host.processes()), signal.SIGCONT)
    output, errors = process.communicate(timeout=HUNG_S)
    assert process.returncode == 0 and "failures 0" in output, errors


@pytest.mark.parametrize("stopped", [1, 2, 3, 7])
def test_a_stopped_rank_holds_nobody_in_a_broadcast(clean, openmpi4, counters, stopped):
    with with_a_stopped_rank(clean, openmpi4, counters, "bcast", stopped, 20):
        seen = counters.wait_until(lambda now: sum(count == 20 for count in now) == RANKS - 1)
    assert all(seen[rank] == 20 for rank in range(RANKS) if rank != stopped), seen


@pytest.mark.parametrize("stopped", [0, 1, 2, 5])
def test_a_stopped_rank_holds_nobody_but_the_root_in_a_reduction(clean, openmpi4, counters, stopped):
    with with_a_stopped_rank(clean, openmpi4, counters, "reduce", stopped, 20):
        free = [rank for rank in range(1, RANKS) if rank != stopped]
        seen = counters.wait_until(lambda now: all(now[rank] == 20 for rank in free))
    assert all(seen[rank] == 20 for rank in free), seen
    assert seen[0] <= 0, f"the root has returned without a contribution: {seen}"


@pytest.mark.parametrize("stopped, partner", [(2, 3), (3, 2), (6, 7), (7, 6)])
def test_a_rank_that_is_stopped_while_it_reads_does_not_keep_the_network(
    clean, openmpi4, counters, stopped, partner
):
    """All wait for rank 0. Of the two ranks on a host one reads the network, and one is stopped."""
    with with_a_stopped_rank(clean, openmpi4, counters, "bcast", 0, 20):
        pids = {rank: pid for host in range(4) for rank, pid in ranks_on(clean, host, "bypass").items()}
        wait_for(lambda: all(state(pids[rank]) == "S" for rank in range(1, RANKS)), "ranks that sleep")
        os.kill(pids[stopped], signal.SIGSTOP)
        os.kill(pids[0], signal.SIGCONT)
        seen = counters.wait_until(lambda now: now[partner] == 20)
    assert seen[partner] == 20 and seen[stopped] == 0, seen


def ports_of_datagrams(rig):
    """For each host: the addresses of its sockets for datagrams (UDP)."""
    found = {}
    for name, (pid,) in agents(rig).items():
        lines = Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]
        places = [line.split()[1].split(":") for line in lines]
        found[name] = [(socket.inet_ntoa(bytes.fromhex(ip)[::-1]), int(port, 16)) for ip, port in places]
    return found


SENDS = """
import random, socket, sys
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sender, draw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), random.Random(1)
for _ in range(count):
    node = draw.randrange(4).to_bytes(4, "little")
    sender.sendto(node + draw.randbytes(draw.randrange(400)), (address, port))
"""


def test_datagrams_of_strangers_do_not_disturb_a_job(running_for_long):
    """Each host has one socket, at its own address. Another process on the network sends to it."""
    rig, process = running_for_long
    places = ports_of_datagrams(rig)
    assert [[ip for ip, _ in places[host.name]] for host in rig.hosts] == [
        [host.address] for host in rig.hosts
    ]
    for victim in (0, 2):
        address, port = places[f"h{victim}"][0]
        rig[3].run(["python3", "-c", SENDS, address, str(port), "20000"])
    output, errors = process.communicate(timeout=HUNG_S)
    assert process.returncode == 0 and "failures 0" in output, errors


@pytest.fixture
def running_for_long(clean, openmpi4, entered):
    """The rig, and a program of random collectives that takes some seconds."""
    program = [openmpi4.build("direct_collectives.c"), f"counters={entered.path}", "calls=20000", "late=5"]
    process = start(clean, openmpi4, program, with_agents(openmpi4))
    wait_for(lambda: any(count > 100 for count in entered.read()), "the program's first calls")
    return clean, process


def test_where_no_datagrams_come_through_the_agents_carry_all(clean, openmpi4, entered):
    """A firewall lets TCP through only. The job notices that when it starts."""
    for host in clean.hosts:
        host.run(["nft", "add", "table", "inet", "no_udp"])
        host.run(["nft", "add", "chain", "inet", "no_udp", "in", "{ type filter hook input priority 0; }"])
        host.run(["nft", "add", "rule", "inet", "no_udp", "in", "meta", "l4proto", "udp", "drop"])
    try:
        options = {"EVENKEEL_AGENT_COUNTS": "/tmp/blocked"}
        done = run_random_calls(clean, openmpi4, entered, "calls=300", "seed=6", **options)
    finally:
        for host in clean.hosts:
            host.run(["nft", "delete", "table", "inet", "no_udp"])
    assert_passed(done)
    assert agents_messages(clean, "/tmp/blocked") > 300


@pytest.mark.parametrize("nodes", ["agents", "auto"])
def test_where_agents_do_not_reach_each_other_the_library_carries_all(clean, openmpi4, entered, nodes):
    """A firewall closes the ports of the agents. That is noticed when the job starts, and it goes on."""
    for host in clean.hosts:
        host.run(["nft", "add", "table", "inet", "closed"])
        host.run(["nft", "add", "chain", "inet", "closed", "in", "{ type filter hook input priority 0; }"])
        host.run(["nft", "add", "rule", "inet", "closed", "in", "tcp", "dport", "20000-20099", "drop"])
    try:
        options = {"EVENKEEL_NODES": nodes, "EVENKEEL_PORTS": "20000-20099", "EVENKEEL_QUIET": "0"}
        done = run_random_calls(clean, openmpi4, entered, "calls=300", "seed=6", **options)
    finally:
        for host in clean.hosts:
            host.run(["nft", "delete", "table", "inet", "closed"])
    assert_passed(done)
    sentence = r"the agent on h\d has got no answer from the one on h\d; is there a firewall\?"
    assert re.search(sentence, done.stderr), done.stderr
    assert not any(agents(clean).values()), "agents are left"


def test_ranks_that_do_not_call_the_same_get_an_error(clean, openmpi4):
    program = [openmpi4.build("other_collective.c")]
    done = run(clean, openmpi4, program, with_agents(openmpi4))
    sentence = r"rank \d is in MPI_(Barrier|Bcast with 8 bytes) where a rank on h\d has called MPI_"
    assert done.returncode != 0 and re.search(sentence, done.stderr), done.stderr
