"""`evenkeel where --stacks`: of planted hangs the right rank and the right function of the program are named;
the job does not notice. `evenkeel run --timeout` and `--deadlock`: a job that hangs says so, and nothing is
left of it."""

import ctypes
import json
import os
import re
import signal
import struct
import subprocess
import threading

import pytest

import processes
from hanging_jobs import hang, wait_until_said, where
from mpis import KEEP_JOB_AFTER_DEATH, named
from paths import EVENKEEL, ROOT
from processes import HUNG_S, until
from verdicts import assert_passed

pytestmark = pytest.mark.in_turn("library", of=1)

SCRIPT = ROOT / "tests" / "python" / "hang.py"


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


@pytest.fixture(params=["openmpi4", "mpich4", "mpich5"])
def library(request):
    mpi = named(request.param)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


@pytest.fixture
def one():
    """One library, for what does not depend on it."""
    mpi = named("mpich4")
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    return mpi


def functions(seen, rank):
    """The functions of a rank's first thread, innermost first."""
    stack = next(stack for stack in seen["stacks"]["ranks"] if stack["rank"] == rank)
    assert "left_out_because" not in stack, stack
    return [frame["function"] for frame in stack["threads"][0]["frames"]]


def looked_at(seen):
    return [stack["rank"] for stack in seen["stacks"]["ranks"]]


def stacks_of(mpi, *arguments, kind, pattern, **options):
    """What `where --stacks` says of a job that hangs."""
    looks = []

    def look(process):
        looks.append(where(process.pid, "--stacks"))
        processes.kill_all(process.token)

    hang(mpi, *arguments, kind=kind, pattern=pattern, then=look, **options)
    assert looks[0]["findings"], looks[0]
    return looks[0]


# ---- planted hangs ----

MISSING = "^Rank 2 has not called MPI_Allreduce"


@pytest.mark.parametrize(("how", "innermost"), [("spin", ""), ("read", "read"), ("stop", "")])
def test_the_function_that_holds_up_the_others_is_named(library, how, innermost):
    seen = stacks_of(library, "what=missing", f"how={how}", "until=", kind="missing", pattern=MISSING)
    assert seen["stacks"]["of"] == "holding" and looked_at(seen) == [2]
    names = functions(seen, 2)
    assert names[-2:] == ["stay_away", "main"], names
    assert innermost in (names[0] or "")
    frames = seen["stacks"]["ranks"][0]["threads"][0]["frames"]
    assert frames[-1]["file"].endswith("hang.c") and frames[-1]["line"] > 100


@pytest.mark.parametrize(
    ("what", "ranks", "names"),
    [
        ("receives", [0, 1], ["MPI_Recv", "wait_in_a_circle", "main"]),
        ("circle", [0, 1, 2], ["MPI_Recv", "wait_in_a_circle", "main"]),
        ("ssends", [0, 1], ["MPI_Ssend", "send_to_each_other", "main"]),
    ],
)
def test_a_deadlock_shows_the_calls_of_its_ranks_and_nothing_of_the_library(library, what, ranks, names):
    seen = stacks_of(library, f"what={what}", kind="deadlock", pattern="wait for each other")
    assert looked_at(seen) == ranks
    assert [functions(seen, rank) for rank in ranks] == [names] * len(ranks)


def test_different_collectives_show_where_each_was_called(library):
    pattern = "^Rank 2 called MPI_Barrier"
    seen = stacks_of(library, "what=different", kind="different-collectives", pattern=pattern)
    assert 2 in looked_at(seen)
    assert functions(seen, 2) == ["MPI_Barrier", "collective", "main"]
    others = [functions(seen, rank) for rank in looked_at(seen) if rank != 2]
    assert all(names == ["MPI_Allreduce", "collective", "main"] for names in others)


def test_a_wrong_root_is_shown_with_its_function(library):
    seen = stacks_of(library, "what=root", kind="deadlock", pattern="wait for each other in .*MPI_Bcast")
    assert 2 in looked_at(seen) and functions(seen, 2) == ["MPI_Bcast", "broadcast", "main"]


def test_who_waits_for_a_dead_rank_is_shown(library):
    seen = stacks_of(
        library,
        "what=exit",
        "until=",
        kind="exited",
        pattern="for rank 2, but its process has exited",
        extra=KEEP_JOB_AFTER_DEATH[library.family],
    )
    assert seen["stacks"]["of"] == "waiting" and looked_at(seen) == [0]
    assert functions(seen, 0) == ["MPI_Recv", "main"]


