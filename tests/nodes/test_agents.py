"""Collectives between hosts by agents: right answers, nobody waits for what it need not, and what happens when something dies."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import mpis
from evenkeel_rig.rig import signal_all
from test_bypass import Counters
from test_programs_on_hosts import line, record, run, verdict
from test_programs_on_hosts import shim as plain_shim


def shim(mpi, **more):
    return plain_shim(mpi, **{"EVENKEEL_NODES": "agents", **more})


def agents(rig):
    """Process ids, on each host, of its agents."""
    return {
        host.name: [pid for pid, name in host.processes().items() if "evenkeel-agent" in name]
        for host in rig.hosts
    }


def calls(rig, path, across):
    """By operation: calls that evenkeel carried out, and that it left to the library, on communicators across hosts."""
    found = {}
    for rank in record(rig, path)["ranks"]:
        for comm in rank["comms"]:
            if (len(comm["members"]) == 8) == across:
                for op in comm["ops"]:
                    ours, host = found.get(op["op"], (0, 0))
                    found[op["op"]] = (ours + op["calls"], host + op["host_calls"])
    return found


def start(rig, mpi, program, environment):
    """A program that goes on by itself."""
    command = rig[0].command(line(mpi, environment, [str(word) for word in program]), mpis.ROOT)
    return subprocess.Popen(
        command,
        env=rig[0].environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds, what):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"{what} within {seconds} s"
        time.sleep(0.02)


def end(rig):
    """Kills all of the program on all hosts, but for its agents: they are to end by themselves."""

    def others():
        kept = {pid for pids in agents(rig).values() for pid in pids}
        return {pid for host in rig.hosts for pid in host.processes()} - kept

    until = time.monotonic() + 10
    while others() and time.monotonic() < until:
        signal_all(others(), signal.SIGKILL)
        time.sleep(0.02)
    wait_for(lambda: not any(agents(rig).values()), 10, "no agent left")
    for host in rig.hosts:  # what Open MPI leaves there when it is killed
        for file in pathlib.Path(f"/proc/{host.pid}/root/dev/shm").glob("vader_segment.*"):
            file.unlink()


@pytest.fixture
def running(clean, openmpi4):
    """A program of endless allreduces over all hosts, under way."""
    process = start(clean, openmpi4, [openmpi4.build("killed_rank.c"), "victim=-1"], shim(openmpi4))
    wait_for(lambda: all(agents(clean).values()), 20, "an agent on every host")
    time.sleep(0.5)
    yield clean, process
    end(clean)
    process.communicate()


def test_collectives_between_hosts_are_evenkeels(clean, mpi):
    """All that agents can carry is carried by them, whatever the root, the type and the form, and is right."""
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("what agents do does not depend on the library's version: one Open MPI and one MPICH do")
    plain = [] if mpi.family == "mpich" else ["plain=1"]
    verdict(
        run(
            clean,
            mpi,
            [mpi.build("matrix.c"), "n=200", "seed=6", *plain],
            shim(mpi, EVENKEEL_REPORT="/tmp/agents.json"),
        )
    )
    found = calls(clean, "/tmp/agents.json", across=True)
    carried = [
        op
        for op in ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
        if found.get(op, (0, 0))[0] > 0
    ]
    assert len(carried) >= 5, found
    assert any(ours > 0 for op, (ours, _) in found.items() if op.startswith("i")), found


SPANNING = ["reduce_scatter", "reduce_scatter_block", "scan", "exscan", "allgatherv"]


def test_parts_of_the_ranks_own(clean, mpi):
    """Collectives in which ranks have parts of their own, on communicators whose ranks lie on the hosts in three different orders: all are the agents', and right."""
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("what agents do does not depend on the library's version: one Open MPI and one MPICH do")
    program = [mpi.build("spanning.c"), "n=400", "stall=8", "kinds=" + ",".join(SPANNING)]
    verdict(run(clean, mpi, program, shim(mpi, EVENKEEL_REPORT="/tmp/spanning.json")))
    found = calls(clean, "/tmp/spanning.json", across=True)
    for op in (form + kind for kind in SPANNING for form in ("", "i")):
        ours, host = found.get(op, (0, 0))
        if op.endswith("scan"):  # where ranks are dealt out in turn, the library is asked
            assert ours > host > 0, found
        else:
            assert ours > 0 and host == 0, found


