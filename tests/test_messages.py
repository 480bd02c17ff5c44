"""Point-to-point messages that evenkeel carries itself (`--messages own`): MPI's rules, and nothing seen too early."""

import dataclasses

import pytest

import test_mpi4py

OWN = {"EVENKEEL_BARRIER": "deferred", "EVENKEEL_MESSAGES": "own"}
MPI4PY = [
    "test_p2p_buf",
    "test_p2p_obj",
    "test_p2p_buf_matched",
    "test_p2p_obj_matched",
    "test_request",
    "test_status",
]
LITMUS = {
    "stranded": 3,
    "absence": 3,
    "too-early": 2,
    "single-clock": 4,
    "hearsay": 4,
    "nested": 5,
    "collectives": 5,
    "progress": 3,
    "run-ahead": 5,
    "answer": 3,
    "choice": 3,
    "entered": 3,
    "posted": 4,
    "reborn": 3,
}


def carried(outcome):
    """Messages that evenkeel carried, and how many of them went ahead of a pending barrier."""
    ranks = outcome.record()["ranks"]
    return sum(r["messages"] for r in ranks), sum(r["messages_ahead"] for r in ranks)


@pytest.mark.parametrize("ranks", [2, 5])
def test_rules_and_random_traffic(mpi, ranks, report):
    outcome = mpi.run(mpi.build("messages.c"), ranks, "rounds=60", env=OWN, report=report, timeout=60).ok()
    assert " failures 0 " in outcome.out, outcome.text
    all_of_them, ahead = carried(outcome)
    assert all_of_them > 1000 and ahead > 20, (
        f"evenkeel carried {all_of_them} messages, {ahead} of them ahead of a barrier"
    )


def test_the_libraries_pass_it_too(mpi):
    """Otherwise the program would test what MPI does not say."""
    outcome = mpi.run(mpi.build("messages.c"), 2, "rounds=10", shim=False, timeout=60).ok()
    assert " failures 0 " in outcome.out, outcome.text


def test_without_reading_from_other_processes(openmpi4, report):
    """Large messages then go through the channels in parts."""
    outcome = openmpi4.run(
        openmpi4.build("messages.c"),
        3,
        "rounds=60",
        env=OWN | {"EVENKEEL_CMA": "off"},
        report=report,
        timeout=60,
    ).ok()
    assert " failures 0 " in outcome.out and carried(outcome)[0] > 1000, outcome.text


@pytest.mark.parametrize("cma", ["auto", "off"])
def test_one_gibibyte(openmpi4, cma):
    outcome = openmpi4.run(
        openmpi4.build("messages.c"), 2, "rounds=1", "huge=1", env=OWN | {"EVENKEEL_CMA": cma}, timeout=60
    ).ok()
    assert " failures 0 " in outcome.out, outcome.text


@pytest.mark.parametrize("case", LITMUS)
def test_litmus(mpi, case):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("the order of messages and barriers: Open MPI 4 and MPICH 5")
    outcome = mpi.run(mpi.build("litmus.c"), LITMUS[case], f"case={case}", "rounds=50", env=OWN).ok()
    assert "RESULT wrong 0\n" in outcome.out, outcome.text


def test_small_receives_do_not_keep_barriers_strict(openmpi4, report):
    """In every round there is a barrier with a receive under way."""
    outcome = openmpi4.run(
        openmpi4.build("litmus.c"), 4, "case=posted", "rounds=200", env=OWN, report=report
    ).ok()
    deferred = [
        op["deferred"]
        for rank in outcome.record()["ranks"]
        for comm in rank["comms"]
        for op in comm["ops"]
        if op["op"] == "barrier"
    ]
    assert min(deferred) > 150, deferred


def test_a_sender_inside_the_library_sends_on(mpi):
    """In parts, as where processes may not read each other's memory: each part wants the sender."""
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("messages that go on while their sender is inside the library: Open MPI 4 and MPICH 5")
    outcome = mpi.run(
        mpi.build("background_progress.c"),
        3,
        "case=escorted",
        "rounds=20",
        env=OWN | {"EVENKEEL_CMA": "off"},
        timeout=30,
    ).ok()
    assert "RESULT wrong 0\n" in outcome.out, outcome.text


def test_improbe_does_its_part_of_what_is_under_way(mpi):
    if mpi.name not in ("openmpi4", "mpich5"):
        pytest.skip("operations that go on beside probes: Open MPI 4 and MPICH 5")
    outcome = mpi.run(
        mpi.build("background_progress.c"), 3, "case=improbe", "rounds=50", env=OWN, timeout=30
    ).ok()
    assert "RESULT wrong 0\n" in outcome.out, outcome.text


def test_weak_ordering_is_weaker(openmpi4):
    """A receive from any source does not wait for those who have not entered."""
    outcome = openmpi4.run(
        openmpi4.build("litmus.c"), 3, "case=entered", "rounds=50", env=OWN | {"EVENKEEL_ORDERING": "weak"}
    ).ok()
    wrong = int(outcome.out.split("RESULT wrong ")[1].split()[0])
    assert wrong > 10, outcome.text


@pytest.mark.parametrize("env", [{"EVENKEEL_BARRIER": "strict"}, {"EVENKEEL_MESSAGES": "host"}], ids=str)
def test_messages_stay_with_the_library(openmpi4, env, report):
    outcome = openmpi4.run(
        openmpi4.build("litmus.c"), 3, "case=absence", "rounds=5", env=OWN | env, report=report
    ).ok()
    assert carried(outcome) == (0, 0)


def test_they_are_carried_unless_somebody_objects(openmpi4, report):
    outcome = openmpi4.run(openmpi4.build("litmus.c"), 3, "case=absence", "rounds=5", report=report).ok()
    assert carried(outcome)[0] > 0


@pytest.mark.parametrize("option", ["MESSAGES", "ORDERING"])
def test_a_bad_value_is_named(openmpi4, option):
    outcome = openmpi4.run(
        openmpi4.build("litmus.c"), 2, "case=run-ahead", "rounds=5", env=OWN | {f"EVENKEEL_{option}": "maybe"}
    ).ok()
    assert f"EVENKEEL_{option}=maybe" in outcome.err


@pytest.mark.timeout(300)
def test_mpi4py_point_to_point(mpi, report):
    """mpi4py's own tests: what passes without evenkeel passes with messages of evenkeel's."""
    if mpi.name not in ("openmpi4", "mpich5") or not mpi.python:
        pytest.skip(
            "mpi4py's point-to-point tests with messages of evenkeel's: Open MPI 4 and MPICH 5, where mpi4py is"
        )
    without = test_mpi4py.baseline(mpi, 2, MPI4PY, 120)
    passed = {name for name, verdict in without["verdicts"].items() if verdict == "ok"}
    python = mpi.python_env | OWN | {"MPI4PY_RC_THREAD_LEVEL": "funneled"}
    outcome, verdicts, _ = test_mpi4py.run_suite(
        dataclasses.replace(mpi, python_env=python), 2, MPI4PY, True, 120, report
    )
    lost = sorted(name for name in passed if verdicts.get(name) != "ok")
    assert len(passed) > 200 and not lost, (
        f"{len(lost)} of {len(passed)} tests no longer pass: {lost[:20]}\n{outcome.err[-2000:]}"
    )
    assert carried(outcome)[0] > 1000
