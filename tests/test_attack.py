"""Random programs that try to see that a barrier has returned too early (attack/).

attack/campaign.py runs millions of rounds; this is the short version.
"""

import pytest

from attack_runs import deferred_share, run_attack

# Handlers of these make barriers strict: whether another process has sent them cannot be caught.
SIGNALS = {"SIGHUP": 1, "SIGINT": 2, "SIGUSR1": 10, "SIGTERM": 15, "SIGWINCH": 28, "SIGRTMIN": 34}


def run(mpi, ranks, directory, *args, **options):
    """Returns the outcome and how many observations were impossible (None: the program did not end)."""
    outcome, observations, wrong = run_attack(mpi, ranks, directory, *args, **options)
    assert observations != 0, "nothing was observed: this tested nothing"
    return outcome, wrong


def assert_not_told(outcome, wrong):
    assert wrong == 0, f"{wrong} impossible observations, exit code {outcome.code}\n{outcome.text[-4000:]}"


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks, contexts", [(2, "all"), (3, "itself"), (5, "all")])
@pytest.mark.parametrize("messages", ["own", "host"])
def test_random_programs_cannot_tell(mpi, ranks, contexts, messages, directory, report):
    """Files, pipes, sockets, queues, descriptors, attributes of processes, messages, MPI-IO, callbacks."""
    args = [f"seed={ranks}", "rounds=1000" if mpi.family == "openmpi" else "rounds=300"]
    if contexts != "all":
        args.append(f"contexts={contexts}")
    env = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_MESSAGES": messages}
    outcome, wrong = run(mpi, ranks, directory, *args, report=report, **env)
    assert_not_told(outcome, wrong)
    if "catch its own system calls" not in outcome.err:
        # Requests of the library that were freed before they were complete make later barriers strict.
        least = 0.3 if messages == "own" else 0.02
        assert deferred_share(outcome) > least, "few barriers were deferred: this tested little"


@pytest.mark.parametrize("signal", SIGNALS)
def test_programs_that_send_signals_cannot_tell(openmpi4, signal, directory):
    args = ["channels=signal", f"signal={SIGNALS[signal]}", "rounds=300"]
    assert_not_told(*run(openmpi4, 2, directory, *args, EVENKEEL_BARRIER="deferred"))


@pytest.mark.parametrize("way", [0, 1, 2], ids=["mmap", "syscall", "private-file"])
def test_programs_that_map_memory_cannot_tell(openmpi4, way, directory):
    args = ["channels=memory", f"way={way}", "rounds=300"]
    assert_not_told(*run(openmpi4, 2, directory, *args, EVENKEEL_BARRIER="deferred"))


def test_programs_with_threads_cannot_tell(openmpi4, directory):
    args = ["channels=thread", "rounds=100"]
    assert_not_told(*run(openmpi4, 2, directory, *args, EVENKEEL_BARRIER="deferred"))


def test_handlers_of_faults_cannot_tell(openmpi4, directory):
    args = ["contexts=fault-handler", "rounds=500"]
    assert_not_told(*run(openmpi4, 3, directory, *args, EVENKEEL_BARRIER="deferred"))


@pytest.mark.in_turn
@pytest.mark.parametrize("context", ["truncation", "late-truncation"])
@pytest.mark.parametrize("messages", ["own", "host"])
def test_handlers_of_truncated_messages_cannot_tell(mpi, context, messages, directory):
    args = [f"contexts={context}", "rounds=300"]
    env = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_MESSAGES": messages}
    assert_not_told(*run(mpi, 3, directory, *args, **env))


@pytest.mark.parametrize("messages", ["own", "host"])
def test_senders_that_look_whether_they_were_received_cannot_tell(mpi, messages, directory):
    args = ["channels=match", "contexts=itself", "rounds=1000"]
    env = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_MESSAGES": messages}
    assert_not_told(*run(mpi, 2, directory, *args, **env))


def test_limits_that_ranks_set_for_each_other_tell_nothing(openmpi4, directory):
    args = ["channels=their-limit", "rounds=500"]
    assert_not_told(*run(openmpi4, 2, directory, *args, EVENKEEL_BARRIER="deferred"))


@pytest.mark.parametrize("messages", ["own", "host"])
def test_strict_barriers_pass_the_same_histories(openmpi4, messages, directory):
    env = {"EVENKEEL_BARRIER": "strict", "EVENKEEL_MESSAGES": messages}
    assert_not_told(*run(openmpi4, 3, directory, "rounds=500", **env))


@pytest.mark.parametrize("channel", ["file-size", "file-name", "fifo", "stream", "queue", "offset", "nice"])
def test_the_attack_finds_what_an_open_gate_lets_through(openmpi4, channel, directory):
    open_gate = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_GATE": "off"}
    args = [f"channels={channel}", "rounds=400"]
    _, wrong = run(openmpi4, 3, directory, *args, timeout=20, **open_gate)
    assert wrong is None or wrong > 0, "the attack would not notice a leak"
