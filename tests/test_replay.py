"""`evenkeel run --trace` and `evenkeel replay`: the same run again, under every library, by the trace of
another one, whatever the machine does meanwhile; and a sentence wherever that is impossible."""

import json
import random
import re
import shutil
import struct

import pytest

import mpis
import processes
from mpis import assert_stopped, has_stopped, named
from paths import EVENKEEL, ROOT

SOURCE = "repeatable.c"
RANKS = 4
MASTER = ("master", 60)
# Waiting ranks yield, so that many of them get along on few cores.
STALLS = ("--inject", "stalls=exp:2ms/20ms")
HEADER_BYTES = 4096


@pytest.fixture(autouse=True)
def program():
    if not EVENKEEL.exists():
        pytest.skip(f"{EVENKEEL} has not been built")


def record(mpi, folder, *arguments, ranks=RANKS, options=(), env=None):
    """Runs and records; returns what was printed."""
    program = mpi.build(SOURCE)
    options = ["--trace", folder, "--quiet", *options]
    return mpi.evenkeel(program, ranks, *arguments, options=options, env=env).ok().out


def replay(mpi, folder, *arguments, ranks=RANKS, options=(), env=None, program=None):
    program = program or mpi.build(SOURCE)
    return mpi.evenkeel(
        program, ranks, *arguments, options=["--replay", folder, "--quiet", *options], env=env
    )


def free_answers(mpi, *arguments, runs=12):
    """What runs that are not recorded print, until two differ."""
    answers = set()
    for _ in range(runs):
        answers.add(mpi.evenkeel(mpi.build(SOURCE), RANKS, *arguments, options=["--quiet"]).ok().out)
        if len(answers) > 1:
            break
    return answers


def test_a_master_with_workers_gives_the_recorded_answer(mpi, tmp_path):
    recorded = record(mpi, tmp_path / "t", *MASTER, "clock")
    for options in ((), STALLS, ("--wait", "block")):
        assert replay(mpi, tmp_path / "t", *MASTER, "clock", options=options).ok().out == recorded


def test_without_a_trace_the_answers_differ(openmpi4):
    assert len(free_answers(openmpi4, *MASTER)) > 1
    assert len(free_answers(openmpi4, "random", 1, 6)) > 1


@pytest.mark.in_turn
@pytest.mark.parametrize("seed", range(3))
def test_random_receives_are_repeated(mpi, tmp_path, seed):
    arguments = ("random", seed, 14)
    recorded = record(mpi, tmp_path / "t", *arguments, options=STALLS)
    assert replay(mpi, tmp_path / "t", *arguments).ok().out == recorded
    assert replay(mpi, tmp_path / "t", *arguments, options=STALLS).ok().out == recorded


@pytest.mark.parametrize("messages", ["own", "host"])
def test_it_makes_no_difference_who_carries_messages_and_when_barriers_return(mpi, tmp_path, messages):
    arguments = ("random", 7, 10)
    deferred = ("--barrier", "deferred", "--messages", messages)
    recorded = record(mpi, tmp_path / "t", *arguments, options=deferred)
    assert replay(mpi, tmp_path / "t", *arguments).ok().out == recorded
    recorded = record(mpi, tmp_path / "u", *arguments)
    assert replay(mpi, tmp_path / "u", *arguments, options=deferred).ok().out == recorded


@pytest.mark.parametrize("second", ["mpich4", "mpich5", "openmpi5", "mpiabi"])
def test_the_trace_of_one_library_is_repeated_by_another(openmpi4, tmp_path, second):
    other = named(second)
    if reason := other.skip_reason():
        pytest.skip(reason)
    for one, two, folder in ((openmpi4, other, tmp_path / "a"), (other, openmpi4, tmp_path / "b")):
        arguments = ("random", 11, 12)
        recorded = record(one, folder, *arguments)
        outcome = replay(two, folder, *arguments).ok()
        assert outcome.out == recorded
        assert one.shim == two.shim or any("another program" in line for line in outcome.said)


