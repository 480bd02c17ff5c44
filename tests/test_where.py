"""`evenkeel where` and `evenkeel ps`: a job that hangs explains itself from outside; one that is only slow
is left in peace. The job does not notice that it is looked at."""

import json
import os
import re
import subprocess

import pytest

import processes
from hanging_jobs import command, found, hang, where
from mpis import KEEP_JOB_AFTER_DEATH, named
from paths import EVENKEEL
from processes import until
from verdicts import assert_passed

pytestmark = pytest.mark.in_turn("library", of=1)


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture(params=["openmpi4", "mpich4"])
def library(request):
    mpi = named(request.param)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


# ---- a rank that does not come ----


@pytest.mark.parametrize("op", ["allreduce", "barrier", "reduce", "large"])
def test_a_rank_that_computes_in_place_of_a_collective_is_named_and_the_job_goes_on(library, op, tmp_path):
    told = tmp_path / "told"
    name = {"large": "allreduce"}.get(op, op)
    finding, seen, outcome = hang(
        library,
        "what=missing",
        f"op={op}",
        f"until={told}",
        kind="missing",
        pattern=f"^Rank 2 has not called MPI_{name.capitalize()}",
        then=lambda process: told.touch(),
    )
    assert finding["ranks"] == [2] and "running" in finding["sentence"]
    assert not seen["deadlock"] and seen["ranks"][2]["standing"] == "outside"
    assert_passed(outcome)


def test_a_root_that_does_not_come_is_named_alone(library):
    finding, seen, _ = hang(
        library,
        "what=missing",
        "op=bcast",
        "victim=3",
        "until=/",  # it exists, but the victim is stopped
        "how=stop",
        kind="missing",
        pattern="^Rank 3 has not called MPI_Bcast on world.* 3 others wait.*stopped",
    )
    assert "stopped (SIGSTOP)" in finding["sentence"]
    assert not seen["deadlock"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("read", "sleeping in `read`"),
        ("stop", "stopped (SIGSTOP)"),
        ("spin", "running"),
        ("vfork", "sleeping uninterruptibly in `vfork`"),
    ],
)
def test_it_is_said_what_the_missing_rank_does(library, how, words):
    finding, seen, _ = hang(
        library,
        "what=missing",
        f"how={how}",
        "until=",
        kind="missing",
        pattern=rf"^Rank 2 has not called MPI_Allreduce on .*, in which 3 .*outside MPI, {re.escape(words)}",
    )
    assert finding["ranks"] == [2]
    others = [rank for rank in seen["ranks"] if rank["rank"] != 2]
    assert all(rank["call"]["name"] == "MPI_Allreduce" for rank in others)
    assert all(rank["call"]["waits_for"] == [2] and rank["call"]["seconds"] > 0 for rank in others)
    assert {rank["call"]["ordinal"] for rank in others} == {41}  # 20 barriers and 20 allreduces came before


def test_a_collective_that_the_library_carries_out_says_who_is_not_in_it(library):
    finding, seen, _ = hang(
        library,
        "what=missing",
        "op=dup",
        "until=",
        kind="not-in-collective",
        pattern="in MPI_Comm_dup on world",
    )
    assert "rank 2 is not: it is outside MPI" in finding["sentence"] and not seen["deadlock"]


def test_the_name_of_a_communicator_is_said_where_the_library_carries_the_call(library):
    """Barriers of two ranks are evenkeel's, so the communicator has one member more than there are ranks."""
    all_wait = "Rank 2 has not called MPI_Barrier .*in which 2 others wait"
    _, seen, _ = hang(library, "what=named", "until=", kind="missing", pattern=all_wait, ranks=5)
    waiting = [rank for rank in seen["ranks"] if rank["standing"] == "waiting" and rank["rank"] % 2 == 0]
    assert [rank["call"]["size"] for rank in waiting] == [3, 3]


# ---- deadlocks ----


def test_two_receives_from_each_other_are_a_deadlock(library):
    finding, seen, _ = hang(
        library,
        "what=receives",
        kind="deadlock",
        pattern=r"^Ranks 0 and 1 wait for each other in MPI_Recv.*: deadlock\.$",
        least=2,
    )
    assert finding["ranks"] == [0, 1] and seen["deadlock"]
    assert found(seen, "deadlock")[1]["ranks"] == [2, 3]
    call = seen["ranks"][0]["call"]
    assert (call["peer"], call["tag"], call["communicator"], call["size"]) == ("1", "7", "world", 4)


def test_a_circle_of_three_is_a_deadlock(library):
    finding, seen, _ = hang(
        library,
        "what=circle",
        kind="deadlock",
        pattern=r"^Ranks 0, 1 and 2 wait for each other in MPI_Recv \(0 .* for 1; 1 .* for 2; 2 .* for 0\)",
    )
    assert finding["ranks"] == [0, 1, 2] and seen["deadlock"]


def test_receives_from_any_rank_by_all_are_a_deadlock(library):
    finding, _, _ = hang(library, "what=any", kind="deadlock", pattern="wait for each other in MPI_Recv")
    assert finding["ranks"] == [0, 1, 2, 3]


@pytest.mark.parametrize("what", ["ssends", "tags"])
def test_synchronous_sends_that_no_rank_receives_are_a_deadlock(library, what):
    finding, _, _ = hang(
        library, f"what={what}", kind="deadlock", pattern="^Ranks 0 and 1 wait for each other"
    )
    assert finding["ranks"] == [0, 1] and "MPI_Ssend" in finding["sentence"]


