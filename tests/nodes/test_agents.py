"""Collectives between hosts that agents carry out: results are right, and no rank waits without need.

test_lost_agents.py tests what happens when an agent, a host or a rank is lost.
"""

import json
import re
import signal
import time
from pathlib import Path

import pytest

from agents import agents, wait_for_agents
from counters import Counters
from evenkeel_rig.processes import signal_all
from on_hosts import (
    assert_passed,
    calls_between_hosts,
    launcher,
    read_lines,
    read_report,
    run,
    shim,
    start,
    with_agents,
)
from paths import BUILD, ROOT
from processes import HUNG_S, communicators, until

SPANNING = ["reduce_scatter", "reduce_scatter_block", "scan", "exscan", "allgatherv"]


def test_agents_carry_out_all_collectives_that_they_can(clean, one_mpi_of_each_family):
    """For every root, type and form. The results are right, too."""
    mpi = one_mpi_of_each_family
    plain = [] if mpi.family == "mpich" else ["plain=1"]
    program = [mpi.build("matrix.c"), "n=200", "seed=6", *plain]
    assert_passed(run(clean, mpi, program, with_agents(mpi, EVENKEEL_REPORT="/tmp/agents.json")))
    found = calls_between_hosts(clean, "/tmp/agents.json")
    expected = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
    carried_out = [op for op in expected if found.get(op, (0, 0))[0] > 0]
    assert len(carried_out) >= 5, found
    assert any(ours > 0 for op, (ours, _) in found.items() if op.startswith("i")), found


def test_collectives_with_a_different_part_for_each_rank_are_right(clean, one_mpi_of_each_family):
    """On communicators whose ranks lie on the hosts in three different orders; all are right.

    Agents carry out all of them, except scans where ranks are dealt out to hosts in turn.
    """
    mpi = one_mpi_of_each_family
    program = [mpi.build("spanning.c"), "n=400", "stall=8", "kinds=" + ",".join(SPANNING)]
    assert_passed(run(clean, mpi, program, with_agents(mpi, EVENKEEL_REPORT="/tmp/spanning.json")))
    found = calls_between_hosts(clean, "/tmp/spanning.json")
    for op in (form + kind for kind in SPANNING for form in ("", "i")):
        ours, hosts = found.get(op, (0, 0))
        if op.endswith("scan"):
            assert ours > hosts > 0, found
        else:
            assert ours > 0 and hosts == 0, found


def test_sums_of_fractions_have_the_same_bits_in_every_run(clean, openmpi4):
    """They are grouped in the same way in whatever order ranks arrive."""
    program = [openmpi4.build("spanning.c"), "n=200", "stall=4", "seed=9", "kinds=" + ",".join(SPANNING)]
    runs = [run(clean, openmpi4, program, with_agents(openmpi4)) for _ in range(2)]
    assert len({assert_passed(done) for done in runs}) == 1


@pytest.mark.parametrize("op, stopped", [("scan", 5), ("exscan", 5), ("scan", 4), ("scan", 7), ("exscan", 1)])
def test_a_stopped_rank_holds_no_lower_rank_in_a_scan(clean, openmpi4, op, stopped):
    """This holds on its own host and on the others. Progress is read from counters, as in test_bypass.py."""
    counters = Counters(BUILD / "counters", 8)
    program = [openmpi4.build("bypass.c"), counters.path, f"op={op}", f"stopped={stopped}"]
    process = start(clean, openmpi4, program, with_agents(openmpi4))
    try:
        counters.wait_until(lambda now: now[stopped] == -1)
        seen = counters.wait_until(lambda now: all(now[rank] == 2 for rank in range(stopped)))
    finally:
        for host in clean.hosts:
            signal_all(set(host.processes()), signal.SIGCONT)
    output, errors = process.communicate(timeout=HUNG_S)
    lower, higher = range(stopped), range(stopped + 1, 8)
    assert all(seen[rank] == 2 for rank in lower), f"some were held while rank {stopped} was stopped: {seen}"
    assert all(seen[rank] == 0 for rank in higher), f"some returned without their results: {seen}"
    assert process.returncode == 0 and "failures 0" in output, errors


def test_without_agents_the_library_carries_collectives_between_hosts(clean, openmpi4):
    environment = shim(openmpi4, EVENKEEL_NODES="library", EVENKEEL_REPORT="/tmp/off.json")
    assert_passed(run(clean, openmpi4, [openmpi4.build("several_hosts.c"), "rounds=20"], environment))
    found = calls_between_hosts(clean, "/tmp/off.json")
    assert found["allreduce"][0] == 0 and found["allreduce"][1] > 0, found


