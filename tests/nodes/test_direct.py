"""Small collectives between hosts that ranks carry themselves, without their agents."""

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from agents import agents, wait_for
from counters import Counters
from evenkeel_rig.processes import signal_all
from on_hosts import RANKS, assert_passed, run, start, with_agents
from paths import BUILD
from processes import HUNG_S
from test_lost_agents import ranks_on

CALLS = 3000


@pytest.fixture
def counters():
    return Counters(BUILD / "counters", RANKS)


def run_random_calls(rig, mpi, counters, *arguments, **options):
    program = [mpi.build("direct_collectives.c"), f"counters={counters.path}", *arguments]
    return run(rig, mpi, program, with_agents(mpi, **options))


def agents_messages(rig, path):
    """Messages that the agents have sent to each other in a run with EVENKEEL_AGENT_COUNTS=path."""
    lines = [line for host in rig.hosts for line in host.path(path).read_text().splitlines()]
    return sum(json.loads(line)["sent"] for line in lines)


def test_results_are_right(clean, one_mpi_of_each_family, counters):
    assert_passed(run_random_calls(clean, one_mpi_of_each_family, counters, f"calls={CALLS}", "seed=1"))


@pytest.mark.parametrize("arguments", [["late=30"], ["free=1"], ["late=10", "free=1"]])
def test_results_are_right_if_ranks_are_late_and_communicators_are_freed(
    clean, openmpi4, counters, arguments
):
    assert_passed(run_random_calls(clean, openmpi4, counters, "calls=1500", "seed=2", *arguments))


def test_results_do_not_depend_on_who_carries_the_calls(clean, openmpi4, counters):
    runs = [
        run_random_calls(clean, openmpi4, counters, "calls=500", "seed=3", EVENKEEL_DIRECT=direct)
        for direct in ("auto", "off")
    ]
    assert len({assert_passed(done) for done in runs}) == 1


@pytest.mark.parametrize("percent", [2, 8])
def test_results_are_right_on_a_network_that_loses_packets(clean, openmpi4, counters, percent):
    """The agents ask each other for what is lost. Their own connections bear losses, too, and are slow."""
    clean.set_loss(percent)
    try:
        options = {"EVENKEEL_AGENT_COUNTS": "/tmp/counts", "EVENKEEL_NODE_PATIENCE_MS": "60000"}
        done = run_random_calls(clean, openmpi4, counters, "calls=300", "seed=4", "free=1", **options)
    finally:
        clean.set_loss(0)
    assert_passed(done)
    assert agents_messages(clean, "/tmp/counts") > 20


def test_agents_have_nothing_to_do_while_nothing_is_lost(clean, openmpi4, counters):
    """They say only that they leave."""
    program = [openmpi4.build("bypass.c"), counters.path, "op=allreduce", "stopped=-1", "rounds=500"]
    environment = with_agents(openmpi4, EVENKEEL_AGENT_COUNTS="/tmp/idle")
    assert_passed(run(clean, openmpi4, program, environment))
    assert agents_messages(clean, "/tmp/idle") <= 3 * 4


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