def test_sends_that_might_be_buffered_are_no_proof(library):
    finding, seen, _ = hang(library, "what=sends", kind="circle", pattern="wait for each other in MPI_Send")
    assert "not proved" in finding["sentence"] and not seen["deadlock"]


def test_nonblocking_receives_are_no_proof(library):
    finding, seen, _ = hang(
        library, "what=requests", kind="unknown", pattern="^Ranks 0-3 wait in MPI_Wait, .* not known"
    )
    assert finding["ranks"] == [] and not seen["deadlock"]


def test_different_collectives_are_told(library):
    finding, seen, _ = hang(
        library,
        "what=different",
        kind="different-collectives",
        pattern=r"^Rank 2 called MPI_Barrier as its 41st collective of world \(4 ranks\), ranks 0-1, 3 MPI_A",
    )
    assert finding["ranks"] == [2] and seen["deadlock"]


# ---- ranks that are gone ----


def test_a_rank_that_has_exited_is_named(library):
    finding, seen, _ = hang(
        library,
        "what=exit",
        "until=",
        kind="exited",
        pattern="^Rank 0 waits in MPI_Recv for rank 2, but its process has exited without MPI_Finalize",
        extra=KEEP_JOB_AFTER_DEATH[library.family],
    )
    assert finding["ranks"] == [2] and seen["ranks"][2]["standing"] == "exited"


def test_a_rank_in_finalize_is_named(library):
    finding, _, _ = hang(library, "what=finalize", "until=", kind="exited", pattern="it is in MPI_Finalize")
    assert finding["ranks"] == [2]


# ---- jobs that are only slow ----


@pytest.mark.parametrize("barrier", ["strict", "deferred"])
@pytest.mark.parametrize(("seed", "sleep"), [(seed, sleep) for seed in range(3) for sleep in (0, 200000)])
def test_no_deadlock_is_said_of_a_slow_job_and_its_result_is_the_same(library, seed, sleep, barrier):
    rounds = 24 if sleep else 300
    arguments = [f"seed={seed}", f"rounds={rounds}", f"sleep={sleep}"]
    looks = []

    def watch(process):
        while process.poll() is None:
            seen = where(process.pid)
            looks.append(seen)

    program, env = library.build("slow.c"), {"EVENKEEL_BARRIER": barrier}
    watched = library.run(program, 4, *arguments, watch=watch, env=env)
    alone = library.run(program, 4, *arguments, env=env)
    assert_passed(watched)
    assert_passed(alone)
    said = [seen for seen in looks if seen]
    assert not [seen for seen in said if seen["deadlock"]]
    assert said or not sleep
    digests = {re.search("RESULT .* digest (.*)", outcome.out).group(1) for outcome in (watched, alone)}
    assert len(digests) == 1


# ---- finding jobs, and refusals ----


def test_jobs_are_listed_and_several_must_be_told_apart(library, tmp_path):
    told = tmp_path / "told"
    listed, started = [], set()

    def watch_inner(inner, outer):

        def are_whole():
            here = {job["job"]: job["ranks_here"] for job in json.loads(command("ps", "--json").stdout)}
            return (here.get(inner.pid), here.get(outer.pid)) == (3, 4)

        assert until(are_whole)
        started.update([inner.pid, outer.pid])
        listed.append(json.loads(command("ps", "--json").stdout))
        listed.append(command("ps").stdout)
        listed.append(command("where"))
        lowest = next(job["lowest_rank_pid"] for job in listed[0] if job["job"] == inner.pid)
        listed.append(where(lowest))
        told.touch()

    def watch(outer):
        library.run(
            library.build("hang.c"),
            3,
            f"until={told}",
            watch=lambda inner: watch_inner(inner, outer),
        )

    outcome = library.run(library.build("hang.c"), 4, f"until={told}", watch=watch)
    assert_passed(outcome)
    jobs, text, unclear, by_rank = listed
    ours = [job for job in jobs if job["job"] in started]  # jobs of other tests may end between two looks
    assert {job["ranks"] for job in ours} >= {3, 4} and all(job["ranks_here"] == job["ranks"] for job in ours)
    name = {"openmpi": "Open MPI", "mpich": "MPICH"}[library.family]
    assert any(job["library"].startswith(name) and job["age_s"] > 0 for job in ours)
    assert name in text and str(ours[0]["job"]) in text
    assert unclear.returncode == 125 and "several jobs run under evenkeel here" in unclear.stderr
    assert by_rank["ranks_in_all"] == 3


def test_what_is_no_job_is_refused_with_a_sentence():
    missing = command("where", 2**22 - 1)
    assert missing.returncode == 125 and "there is no process" in missing.stderr
    mine = command("where", os.getpid())
    assert mine.returncode == 125 and "is no launcher and no rank of a job" in mine.stderr
    for done in (missing, mine):
        assert done.stderr.startswith("evenkeel: ") and done.stderr.count("\n") == 1


def test_a_job_of_another_user_is_refused_by_the_kernel(openmpi4, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can look with the rights of somebody else")
    program, refused = tmp_path / "evenkeel", []
    program.write_bytes(EVENKEEL.read_bytes())
    program.chmod(0o755)
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == 0 and folder != folder.parent and not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o11)

    def watch(process):
        assert until(lambda: where(process.pid))
        line = [program, "where", str(process.pid)]
        refused.append(
            subprocess.run(
                line, capture_output=True, text=True, check=False, user=65534, group=65534, extra_groups=[]
            )
        )
        processes.kill_all(process.token)

    openmpi4.run(openmpi4.build("hang.c"), 3, "until=", watch=watch)
    assert refused[0].returncode == 125
    assert "belongs to another user" in refused[0].stderr, refused[0].stderr