@pytest.mark.parametrize("nodes", ["agents", "auto"])
@pytest.mark.parametrize("seed", [2, 7])
def test_random_operations_are_right(clean, mpich5, seed, nodes):
    """It runs under MPICH only: Open MPI's own results are wrong between hosts if ranks' datatypes differ.

    Blocks are small, since MPICH's own MPI_Allgatherv is wrong there with large ones.
    """
    program = [mpich5.build("random.c"), f"seed={seed}", "steps=150", "hosts=1", "largest=100"]
    yielding = {
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    }
    assert_passed(run(clean, mpich5, program, with_agents(mpich5, EVENKEEL_NODES=nodes, **yielding)))


@pytest.mark.parametrize("nodes", ["agents", "auto"])
@pytest.mark.parametrize("kib", [20, 100, 400])
def test_blocks_of_different_lengths_are_carried_by_the_same_for_all_ranks(clean, openmpi4, kib, nodes):
    program = [openmpi4.build("unequal_blocks.c"), f"bytes={kib << 10}", "rounds=15"]
    assert_passed(run(clean, openmpi4, program, with_agents(openmpi4, EVENKEEL_NODES=nodes)))


def test_there_may_be_more_communicators_than_mailbox_entries(clean, openmpi4):
    """Agents forget the communicators that ranks have freed."""
    program = [openmpi4.build("communicator_churn.c"), "rounds=150", "hoard=70"]
    assert_passed(run(clean, openmpi4, program, with_agents(openmpi4)))


def run_late_broadcast(rig, mpi, *arguments):
    """Runs late_broadcast.c with one rank on each host: a late rank is alone on its host."""
    environment = with_agents(mpi, EVENKEEL_BARRIER="strict")
    program = [mpi.build("late_broadcast.c"), *arguments]
    words = launcher(mpi, environment, program, hosts="h0:1,h1:1,h2:1,h3:1", ranks=4)
    return rig[0].run(words, cwd=ROOT, timeout=HUNG_S, check=False)


@pytest.mark.parametrize("size, calls", [(65536, 3), (1 << 20, 1)])
def test_a_late_rank_holds_no_rank_below_it_in_a_broadcast(clean, openmpi4, size, calls):
    """The agent of rank 1's node forwards to rank 3's node before any rank on its own has called.

    Rank 1 calls when all others have returned.
    """
    counters = Counters(BUILD / "counters", 4)
    arguments = [f"counters={counters.path}", "late=1", f"bytes={size}", f"calls={calls}"]
    assert_passed(run_late_broadcast(clean, openmpi4, *arguments))


@pytest.mark.parametrize("late, here, elsewhere", [(1, 65528, 65536), (0, 65536, 65528)])
def test_ranks_whose_broadcasts_differ_in_size_get_an_error(clean, openmpi4, late, here, elsewhere):
    """They get no wrong data, whether the data come before the ranks' call or after it."""
    done = run_late_broadcast(clean, openmpi4, f"late={late}", "ms=200", "bytes=65536", "calls=1", "less=8")
    assert done.returncode != 0 and "RESULT" not in done.stdout
    said = (
        rf"a rank here has called MPI_Bcast of {here} bytes .* "
        rf"another node's ranks have called MPI_Bcast of {elsewhere} bytes"
    )
    assert re.search(said, done.stderr), done.stderr


def processor_ticks(rig):
    """Ticks of processor time that each agent has taken."""
    pids = [pid for on_host in agents(rig).values() for pid in on_host]
    stats = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return [int(stat[11]) + int(stat[12]) for stat in stats]


def test_an_agent_without_work_takes_no_processor_time(clean, openmpi4, enough):
    """Ranks compute and call nothing. An agent that polls takes a share of its core, also of a busy one."""
    program = [openmpi4.build("long_computation.c"), f"until={enough}"]
    process = start(clean, openmpi4, program, with_agents(openmpi4))
    wait_for_agents(clean, process)
    read_lines(process.stderr, "COMPUTING", 8)
    before = processor_ticks(clean)
    assert len(before) == 4

    def have_rested():
        """For a second. It may take them a moment to fall asleep."""
        nonlocal before
        time.sleep(1.0)
        earlier, before = before, processor_ticks(clean)
        return all(now - then <= 1 for now, then in zip(before, earlier, strict=True))

    rested = until(have_rested, 60)
    enough.touch()
    output, errors = process.communicate(timeout=HUNG_S)
    assert rested, f"ticks of the agents: {before}"
    assert process.returncode == 0 and "failures 0" in output, errors


def test_the_report_gives_no_reason_for_the_host_library_on_communicators_between_hosts(clean, openmpi4):
    environment = with_agents(openmpi4, EVENKEEL_REPORT="/tmp/why.json")
    assert_passed(run(clean, openmpi4, [openmpi4.build("several_hosts.c"), "rounds=5"], environment))
    entries = communicators(read_report(clean, "/tmp/why.json"))
    world = [comm for comm in entries if len(comm["members"]) == 8]
    assert world and all(comm["host_reason"] == "" for comm in world), json.dumps(world[:1])