def test_clocks_and_random_numbers_of_the_c_library_come_again(mpi, tmp_path):
    recorded = record(mpi, tmp_path / "t", "draws", 0)
    for options in ((), STALLS, ("--barrier", "deferred", "--messages", "own")):
        outcome = replay(mpi, tmp_path / "t", "draws", 0, options=options).ok()
        assert outcome.out == recorded
        assert not outcome.said, outcome.err


def test_without_a_trace_draws_differ(openmpi4):
    assert len(free_answers(openmpi4, "draws", 0, runs=3)) > 1


def test_draws_that_were_not_recorded_are_said(openmpi4, tmp_path):
    """What they lead to is noticed as ever: here by the next message that is sent."""
    record(openmpi4, tmp_path / "t", "draws", 0, options=["--trace-checks", "1"])
    outcome = replay(openmpi4, tmp_path / "t", "draws", 1)
    # Three calls of MPI_Sendrecv, and one more with what was drawn before it.
    said = "before call 4 the program reads a clock where the recorded run did not"
    assert sum(said in line for line in outcome.said) >= 1, outcome.err
    assert_stopped(outcome)


def test_draws_before_init_are_repeated_only_by_the_rank_itself(openmpi4, tmp_path):
    """A shell between the launcher and the program has the rank's environment, too."""
    recorded = record(openmpi4, tmp_path / "t", "draws", 0)
    shell = ["sh", "-c", f"{openmpi4.build(SOURCE)} draws 0; exit $?"]
    outcome = replay(openmpi4, tmp_path / "t", options=["--mpi", "openmpi"], program=shell)
    assert "before MPI_Init are not the recorded ones" in outcome.err, outcome.text
    assert outcome.out != recorded


@pytest.mark.parametrize("source", ["draws.cpp", "draws.f90"])
def test_other_languages_draw_the_same_again(openmpi4, tmp_path, source):
    program = openmpi4.build(source, name=source)
    recorded = openmpi4.evenkeel(program, 2, options=["--trace", tmp_path / "t", "--quiet"]).ok()
    again = replay(openmpi4, tmp_path / "t", ranks=2, program=program).ok()
    assert sorted(again.out.splitlines()) == sorted(recorded.out.splitlines())
    assert not again.said, again.err
    assert openmpi4.evenkeel(program, 2, options=["--quiet"]).ok().out != recorded.out


@pytest.mark.parametrize("library", ["openmpi4", "mpich5"])
def test_python_draws_the_same_again(tmp_path, library):
    mpi = named(library)
    if reason := mpi.skip_reason() or (None if mpi.python else "there is no mpi4py for it"):
        pytest.skip(reason)
    program = [mpi.python, ROOT / "tests" / "python" / "draws.py"]
    options = ["--trace", tmp_path / "t", "--quiet"]
    recorded = mpi.evenkeel(program, 3, options=options, env=mpi.python_env).ok().out
    again = replay(mpi, tmp_path / "t", ranks=3, program=program, env=mpi.python_env).ok()
    assert again.out == recorded
    assert not again.said, again.err


def test_the_command_starts_the_recorded_run_again(openmpi4, tmp_path):
    recorded = record(openmpi4, tmp_path / "t", *MASTER)
    environment = {"EVENKEEL_LIB": str(mpis.SHIMS)} | openmpi4.environment
    again = processes.run([str(EVENKEEL), "replay", str(tmp_path / "t")], environment=environment).ok()
    assert again.out == recorded
    shown = processes.run([str(EVENKEEL), "replay", str(tmp_path / "t"), "--dry-run"]).ok().out
    assert "--trace " not in shown
    assert shown.startswith(f"evenkeel run --replay {tmp_path / 't'} -n {RANKS}") and "master 60" in shown
    start = json.loads((tmp_path / "t" / "run.json").read_text())
    assert start["program"][1:] == list(map(str, MASTER))