@pytest.mark.parametrize(
    ("how", "expected"), [("loop", ["loop", "come_late"]), ("wait", ["wait", "come_late"])]
)
def test_functions_of_python_are_named(library, how, expected):
    if not library.python:
        pytest.skip(f"no mpi4py for {library.name}")
    looks = []

    def watch(process):
        wait_until_said(process, "missing", "^Rank 2 has not called MPI_Allreduce")
        looks.append(where(process.pid, "--stacks"))
        processes.kill_all(process.token)

    library.run([library.python, SCRIPT], 3, how, env=library.python_env, watch=watch)
    frames = looks[0]["stacks"]["ranks"][0]["threads"][0]["frames"]
    python = [frame for frame in frames if frame["language"] == "python"]
    assert looked_at(looks[0]) == [2]
    assert [frame["function"] for frame in python][-4:] == [*expected, "main", "<module>"]
    assert all(frame["file"].endswith("hang.py") and frame["line"] for frame in python)
    assert how != "wait" or "read" in frames[0]["function"]


# ---- the job does not notice ----


@pytest.mark.parametrize(("seed", "sleep"), [(0, 0), (1, 200000)])
def test_a_slow_job_is_not_accused_and_its_result_is_the_same(library, seed, sleep):
    rounds = 12 if sleep else 60
    arguments, looks = [f"seed={seed}", f"rounds={rounds}", f"sleep={sleep}"], []

    def watch(process):
        while process.poll() is None:
            looks.append(where(process.pid, "--stacks=all"))

    program = library.build("slow.c")
    watched = library.run(program, 4, *arguments, watch=watch)
    alone = library.run(program, 4, *arguments)
    assert_passed(watched)
    assert_passed(alone)
    said = [seen for seen in looks if seen]
    assert not [seen for seen in said if seen["deadlock"]]
    assert said or not sleep
    digests = {re.search("RESULT .* digest (.*)", outcome.out).group(1) for outcome in (watched, alone)}
    assert len(digests) == 1


def test_python_goes_on_after_many_looks(library, tmp_path):
    if not library.python:
        pytest.skip(f"no mpi4py for {library.name}")
    told = tmp_path / "told"

    def watch(process):
        wait_until_said(process, "missing", "^Rank 2 has not called MPI_Allreduce")
        assert all(where(process.pid, "--stacks=all") for _ in range(5))
        told.touch()

    outcome = library.run([library.python, SCRIPT], 3, "free", told, env=library.python_env, watch=watch)
    assert "RESULT digest 3" in outcome.ok().out


def test_a_stopped_rank_stays_stopped(one):
    seen = stacks_of(one, "what=missing", "how=stop", "until=", kind="missing", pattern=MISSING)
    assert seen["ranks"][2]["process"] == "stopped"


# ---- what is forbidden is left out ----


