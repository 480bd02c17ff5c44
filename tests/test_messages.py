"""Messages between two ranks that evenkeel carries itself keep MPI's rules, and none is seen too early."""

import dataclasses
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import litmus_tests
import mpi4py_suite
import processes
from litmus_tests import assert_litmus, run_background, run_litmus
from verdicts import assert_never_wrong, assert_passed

# evenkeel carries messages, and barriers are deferred.
OWN = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_MESSAGES": "own"}

# mpi4py's tests of point-to-point communication.
MPI4PY = [
    "test_p2p_buf",
    "test_p2p_obj",
    "test_p2p_buf_matched",
    "test_p2p_obj_matched",
    "test_request",
    "test_status",
]


def messages_carried(outcome):
    """How many messages evenkeel carried, and how many of them went ahead of a pending barrier."""
    ranks = outcome.read_report()["ranks"]
    return sum(rank["messages"] for rank in ranks), sum(rank["messages_ahead"] for rank in ranks)


def run_messages(mpi, ranks, rounds, *more, env=OWN, **options):
    """Runs messages.c, which must find no failure."""
    program = mpi.build("messages.c")
    outcome = mpi.run(program, ranks, f"rounds={rounds}", *more, env=env, **options).ok()
    assert " failures 0 " in outcome.out, outcome.text
    return outcome


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 5])
def test_rules_of_mpi_hold_one_by_one_and_in_random_traffic(mpi, ranks, report):
    carried, ahead = messages_carried(run_messages(mpi, ranks, 60, report=report))
    assert carried > 1000 and ahead > 20, f"evenkeel carried {carried} messages, {ahead} ahead of a barrier"


def test_the_rules_hold_with_default_options(mpi):
    """The library carries the messages. Its error handlers are as they would be without evenkeel."""
    run_messages(mpi, 3, 10, env=None)


def test_the_libraries_keep_the_same_rules(mpi):
    """This shows that the program demands nothing that MPI does not."""
    run_messages(mpi, 2, 10, env=None, shim=False)


def test_large_messages_are_sent_in_parts_if_ranks_cannot_read_the_memory_of_others(openmpi4, report):
    outcome = run_messages(openmpi4, 3, 60, env=OWN | {"EVENKEEL_CMA": "off"}, report=report)
    assert messages_carried(outcome)[0] > 1000, outcome.text


@pytest.mark.parametrize("cma", ["auto", "off"])
def test_a_message_of_one_gibibyte_arrives(openmpi4, cma):
    run_messages(openmpi4, 2, 1, "huge=1", env=OWN | {"EVENKEEL_CMA": cma})


@pytest.mark.in_turn
@pytest.mark.parametrize(("ranks", "large"), [(2, "both"), (4, "both"), (3, "receiver")])
def test_large_messages_arrive_whole_whoever_copies_them(mpi, ranks, large, report):
    program = mpi.build("large_messages.c")
    env = OWN | {"EVENKEEL_LARGE": large}
    outcome = mpi.run(program, ranks, "rounds=25", f"seed={ranks}", env=env, report=report)
    assert_passed(outcome)
    assert messages_carried(outcome)[0] > 50
    copied_by_senders = sum(rank["message_bytes_copied"] for rank in outcome.read_report()["ranks"])
    assert (copied_by_senders > 0) == (large == "both"), copied_by_senders


def test_large_messages_arrive_whole_while_ranks_are_stopped_and_continued(openmpi4):
    """A sender that is stopped in the middle of a chunk goes on when its receiver has read that chunk."""
    program = openmpi4.build("large_messages.c")
    env = OWN | {"EVENKEEL_LARGE": "both"}
    with ThreadPoolExecutor(1) as pool:
        started = []

        def watch(process):
            started.append(pool.submit(stop_and_continue, process, str(program)))

        outcome = openmpi4.run(program, 3, "rounds=60", "seed=11", env=env, watch=watch)
        assert started[0].result() > 10, "the ranks were hardly ever stopped"
    assert_passed(outcome)


def stop_and_continue(process, program):
    """Stops and continues the ranks of a job at random times until it ends. Returns how often."""
    chance, stops = random.Random(7), 0
    while process.poll() is None:
        ranks = [pid for pid, line in processes.with_token(process.token).items() if line.startswith(program)]
        for pid in ranks:
            stops += processes.pause(pid, chance.uniform(0, 0.004))
        time.sleep(chance.uniform(0, 0.01))
    return stops