def test_a_folder_without_a_trace_is_refused(tmp_path):
    outcome = processes.run([str(EVENKEEL), "replay", str(tmp_path)])
    assert outcome.code == 125 and "cannot read the trace" in outcome.err


def test_what_differs_stops_the_repetition_at_that_call(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", *MASTER, options=["--trace-checks", "1"])
    outcome = replay(openmpi4, tmp_path / "t", "random", 1, 5)
    assert_stopped(outcome)
    assert any(re.search(r"rank \d: the repetition stops: ", line) for line in outcome.said), outcome.err
    outcome = replay(openmpi4, tmp_path / "t", "master", 61)
    assert_stopped(outcome)
    assert "rank 0: the repetition stops: " in outcome.err


def test_the_sentence_names_the_first_call_that_sends_something_else(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", "peculiar", 0, options=["--trace-checks", "1"])
    outcome = replay(openmpi4, tmp_path / "t", "peculiar", 1)
    assert_stopped(outcome)
    # Rank 1 sends its third message differently; its calls before are 2 sends.
    assert "rank 1: the repetition stops: what the program has sent differs at call 3" in outcome.err


def test_bytes_that_were_never_written_need_not_stop_a_repetition(openmpi4, tmp_path):
    """Those of a long double are left out; for the gaps of a structure sent as bytes there is an option."""
    recorded = record(openmpi4, tmp_path / "t", "gaps", 0, options=["--trace-checks", "1"])
    again = replay(openmpi4, tmp_path / "t", "gaps", 0).ok()
    assert again.out == recorded and not again.said
    recorded = record(openmpi4, tmp_path / "u", "gaps", 1, options=["--trace-checks", "1"])
    outcome = replay(openmpi4, tmp_path / "u", "gaps", 1)
    assert_stopped(outcome)
    assert "rank 1: the repetition stops: what the program has sent" in outcome.err
    again = replay(openmpi4, tmp_path / "u", "gaps", 1, options=["--replay-differences", "tell"]).ok()
    assert again.out == recorded
    told = [line for line in again.said if "the repetition goes on" in line]
    assert len(told) == RANKS and len(told) == len(again.said), again.err


# Random collectives on random communicators, collectives of each kind, type and form, and rules of messages,
# among them calls that fail. Open MPI crashes if a communicator with pending calls is freed (careful=1).
PROGRAMS = {
    "random.c": ["seed=3", "steps=150", "deep=20", "careful=1"],
    "matrix.c": ["n=300", "seed=5"],
    "messages.c": ["rounds=2"],
}


@pytest.mark.in_turn("library")
@pytest.mark.parametrize("source", PROGRAMS)
@pytest.mark.parametrize("library", ["openmpi4", "openmpi5", "mpich4", "mpich5"])
def test_other_programs_are_repeated(tmp_path, library, source):
    mpi = named(library)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    program, arguments = mpi.build(source), PROGRAMS[source]
    options = ["--quiet", "--trace", tmp_path / "t", "--trace-checks", "1"]
    recorded = mpi.evenkeel(program, RANKS, *arguments, options=options).ok()
    again = replay(mpi, tmp_path / "t", *arguments, options=STALLS, program=program).ok()
    assert again.out == recorded.out
    told = [line for line in again.said if "not promised" in line]
    assert bool(told) == (source == "messages.c") and all("a call that failed" in line for line in told)


def test_other_numbers_of_ranks_and_other_runs_are_refused(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", *MASTER)
    record(openmpi4, tmp_path / "u", *MASTER)
    outcome = replay(openmpi4, tmp_path / "t", *MASTER, ranks=3)
    assert_stopped(outcome)
    assert "start as many ranks as were recorded" in outcome.err
    shutil.copy(tmp_path / "u" / "rank-1.trace", tmp_path / "t" / "rank-1.trace")
    outcome = replay(openmpi4, tmp_path / "t", *MASTER)
    assert_stopped(outcome)
    assert "traces of one run" in outcome.err
    (tmp_path / "t" / "rank-1.trace").unlink()
    outcome = replay(openmpi4, tmp_path / "t", *MASTER)
    assert_stopped(outcome)
    assert "cannot be read" in outcome.err


def damaged(whole, seed):
    """The file cut at a random place, or with a flipped bit."""
    draw = random.Random(seed)
    if draw.random() < 0.4:
        return whole[: draw.randrange(len(whole))]
    # What lies between is not used. Byte 552 says whether the run ended well: if not, no seal is expected.
    used = [*range(50), *range(512, 552), *range(560, 568), *range(HEADER_BYTES, len(whole))]
    at = draw.choice(used)
    changed = bytearray(whole)
    changed[at] ^= 1 << draw.randrange(8)
    return bytes(changed)


def test_a_damaged_trace_is_refused_with_a_sentence(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", "random", 3, 4, ranks=2)
    file = tmp_path / "t" / "rank-1.trace"
    whole = file.read_bytes()
    for seed in range(14):
        file.write_bytes(damaged(whole, seed))
        outcome = replay(openmpi4, tmp_path / "t", "random", 3, 4, ranks=2)
        assert_stopped(outcome, seed)
        said = [line for line in outcome.said if "the trace" in line or "the repetition stops" in line]
        assert said, (seed, outcome.text)
    newer = bytearray(whole)
    struct.pack_into("<I", newer, 8, 99)
    file.write_bytes(newer)
    assert "version 99" in replay(openmpi4, tmp_path / "t", "random", 3, 4, ranks=2).err


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_killed_run_is_repeated_to_where_it_was_killed(tmp_path, library):
    mpi = named(library)
    if reason := mpi.skip_reason():
        pytest.skip(reason)
    program = mpi.build(SOURCE)
    options = ["--trace", tmp_path / "t", "--quiet"]
    outcome = mpi.evenkeel(program, RANKS, "killed", 50, options=options)
    assert outcome.code != 0
    for options in ((), STALLS):
        outcome = replay(mpi, tmp_path / "t", "killed", 1000000, options=options)
        assert has_stopped(mpi, outcome), outcome.text
        # Rank 2 kills itself in the recorded run after 50 answers: a send and a receive for each.
        assert any("is where the recorded run ends" in line for line in outcome.said), outcome.text


@pytest.mark.parametrize("what", ["window", "threads"])
def test_what_is_not_promised_is_said(openmpi4, tmp_path, what):
    recorded = record(openmpi4, tmp_path / "t", "unpromised", what)
    outcome = replay(openmpi4, tmp_path / "t", "unpromised", what).ok()
    names = {"window": "MPI_Win_create", "threads": "MPI calls of several threads"}
    assert any("equality is not promised from call" in line and names[what] in line for line in outcome.said)
    assert outcome.out == recorded


def test_a_full_disk_ends_the_trace_and_not_the_run(openmpi4, tmp_path):
    options = ["--trace", tmp_path / "t", "--quiet", "--trace-checks", "1"]
    arguments = ("limited", 20000)
    outcome = openmpi4.evenkeel(openmpi4.build(SOURCE), RANKS, *arguments, options=options).ok()
    assert sum("because it cannot grow" in said for said in outcome.said) >= 1, outcome.text
    outcome = replay(openmpi4, tmp_path / "t", *arguments)
    assert_stopped(outcome)
    assert "there was no more room" in outcome.err


def test_what_is_no_choice_takes_no_room(openmpi4, tmp_path):
    record(openmpi4, tmp_path / "t", "master", 1000, options=["--trace-checks", "1000000"])
    used = struct.unpack_from("<Q", (tmp_path / "t" / "rank-1.trace").read_bytes(), 512)[0]
    assert used <= 20  # two values of MPI_Wtime
    used = struct.unpack_from("<Q", (tmp_path / "t" / "rank-0.trace").read_bytes(), 512)[0]
    assert used <= 20 + 1003 + 4  # a byte for each receive from any source