def forbid_ptrace():
    """In a child before it becomes the command: ptrace fails with EPERM, as in some containers."""
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    # Load the number of the system call; ptrace is 101 on x86-64.
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 101), (0x06, 0, 0, refuse), (0x06, 0, 0, allow)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(filters))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(seccomp, filter_mode, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter knows the system calls of x86-64")
def test_stacks_that_are_forbidden_are_left_out_with_a_sentence(one):
    said = []

    def look(process):
        line = [EVENKEEL, "where", str(process.pid), "--stacks"]
        for options in ([], ["--json"]):
            done = subprocess.run(
                [*line, *options],
                capture_output=True,
                text=True,
                timeout=HUNG_S,
                check=False,
                preexec_fn=forbid_ptrace,
            )
            said.append(done)
        processes.kill_all(process.token)

    hang(one, "what=missing", "until=", kind="missing", pattern=MISSING, then=look)
    text, data = said
    words = " ".join(text.stdout.split())
    assert text.returncode == 0 and "Rank 2 has not called MPI_Allreduce" in words
    assert re.search(r"The call stack of rank 2 \(process \d+\) is left out: ptrace is forbidden", words)
    assert "ptrace is forbidden" in json.loads(data.stdout)["stacks"]["ranks"][0]["left_out_because"]


# ---- run --timeout ----


def with_limit(mpi, *words, ranks=3, limit="3s", options=(), **more):
    return mpi.evenkeel(
        mpi.build("hang.c"), ranks, *words, options=["--quiet", "--timeout", limit, *options], **more
    )


def assert_ended(outcome, limit="3s"):
    assert outcome.code == 124, outcome.text
    assert not outcome.left_over
    assert f"evenkeel: the job has not ended within {limit} (--timeout) and is ended." in outcome.err


@pytest.mark.parametrize("launcher", ["", "evenkeel"])
def test_a_job_whose_time_is_over_says_where_it_is_and_ends(library, launcher):
    options = ["--launcher", launcher] if launcher else []
    for limit in ("3s", "20s", "90s"):  # where the machine is busy, the job comes to its hang later
        outcome = with_limit(library, "what=missing", "until=", limit=limit, options=options)
        if "PMIx" in outcome.err and outcome.code == 125:
            pytest.skip(outcome.err)
        assert_ended(outcome, limit)
        words = " ".join(outcome.err.split())
        if re.search(r"stay_away hang\.c:\d+", words):
            break
    assert "Rank 2 has not called MPI_Allreduce" in words and re.search(r"stay_away hang\.c:\d+", words)


def test_a_stopped_rank_is_ended_too(library):
    outcome = with_limit(library, "what=missing", "how=stop", "until=", options=["--on-hang", "end"])
    assert_ended(outcome)
    assert "Rank 2" not in outcome.err


def test_the_limit_may_stand_in_the_environment(one):
    env = {"EVENKEEL_TIMEOUT": "3s", "EVENKEEL_ON_HANG": "end", "EVENKEEL_QUIET": "1"}
    outcome = one.evenkeel(one.build("hang.c"), 3, "what=receives", env=env)
    assert_ended(outcome)
    wrong = one.evenkeel(one.build("hang.c"), 3, "what=receives", env=env | {"EVENKEEL_TIMEOUT": "soon"})
    assert wrong.code == 125 and "cannot use EVENKEEL_TIMEOUT=soon" in wrong.err


@pytest.mark.parametrize("launcher", ["", "evenkeel"])
def test_a_run_in_time_is_left_alone(one, launcher, tmp_path):
    told = tmp_path / "told"
    told.touch()
    options = ["--launcher", launcher] if launcher else []
    outcome = with_limit(one, "what=missing", f"until={told}", limit="10m", options=options)
    assert_passed(outcome)
    assert not outcome.said
    failing = one.evenkeel(
        ["sh", "-c", "exit 7"], 1, options=["--mpi", "mpich", "--timeout", "10m", *options]
    )
    assert failing.code == 7


def test_a_program_that_never_calls_mpi_is_ended_and_what_is_not_known_is_said(one):
    options = ["--mpi", "mpich", "--timeout", "1s"]
    outcome = one.evenkeel(["sleep", "600"], 2, options=options)
    assert outcome.code == 124 and not outcome.left_over
    assert "where its ranks are is not known" in outcome.err


def test_signals_reach_the_job(one):
    def watch(process):
        assert until(lambda: where(process.pid))
        os.kill(process.pid, signal.SIGTERM)

    outcome = with_limit(one, "what=receives", limit="10m", watch=watch)
    # MPICH's launcher passes the signal on. Now and then it then exits with 0, also without evenkeel, but the
    # program has not come to its end.
    assert outcome.code not in (124, None) and not outcome.left_over
    assert "RESULT" not in outcome.out, outcome.text


# ---- run --deadlock ----

DEADLOCK = "evenkeel: the job is in a deadlock: some of its ranks wait for what can never come."


def watched(mpi, *words, options=(), ranks=4, **more):
    return mpi.evenkeel(mpi.build("hang.c"), ranks, *words, options=["--quiet", *options], **more)


def assert_ended_by_deadlock(outcome):
    assert outcome.code == 124 and not outcome.left_over, outcome.text
    assert f"{DEADLOCK} The job is ended (--deadlock end)." in outcome.err
    assert "Call stacks" in outcome.err and "hang.c:" in outcome.err


@pytest.mark.parametrize(
    "what", ["receives", "ssends", "circle", "any", "tags", "different", "root", "finalize", "left"]
)
def test_a_job_in_a_deadlock_says_so_and_is_ended(library, what):
    assert_ended_by_deadlock(watched(library, f"what={what}", "until=", options=["--deadlock", "end"]))


def test_the_first_rank_may_be_the_one_that_has_finalized(library):
    """It gathers the record of all ranks in MPI_Finalize."""
    assert_ended_by_deadlock(watched(library, "what=left", "victim=0", options=["--deadlock", "end"]))


def test_a_job_that_evenkeel_has_started_is_ended_in_a_deadlock(library):
    outcome = watched(library, "what=receives", options=["--deadlock", "end", "--launcher", "evenkeel"])
    if "PMIx" in outcome.err and outcome.code == 125:
        pytest.skip(outcome.err)
    assert_ended_by_deadlock(outcome)


def test_a_job_in_a_deadlock_may_go_on_until_its_time_is_over(one):
    """It says so once. Where the machine is busy, it is noticed later."""
    for limit in ("12s", "90s"):
        options = ["--timeout", limit, "--on-hang", "end"]
        outcome = watched(one, "what=receives", options=options)
        assert outcome.code == 124 and not outcome.left_over, outcome.text
        told = [line for line in outcome.err.splitlines() if line.startswith("evenkeel: ")]
        if len(told) > 1:
            break
    assert told == [
        f"{DEADLOCK} The job goes on (--deadlock report).",
        f"evenkeel: the job has not ended within {limit} (--timeout) and is ended.",
    ]


@pytest.mark.parametrize("what", ["sends", "requests", "named"])
def test_what_is_not_proved_ends_no_job(library, what):
    options = ["--deadlock", "end", "--timeout", "4s", "--on-hang", "end"]
    outcome = watched(library, f"what={what}", "until=", options=options)
    assert outcome.code == 124 and not outcome.left_over, outcome.text
    assert DEADLOCK not in outcome.err


@pytest.mark.parametrize("launcher", ["", "evenkeel"])
def test_a_job_that_only_waits_long_is_left_alone(library, launcher, tmp_path):
    """All others wait for a rank that computes, for longer than the job is looked at twice."""
    told = tmp_path / "told"
    later = threading.Timer(3.0, told.touch)
    later.start()
    options = ["--deadlock", "end", *(["--launcher", launcher] if launcher else [])]
    outcome = watched(library, "what=missing", f"until={told}", options=options)
    later.join()
    if "PMIx" in outcome.err and outcome.code == 125:
        pytest.skip(outcome.err)
    assert_passed(outcome)
    assert not outcome.said


@pytest.mark.parametrize("on", ["self", "world"])
def test_a_rank_in_finalize_may_still_send(library, on, tmp_path):
    if on == "world" and library.name.startswith("openmpi"):
        pytest.skip("Open MPI deletes no attributes of MPI_COMM_WORLD")
    told = tmp_path / "told"
    later = threading.Timer(3.0, told.touch)
    later.start()
    words = ["what=callback", f"on={on}", f"until={told}"]
    outcome = watched(library, *words, options=["--deadlock", "end"])
    later.join()
    assert outcome.code == 0 and not outcome.said, outcome.text


def with_threads(library, *words):
    program = library.build("hang_threads.c")
    outcome = library.evenkeel(program, 3, *words, options=["--quiet", "--deadlock", "end"])
    if outcome.code == 77:
        pytest.skip("this library has no MPI_THREAD_MULTIPLE")
    return outcome


@pytest.mark.parametrize("other", ["none", "asleep"])
def test_a_deadlock_is_found_where_no_other_thread_can_end_it(library, other):
    outcome = with_threads(library, f"other={other}")
    assert outcome.code == 124 and not outcome.left_over, outcome.text
    assert f"{DEADLOCK} The job is ended (--deadlock end)." in outcome.err
    assert "hang_threads.c:" in outcome.err


@pytest.mark.parametrize("other", ["sleeps", "waits", "reads", "calls"])
def test_another_thread_may_send_what_a_rank_waits_for(library, other, tmp_path):
    told = tmp_path / "told"
    later = threading.Timer(3.0, told.touch)
    later.start()
    outcome = with_threads(library, f"other={other}", f"until={told}")
    later.join()
    assert outcome.code == 0 and not outcome.said, outcome.text


def test_a_value_that_is_none_is_refused(one):
    outcome = watched(one, "what=receives", env={"EVENKEEL_DEADLOCK": "maybe"})
    assert outcome.code == 125
    assert "cannot use EVENKEEL_DEADLOCK=maybe: it must be report, end or off" in outcome.err


def test_a_line_for_another_launcher_cannot_hold_a_limit():
    line = [EVENKEEL, "env", "--mpi", "mpich", "--timeout", "3s"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "cannot print --timeout" in done.stderr