def test_sums_have_the_same_bits_in_every_run(clean, openmpi4):
    """Whoever comes late: sums of fractions are grouped alike."""
    program = [openmpi4.build("spanning.c"), "n=200", "stall=4", "seed=9", "kinds=" + ",".join(SPANNING)]
    done = [run(clean, openmpi4, program, shim(openmpi4)) for _ in range(2)]
    for one in done:
        verdict(one)
    assert len({re.search(r"digest (\w+)", one.stdout).group(1) for one in done}) == 1


@pytest.mark.parametrize("op, stopped", [("scan", 5), ("exscan", 5), ("scan", 4), ("scan", 7), ("exscan", 1)])
def test_nobody_waits_for_who_is_above(clean, openmpi4, op, stopped):
    """A stopped rank holds nobody below it in a scan, on its own host or another. Counters as in test_bypass."""
    counters = Counters(mpis.BUILD / "counters", 8)
    process = start(
        clean,
        openmpi4,
        [openmpi4.build("bypass.c"), counters.path, f"op={op}", f"stopped={stopped}"],
        shim(openmpi4),
    )
    try:
        counters.wait_until(lambda now: now[stopped] == -1, 30)
        seen = counters.wait_until(lambda now: all(now[rank] == 2 for rank in range(stopped)), 15)
    finally:
        for host in clean.hosts:
            signal_all(set(host.processes()), signal.SIGCONT)
    output, errors = process.communicate(timeout=30)
    assert all(seen[rank] == 2 for rank in range(stopped)), (
        f"some were held while rank {stopped} was stopped: {seen}"
    )
    assert all(seen[rank] == 0 for rank in range(stopped + 1, 8)), (
        f"these cannot have had their results: {seen}"
    )
    assert process.returncode == 0 and "failures 0" in output, errors


def test_without_agents_the_library_has_them(clean, openmpi4):
    verdict(
        run(
            clean,
            openmpi4,
            [openmpi4.build("several_hosts.c"), "rounds=20"],
            shim(openmpi4, EVENKEEL_NODES="library", EVENKEEL_REPORT="/tmp/off.json"),
        )
    )
    found = calls(clean, "/tmp/off.json", across=True)
    assert found["allreduce"][0] == 0 and found["allreduce"][1] > 0, found


@pytest.mark.parametrize("seed", [2, 7])
def test_random_scenarios(clean, mpi, seed):
    """Communicators that come and go, overlapping operations, stalls: against a serial oracle. Sizes are small: MPICH's own MPI_Allgatherv is wrong
    between hosts where ranks describe large blocks by different types."""
    if mpi.name != "mpich5":
        pytest.skip(
            "what agents do does not depend on the library; Open MPI's own operations go wrong between hosts where ranks describe blocks by different types"
        )
    program = [mpi.build("random.c"), f"seed={seed}", "steps=150", "hosts=1", "largest=100"]
    verdict(
        run(
            clean,
            mpi,
            program,
            shim(
                mpi,
                MPIR_CVAR_CH4_PROGRESS_THROTTLE="1",
                MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT="1",
            ),
            timeout=100,
        )
    )


def test_many_communicators(clean, openmpi4):
    """More duplicates than the mailbox for them has entries; agents give up what ranks have freed."""
    verdict(
        run(
            clean,
            openmpi4,
            [openmpi4.build("communicator_churn.c"), "rounds=150", "hoard=70"],
            shim(openmpi4),
            timeout=100,
        )
    )


def held(rig, mpi, *arguments):
    """Runs `held` with one rank on each host, so that a late one is alone on its own; the output, or what the launcher said."""
    environment = shim(mpi, EVENKEEL_BARRIER="strict")
    words = line(
        mpi, environment, [str(mpi.build("late_broadcast.c")), *arguments], hosts="h0:1,h1:1,h2:1,h3:1"
    )
    words[words.index("-n") + 1] = "4"
    return rig[0].run(words, cwd=mpis.ROOT, timeout=40, check=False)


@pytest.mark.parametrize("size, calls", [(65536, 3), (1 << 20, 1)])
def test_a_late_rank_holds_nobody_below_it(clean, openmpi4, size, calls):
    """Rank 1's node passes broadcasts on to rank 3's, though no rank there has called them."""
    done = held(clean, openmpi4, "late=1", "ms=600", f"bytes={size}", f"calls={calls}")
    verdict(done)
    assert float(re.search(r"HELD ([0-9.]+)", done.stdout).group(1)) < 300, done.stdout


