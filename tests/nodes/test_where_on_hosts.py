"""`evenkeel where` and `evenkeel run --timeout` and `--deadlock` for jobs on several hosts.

Hosts do not see each other's processes as their own: what is said of other hosts came through a remote shell.
"""

import json
import re
import subprocess

import pytest

from agents import kill_all_but_agents
from evenkeel_rig.paths import RSH
from on_hosts import shim, start
from paths import EVENKEEL, ROOT
from processes import HUNG_S, until

HOSTS = "h0:2,h1:2,h2:2,h3:2"

# Without messages from any source: MPICH 5.0 may hang in these between virtual hosts, also without evenkeel.
CIRCLE = ["what=circle", "exchange=0"]


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def where(host, *options):
    """What is said on a host; None if the job cannot be looked at from there."""
    done = host.run([EVENKEEL, "where", "--json", *options], cwd=ROOT, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def text(host, *options):
    done = host.run([EVENKEEL, "where", *options], cwd=ROOT, check=False)
    return " ".join((done.stdout + done.stderr).split())


def sentences(seen, kind):
    return [it["sentence"] for it in (seen or {}).get("findings", []) if it["kind"] == kind]


@pytest.fixture
def hanging(clean):
    """Starts a job that hangs, and waits until it is said why."""
    started = []

    def hang(mpi, *arguments, kind, pattern, environment=None, look_on=0, program="hang.c"):
        process = start(clean, mpi, [mpi.build(program), *arguments], shim(mpi, **(environment or {})))
        started.append(process)

        def said():
            seen = where(clean[look_on])
            return [seen for sentence in sentences(seen, kind) if re.search(pattern, sentence)]

        found = until(said)
        assert found, (where(clean[look_on]), process.poll())
        return found[0]

    yield hang
    kill_all_but_agents(clean)
    for process in started:
        process.communicate(timeout=HUNG_S)


@pytest.mark.parametrize("look_on", [0, 3])
def test_a_deadlock_between_hosts_is_proved_on_each_of_them(hanging, one_mpi_of_each_family, look_on):
    seen = hanging(
        one_mpi_of_each_family,
        *CIRCLE,
        kind="deadlock",
        pattern=r"^Ranks 0, 1 and 2 wait for each other in MPI_Recv \(0 .* for 1; 1 .* for 2; 2 .* for 0\)",
        look_on=look_on,
    )
    assert seen["deadlock"] and not seen["left_out"]
    assert [rank["host"] for rank in seen["ranks"]] == ["h0", "h0", "h1", "h1", "h2", "h2", "h3", "h3"]


@pytest.mark.parametrize("op", ["barrier", "allreduce", "bcast"])
def test_a_rank_that_does_not_come_to_a_collective_of_the_library_is_named(hanging, openmpi4, op):
    victim = 7 if op == "bcast" else 2  # the root of the broadcast
    seen = hanging(
        openmpi4,
        "what=missing",
        f"op={op}",
        f"victim={victim}",
        "until=",
        kind="missing",
        pattern=rf"^Rank {victim} has not called MPI_{op.capitalize()} on world \(8 ranks\), in which 7 ",
    )
    assert not seen["deadlock"] and "outside MPI" in sentences(seen, "missing")[0]


def test_a_rank_that_has_finalized_is_named(hanging, openmpi4):
    seen = hanging(openmpi4, "what=left", kind="exited", pattern="MPI_Barrier for rank 2, but it is in MPI_F")
    assert seen["ranks"][2]["host"] == "h1"


def test_different_collectives_of_the_library_are_told(hanging, openmpi4):
    hanging(
        openmpi4,
        "what=different",
        kind="different-collectives",
        pattern=r"^Rank 2 called MPI_Barrier as its 41st collective of world \(8 ranks\) that the MPI "
        r"library carries out, ranks 0-1, 3-7 MPI_Allreduce",
    )


@pytest.mark.parametrize(
    ("case", "kind", "pattern"),
    [
        ("ring", "deadlock", "^Ranks 0-7 wait for each other in MPI_Recv: deadlock"),
        (
            "one_iteration_less",
            "deadlock",
            "^Ranks 0 and 2 wait for each other in MPI_Allreduce and MPI_Ssend",
        ),
        ("wrong_tag", "circle", "^Ranks 0 and 1 .* not proved: a message has been sent that no rank has"),
    ],
)
def test_planted_hangs_are_told_between_hosts(hanging, openmpi4, case, kind, pattern):
    hanging(openmpi4, case, kind=kind, pattern=pattern, program="planted_hangs.c")


def test_who_is_not_in_a_collective_of_agents_is_said(hanging, openmpi4):
    hanging(
        openmpi4,
        "what=missing",
        "op=barrier",
        "until=",
        kind="not-in-collective",
        pattern="MPI_Barrier on world .*, which evenkeel carries out; rank 2 is not: it is outside MPI",
        environment={"EVENKEEL_NODES": "agents"},
    )


def test_call_stacks_of_other_hosts_are_shown(hanging, openmpi4, clean):
    hanging(openmpi4, "what=missing", "how=read", "until=", kind="missing", pattern="^Rank 2 has not called")
    stack = r"Rank 2 \(process \d+ on h1\): read .*stay_away hang\.c:\d+"
    assert until(lambda: re.search(stack, text(clean[0], "--stacks")))


def test_a_host_without_ranks_looks_at_those_that_are_named(clean, openmpi4):
    program = [openmpi4.mpirun, "--host", "h0:2,h1:2", "-n", "4", "-x", f"LD_PRELOAD={openmpi4.shim}"]
    process = subprocess.Popen(
        clean[0].command([*program, openmpi4.build("hang.c"), "what=circle"], ROOT),
        env=clean[0].environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        named_hosts = ["--hosts", "h0,h1", "--remote-shell", RSH]
        assert until(lambda: (where(clean[3], *named_hosts) or {}).get("deadlock"))
        assert "no job of yours runs under evenkeel on this machine" in text(clean[3])
        one = where(clean[3], "--hosts", "h1,h9", "--remote-shell", RSH)
        assert [rank["rank"] for rank in one["ranks"]] == [2, 3] and not one["deadlock"]
        (left_out,) = one["left_out"]
        assert left_out["host"] == "h9" and "there is no host h9" in left_out["why"]
        none = text(clean[3], "--hosts", "h9", "--remote-shell", RSH)
        assert "host h9 could not be asked: its process has ended" in none and "there is no host h9" in none
    finally:
        kill_all_but_agents(clean)
        process.wait(timeout=HUNG_S)


def test_a_host_that_cannot_be_reached_is_named_and_the_rest_is_shown(hanging, openmpi4, clean):
    hanging(openmpi4, "what=circle", kind="deadlock", pattern="wait for each other")
    said = text(clean[0], "--remote-shell", "/tmp/rig/no-such-shell")
    assert "Ranks on h1 are left out: `/tmp/rig/no-such-shell` cannot be run" in said
    seen = where(clean[0], "--remote-shell", "sh -c 'echo Welcome; sleep 60'")
    assert [rank["rank"] for rank in seen["ranks"]] == [0, 1] and not seen["deadlock"]
    assert {it["host"] for it in seen["left_out"]} == {"h1", "h2", "h3"}
    assert all("something else answered: `Welcome`" in it["why"] for it in seen["left_out"])


def run_hanging(rig, mpi, *arguments, options=(), environment=None, hosts=HOSTS, ranks=8, started_on=0):
    hosts = f"--host {hosts}" if mpi.family == "openmpi" else f"-hosts {hosts}"
    line = [EVENKEEL, "run", "-n", str(ranks), "--launcher-args", hosts, *options, "--", mpi.build("hang.c")]
    environment = mpi.environment | (environment or {})
    done = rig[started_on].run([*line, *arguments], cwd=ROOT, check=False, env=environment)
    kill_all_but_agents(rig)  # and what the library leaves in shared memory
    return done.returncode, " ".join(done.stderr.split())


def test_run_ends_a_deadlock_between_hosts(clean, one_mpi_of_each_family):
    code, said = run_hanging(clean, one_mpi_of_each_family, *CIRCLE, options=["--deadlock", "end"])
    assert code == 124
    assert "evenkeel: the job is in a deadlock" in said and "wait for each other in MPI_Recv" in said
    assert "Rank 3 waits for them" in said or "Ranks 3-7 wait for them" in said


ON_OTHER_HOSTS = {"hosts": "h0:2,h1:2", "ranks": 4, "started_on": 3}


def test_run_ends_a_deadlock_of_ranks_that_are_all_on_other_hosts(clean, one_mpi_of_each_family):
    code, said = run_hanging(
        clean, one_mpi_of_each_family, *CIRCLE, options=["--deadlock", "end"], **ON_OTHER_HOSTS
    )
    assert code == 124
    assert "evenkeel: the job is in a deadlock" in said and "wait for each other in MPI_Recv" in said
    assert "Rank 3 waits for them" in said and "on 2 hosts" in said, said


def test_run_says_at_the_time_limit_where_ranks_are_that_are_all_on_other_hosts(clean, openmpi4):
    for seconds in ("8", "40", "120"):  # where the machine is busy, the job comes to its hang later
        options = ["--deadlock", "off", "--timeout", seconds]
        code, said = run_hanging(clean, openmpi4, *CIRCLE, options=options, **ON_OTHER_HOSTS)
        assert code == 124
        if "wait for each other" in said:
            break
    assert "wait for each other in MPI_Recv" in said and "on 2 hosts" in said, said


def test_run_says_that_other_hosts_cannot_be_looked_at(clean, openmpi4):
    sentence = "ranks on h0 and 1 more cannot be looked at, so deadlocks that depend on them are not found"
    for seconds in ("15", "40", "120"):
        options = ["--deadlock", "end", "--timeout", seconds, "--remote-shell", "/tmp/rig/no-such-shell"]
        code, said = run_hanging(clean, openmpi4, *CIRCLE, options=options, **ON_OTHER_HOSTS)
        assert code == 124
        if sentence in said:
            break
    assert said.count(sentence) == 1, said
    assert "the job is in a deadlock" not in said
    assert "name these with --hosts" in said


def test_run_ends_a_job_that_a_rank_has_left(clean, openmpi4):
    code, said = run_hanging(clean, openmpi4, "what=left", options=["--deadlock", "end"])
    assert code == 124
    assert "wait in MPI_Barrier for rank 2, but it is in MPI_Finalize" in said


def test_run_says_at_the_time_limit_where_ranks_on_other_hosts_are(clean, openmpi4):
    told = r"Rank 6 has not called MPI_Allreduce .* 7 others wait.*stopped \(SIGSTOP\)"
    for seconds in ("8", "40", "120"):  # where the machine is busy, the job comes to its hang later
        code, said = run_hanging(
            clean, openmpi4, "what=missing", "victim=6", "how=stop", "until=", options=["--timeout", seconds]
        )
        assert code == 124
        if re.search(told, said):
            break
    assert re.search(told, said), said


def test_what_run_cannot_look_at_is_said_once(clean, openmpi4):
    no_shell = {"EVENKEEL_REMOTE_SHELL": "/tmp/rig/no-such-shell"}
    sentence = "ranks on h1 and 2 more cannot be looked at, so deadlocks that depend on them are not found"
    for seconds in ("10", "40", "120"):
        options = ["--deadlock", "end", "--timeout", seconds]
        code, said = run_hanging(clean, openmpi4, "what=circle", options=options, environment=no_shell)
        assert code == 124
        if sentence in said:
            break
    assert said.count(sentence) == 1, said
    assert "the job is in a deadlock" not in said


def test_a_job_between_hosts_that_is_slow_is_left_in_peace(clean, openmpi4):
    code, said = run_hanging(
        clean, openmpi4, "what=callback", "on=self", "until=/", options=["--deadlock", "end"]
    )
    assert (code, "deadlock" in said) == (0, False), said
