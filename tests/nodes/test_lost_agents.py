"""When an agent, a host or a rank is lost, the job ends and names it. A slow one does not count as lost."""

import contextlib
import os
import re
import select
import signal
import threading
import time
from pathlib import Path

import pytest

from agents import agents, kill_all_but_agents, wait_for_agents, wait_for_sleeping_agents
from mpis import FAULT_TOLERANCE, KEEP_JOB_AFTER_DEATH
from on_hosts import launcher, read_lines, start, with_agents
from paths import ROOT
from processes import HUNG_S


@contextlib.contextmanager
def ended_if_it_hangs(rig, process):
    """Ends the program, and so its output, behind the test or when it has taken too long."""
    guard = threading.Timer(HUNG_S, lambda: kill_all_but_agents(rig))
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        guard.join()
        kill_all_but_agents(rig)
        process.communicate()


@contextlib.contextmanager
def endless_allreduces(rig, mpi, **options):
    """A program of endless allreduces over all hosts, which has begun."""
    program = [mpi.build("killed_rank.c"), "victim=-1"]
    environment = with_agents(mpi, **{"EVENKEEL_NODE_PATIENCE_MS": "2000", **options})
    with ended_if_it_hangs(rig, start(rig, mpi, program, environment)) as process:
        wait_for_agents(rig, process)
        read_lines(process.stderr, "RUNNING")
        yield process


@pytest.fixture
def running(clean, openmpi4):
    """The rig, and such a program."""
    with endless_allreduces(clean, openmpi4) as process:
        yield clean, process


def assert_agent_of_h2_is_named(process):
    _, said = process.communicate(timeout=HUNG_S)
    by_its_ranks = re.search(r"this node's agent \(process \d+\) has died while rank [45] waits", said)
    assert by_its_ranks or "node h2 (ranks 4, 5) " in said, said
    assert process.returncode != 0


def test_a_killed_agent_is_named(clean, openmpi4):
    with endless_allreduces(clean, openmpi4, EVENKEEL_DIRECT="off") as process:
        os.kill(agents(clean)["h2"][0], signal.SIGKILL)
        assert_agent_of_h2_is_named(process)


def test_ranks_that_carry_collectives_themselves_need_no_agent_until_they_wait(running):
    rig, process = running
    os.kill(agents(rig)["h2"][0], signal.SIGKILL)
    read_lines(process.stderr, "RUNNING", 20)
    os.kill(ranks_on(rig, 0)[0], signal.SIGSTOP)
    try:
        assert_agent_of_h2_is_named(process)
    finally:
        kill_all_but_agents(rig)


def first_sentence(process):
    """The first line in which evenkeel says why the job ends, or "" if the launcher ended it before."""
    _, said = process.communicate(timeout=HUNG_S)
    return next((line for line in said.splitlines() if "ending this job" in line), ""), said


def names(sentence, rank):
    """Whether a sentence names this rank as dead. On its host another rank may see it before the agent."""
    return re.search(rf"rank {rank} (on h{rank // 2}|\(process \d+\)) has died", sentence)


def ranks_on(rig, number, program="killed_rank"):
    """Process ids of the program on a host, by rank."""
    found = {}
    for pid, words in rig[number].processes().items():
        if program in words and "mpirun" not in words and "orted" not in words:
            with contextlib.suppress(OSError):  # it may end meanwhile
                environment = Path(f"/proc/{pid}/environ").read_bytes()
                if rank := re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment):
                    found[int(rank.group(1))] = pid
    return found


@pytest.mark.parametrize("victim", [0, 3, 6, 7])
@pytest.mark.parametrize("trial", range(3))
def test_of_ranks_that_die_on_several_hosts_the_first_is_named(running, victim, trial):
    """The test kills ranks of other hosts, as launchers do, as soon as one has died by itself.

    It waits for that death as a launcher does: a process that is killed dies only when it gets a core.
    """
    del trial
    rig, process = running
    pids = {rank: pid for host in range(4) for rank, pid in ranks_on(rig, host).items()}
    assert sorted(pids) == list(range(8)), pids
    others = [rank for rank in (1, 2, 4, 5) if rank != victim]
    watched = os.pidfd_open(pids[victim])
    os.kill(pids[victim], signal.SIGKILL)
    select.select([watched], [], [])
    os.close(watched)
    for rank in others:
        os.kill(pids[rank], signal.SIGKILL)
    sentence, said = first_sentence(process)
    assert not sentence or names(sentence, victim), said
    named = re.findall(r"evenkeel: rank (\d+)", said)
    assert set(named) <= {str(victim)}, said


@contextlib.contextmanager
def started_for_good(rig, mpi, program, **options):
    """A program whose launcher leaves the job alone when processes end, and may not end itself."""
    environment, keep = with_agents(mpi, **options), KEEP_JOB_AFTER_DEATH["openmpi"]
    with ended_if_it_hangs(rig, start(rig, mpi, program, environment, keep)) as process:
        yield process