@pytest.mark.parametrize("late, here, elsewhere", [(1, 65528, 65536), (0, 65536, 65528)])
def test_ranks_that_call_another_broadcast_are_told(clean, openmpi4, late, here, elsewhere):
    """What comes to be passed on is not what the ranks there ask for, later or before: a sentence instead of wrong data."""
    done = held(clean, openmpi4, f"late={late}", "ms=200", "bytes=65536", "calls=1", "less=8")
    assert done.returncode != 0 and "RESULT" not in done.stdout
    said = rf"a rank here has called MPI_Bcast of {here} bytes .* another node's ranks have called MPI_Bcast of {elsewhere} bytes"
    assert re.search(said, done.stderr), done.stderr


def test_a_killed_agent_is_named(running):
    rig, process = running
    victim = agents(rig)["h2"][0]
    os.kill(victim, signal.SIGKILL)
    _, said = process.communicate(timeout=20)
    assert (
        re.search(r"this node's agent \(process \d+\) has died while rank [45] waits", said)
        or "node h2 (ranks 4, 5) " in said
    ), said
    assert process.returncode != 0


def test_a_node_that_is_cut_off_is_named(running):
    rig, process = running
    rig[3].unplug()
    began = time.monotonic()
    try:
        said = ""
        while "ending this job" not in said and time.monotonic() < began + 15:
            said += process.stderr.readline()
        took = time.monotonic() - began
        assert re.search(
            r"node h\d \(ranks [\d, ]+\) (has not been heard of for 2000 ms|cannot be reached any more)", said
        ), said
        assert took < 6, f"{took:.1f} s"
    finally:
        rig[3].plug_in()


def test_slow_is_not_lost(running):
    """A host whose processes all stand still for a second is not taken for a lost one."""
    rig, process = running
    rig[1].freeze()
    time.sleep(1.0)
    rig[1].thaw()
    time.sleep(1.5)
    assert process.poll() is None


def test_an_agent_with_nothing_to_do_takes_no_time(clean, openmpi4):
    """Ranks that compute, and call nothing for a second: by the kernel's count agents take no tick of processor time."""
    process = start(clean, openmpi4, [openmpi4.build("long_computation.c"), "ms=2500"], shim(openmpi4))
    wait_for(lambda: all(agents(clean).values()), 20, "an agent on every host")
    time.sleep(0.7)

    def ticks():
        stats = [
            open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
            for host in clean.hosts
            for pid in agents(clean)[host.name]
        ]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats), len(stats)

    before = ticks()
    time.sleep(1.0)
    assert ticks() == before and before[1] == 4
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and "failures 0" in output, errors


def test_memory_of_an_agent_is_bounded(running):
    rig, _ = running
    for host in rig.hosts:
        for pid in agents(rig)[host.name]:
            status = open(f"/proc/{pid}/status").read()
            private = sum(
                int(re.search(rf"{kind}:\s+(\d+) kB", status).group(1)) for kind in ("RssAnon", "RssShmem")
            )
            assert private < 32 * 1024, status


def test_json_names_no_host_reason_for_communicators_across_hosts(clean, openmpi4):
    verdict(
        run(
            clean,
            openmpi4,
            [openmpi4.build("several_hosts.c"), "rounds=5"],
            shim(openmpi4, EVENKEEL_REPORT="/tmp/why.json"),
        )
    )
    world = [
        comm
        for rank in record(clean, "/tmp/why.json")["ranks"]
        for comm in rank["comms"]
        if len(comm["members"]) == 8
    ]
    assert world and all(comm["host_reason"] == "" for comm in world), json.dumps(world[:1])


def test_survivors_of_a_rank_go_on_on_all_hosts(clean):
    """With --with-ft the library has what spans hosts, and nobody is ended: a rank of h1 dies, its mate there is told, and all others go on."""
    mpi = next(m for m in mpis.ALL if m.name == "openmpi5")
    if mpi.absent():
        pytest.skip(mpi.absent())
    words = line(mpi, shim(mpi), [str(mpi.build("survivors.c")), "victim=3"])
    done = clean[0].run([words[0], "--with-ft", "ulfm", *words[1:]], cwd=mpis.ROOT, timeout=40, check=False)
    assert re.search(r"SURVIVORS 7 RESULT checks 8 failures 0", done.stdout), (
        f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