@pytest.mark.parametrize("case", litmus_tests.RANKS_OF_OWN_MESSAGES)
def test_messages_and_barriers_keep_their_order(mpi, case):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("the order of messages and barriers is tested under Open MPI 4 and MPICH 5")
    assert_litmus(mpi, case, 50, OWN)


@pytest.mark.parametrize("way", ["status", "null", "any"])
def test_a_test_that_wakes_a_sender_takes_in_its_message_once(mpi, way):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("the order of messages and barriers is tested under Open MPI 4 and MPICH 5")
    program = mpi.build("answer_in_a_test.c")
    assert_passed(mpi.run(program, 2, f"way={way}", env=OWN | {"EVENKEEL_WAIT": "block"}))


def test_small_receives_do_not_keep_barriers_strict(openmpi4, report):
    """Every round has a barrier during a receive."""
    outcome = run_litmus(openmpi4, "posted", 200, OWN, report=report).ok()
    deferred = [entry["deferred"] for entry in outcome.operations("barrier")]
    assert min(deferred) > 150, deferred


def test_a_message_goes_on_while_its_sender_is_inside_the_library(mpi):
    """Processes do not read each other's memory here, so the message has parts and each needs the sender."""
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("progress inside calls of the library is tested under Open MPI 4 and MPICH 5")
    env = OWN | {"EVENKEEL_CMA": "off"}
    assert_never_wrong(run_background(mpi, "sender-in-library", 20, env))


def test_improbe_advances_operations_under_way(mpi):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("progress of operations during probes is tested under Open MPI 4 and MPICH 5")
    assert_never_wrong(run_background(mpi, "improbe", 50, OWN))


def test_with_weak_ordering_a_receive_from_any_source_does_not_wait_for_all_to_enter(openmpi4):
    """The last rank enters when the message has been received."""
    outcome = run_litmus(openmpi4, "entered", 50, OWN | {"EVENKEEL_ORDERING": "weak"}, "held=1").ok()
    assert "RESULT wrong 50\n" in outcome.out, outcome.text


@pytest.mark.parametrize("env", [{"EVENKEEL_BARRIER": "strict"}, {"EVENKEEL_MESSAGES": "host"}], ids=str)
def test_the_library_carries_messages_if_an_option_says_so(openmpi4, env, report):
    outcome = run_litmus(openmpi4, "absence", 5, OWN | env, report=report).ok()
    assert messages_carried(outcome) == (0, 0)


def test_evenkeel_carries_messages_if_barriers_may_be_deferred(openmpi4, report):
    env = {"EVENKEEL_BARRIER": "auto"}
    assert messages_carried(run_litmus(openmpi4, "absence", 5, env, report=report).ok())[0] > 0


def test_the_library_carries_messages_by_default(openmpi4, report):
    """Barriers are strict by default."""
    assert messages_carried(run_litmus(openmpi4, "absence", 5, None, report=report).ok()) == (0, 0)


@pytest.mark.parametrize("option", ["MESSAGES", "ORDERING", "LARGE"])
def test_an_option_with_a_bad_value_is_named(openmpi4, option):
    env = OWN | {f"EVENKEEL_{option}": "maybe"}
    outcome = run_litmus(openmpi4, "run-ahead", 5, env, ranks=2).ok()
    assert f"EVENKEEL_{option}=maybe" in outcome.err


def test_mpi4pys_tests_of_messages_pass_if_they_pass_without_evenkeel(mpi, report):
    if mpi.name not in ("openmpi4", "mpich5") or not mpi.python:
        pytest.skip("mpi4py's tests of messages need mpi4py and run under Open MPI 4 and MPICH 5")
    env = mpi.python_env | OWN | {"MPI4PY_RC_THREAD_LEVEL": "funneled"}
    under_test = dataclasses.replace(mpi, python_env=env)
    comparison = mpi4py_suite.compare(mpi, under_test, 2, MPI4PY, report)
    assert len(comparison.passed_without) > 200
    comparison.assert_nothing_lost()
    assert messages_carried(comparison.outcome)[0] > 1000