def test_a_death_is_named_before_a_later_one_also_if_its_agent_is_slow_to_tell(clean, openmpi4):
    """Rank 3 dies while the cable of its host is pulled, rank 4 dies later on another host: 3 is named.

    The other agents wait for the answer of that host as long as it does not count as lost.
    """
    program = [openmpi4.build("killed_rank.c"), "victim=-1"]
    with started_for_good(clean, openmpi4, program, EVENKEEL_NODE_PATIENCE_MS="60000") as process:
        wait_for_agents(clean, process)
        read_lines(process.stderr, "RUNNING")
        pids = {rank: pid for host in range(4) for rank, pid in ranks_on(clean, host).items()}
        clean[1].unplug()
        try:
            end_of_first = os.pidfd_open(pids[3])
            os.kill(pids[3], signal.SIGKILL)
            select.select([end_of_first], [], [])
            os.close(end_of_first)
            time.sleep(0.5)
            os.kill(pids[4], signal.SIGKILL)
            time.sleep(5.5)
        finally:
            clean[1].plug_in()
        said = read_lines(process.stderr, "ending this job", 4)  # one sentence on each host
    assert set(re.findall(r"rank (\d) on h\d has died", said)) == {"3"}, said


@pytest.mark.parametrize("victim", [1, 4])
def test_ranks_that_evenkeel_ends_are_not_named(clean, openmpi4, victim):
    """The launcher leaves the job alone: evenkeel ends all ranks, and all say which one had died."""
    program = [openmpi4.build("killed_rank.c"), f"victim={victim}"]
    with started_for_good(clean, openmpi4, program) as process:
        said, ending = "", []
        while len(ending) < 4 and (line := process.stderr.readline()):  # one sentence on each host
            said += line
            ending += [line] if "ending this job" in line else []
    assert len(ending) == 4, said
    assert all(names(line, victim) for line in ending), said


@pytest.mark.parametrize("victim", [1, 7])
def test_the_launcher_ends_after_the_ranks_also_if_it_leaves_jobs_alone(clean, openmpi4, victim):
    """Open MPI 4's waits for ever then, also without evenkeel: evenkeel ends it."""
    program = [openmpi4.build("killed_rank.c"), f"victim={victim}"]
    options = KEEP_JOB_AFTER_DEATH["openmpi"]
    words = launcher(openmpi4, with_agents(openmpi4), program, options=options)
    done = clean[0].run(words, cwd=ROOT, timeout=HUNG_S, check=False)
    assert done.returncode != 0, done.stderr
    assert f"rank {victim} on h{victim // 2} has died" in done.stderr, done.stderr


def test_a_killed_agent_ends_no_rank_by_a_signal(clean, openmpi4, enough):
    """Ranks that write to a sleeping agent which is gone are told by evenkeel, not by SIGPIPE."""
    computing = [openmpi4.build("long_computation.c"), f"until={enough}"]
    program = ["sh", "-c", '"$@"; echo "status $?"', "sh", *computing]
    with started_for_good(clean, openmpi4, program, EVENKEEL_DIRECT="off") as process:
        wait_for_agents(clean, process)
        read_lines(process.stderr, "COMPUTING", 8)  # the first collective is over
        wait_for_sleeping_agents(clean)
        os.kill(agents(clean)["h2"][0], signal.SIGKILL)
        enough.touch()
        statuses = []
        while len(statuses) < 8 and (line := process.stdout.readline()):
            statuses += re.findall(r"status (\d+)", line)
    assert statuses == ["71"] * 8, statuses


def test_a_node_whose_cable_is_pulled_is_named(running):
    rig, process = running
    rig[3].unplug()
    try:
        said = read_lines(process.stderr, "ending this job")
        reasons = "has not been heard of for 2000 ms|cannot be reached any more"
        assert re.search(rf"node h\d \(ranks [\d, ]+\) ({reasons})", said), said
    finally:
        rig[3].plug_in()


def test_a_host_that_is_stopped_for_a_while_does_not_count_as_lost(clean, openmpi4):
    """Even if the machine is so busy that it is stopped for some seconds longer than the test wants."""
    with endless_allreduces(clean, openmpi4, EVENKEEL_NODE_PATIENCE_MS="15000") as process:
        clean[1].freeze()
        time.sleep(5.0)
        thawed = time.monotonic()
        clean[1].thaw()
        said = ""
        while not re.search(r"^RUNNING", said) or float(said.split()[1]) < thawed:
            said = process.stderr.readline()
            assert said and "evenkeel" not in said, said + process.stderr.read()


def test_the_memory_of_an_agent_is_bounded(running):
    rig, _ = running
    for pid in (pid for on_host in agents(rig).values() for pid in on_host):
        status = Path(f"/proc/{pid}/status").read_text()
        kinds = [re.search(rf"{kind}:\s+(\d+) kB", status).group(1) for kind in ("RssAnon", "RssShmem")]
        assert sum(map(int, kinds)) < 32 * 1024, status


def test_survivors_on_all_hosts_go_on_where_the_library_reports_failures(clean, openmpi5):
    """With --with-ft the library carries out what spans hosts, and evenkeel ends no rank.

    A rank of h1 dies, the other rank there gets the library's error, and all others go on. On a busy machine
    the launcher of Open MPI 5.0.11 takes a rank of another host along now and then, also without evenkeel.
    """
    program = [openmpi5.build("survivors.c"), "victim=3"]
    words = launcher(openmpi5, with_agents(openmpi5), program, options=FAULT_TOLERANCE)
    for _ in range(6):
        done = clean[0].run(words, cwd=ROOT, timeout=HUNG_S, check=False)
        if "SURVIVORS 6 " not in done.stdout:
            break
        print("the launcher has lost another rank; run again")
    assert re.search(r"SURVIVORS 7 RESULT checks 8 failures 0", done.stdout), (
        f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
