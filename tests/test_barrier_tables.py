"""Barriers by schedules, as a table names them: right, observed to be used, and given up with a sentence where they cannot be."""

import json
import platform
import re

import pytest

import mpis
from test_apps import build, result
from test_process_failure import LEAVE_IT

SCHEDULES = [
    "central-counter",
    "n-way-dissemination:n=3",
    "n-wise-exchange",
    "mcs:n=2,release=binomial",
    "flag-groups:r=3",
    "climbing-tree:n=2",
]


def processor():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(path, schedule, counts, machine=None):
    """A table as `evenkeel tune` writes it, for these numbers of ranks on any number of cores."""
    numbers = {
        "measured_unix_s": 0,
        "builtin_ns": 1,
        "best_ns": 1,
        "ratio": 1,
        "ratio_low": 1,
        "ratio_high": 1,
        "turns": 0,
    }
    entries = [
        {"operation": "barrier", "ranks": ranks, "cores": cores, "schedule": schedule, **numbers}
        for ranks in counts
        for cores in range(1, 65)
    ]
    path.write_text(
        json.dumps(
            {
                "schema": 1,
                "version": "0",
                "machine": {"processor": machine or processor()},
                "entries": entries,
            }
        )
    )
    return {"EVENKEEL_TABLE": str(path), "EVENKEEL_BARRIER": "strict"}  # deferred barriers go by no schedule


def used(outcome):
    """The schedules of communicators with barriers, from the report."""
    ranks = json.loads(outcome.report.read_text())["ranks"]
    return {
        comm.get("schedule", "")
        for rank in ranks
        for comm in rank["comms"]
        if any(op["op"] == "barrier" for op in comm["ops"])
    }


def said(outcome):
    return [line for line in outcome.err.splitlines() if line.startswith("evenkeel:")]


def run(mpi, ranks, env, report, *more):
    return result(
        mpi.run(
            build(mpi, "barrier"), ranks, "count=300", "spin=200", "check=30", *more, env=env, report=report
        ),
        ranks,
    )


@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_barriers_hold(openmpi4, tmp_path, report, schedule, ranks):
    outcome = run(openmpi4, ranks, table(tmp_path / "table.json", schedule, [ranks]), report)
    assert used(outcome) == {schedule}
    assert not said(outcome), outcome.err


def test_barriers_hold_under_every_library(mpi, tmp_path, report):
    assert used(run(mpi, 3, table(tmp_path / "table.json", "dissemination", [3]), report)) == {
        "dissemination"
    }


@pytest.mark.parametrize("wait", ["block", "yield", "spin"])
def test_every_way_of_waiting(openmpi4, tmp_path, report, wait):
    ranks = 2 if wait == "spin" else 4  # four that spin on two cores take seconds
    env = table(tmp_path / "table.json", "n-way-dissemination:n=2", [ranks]) | {"EVENKEEL_WAIT": wait}
    assert used(run(openmpi4, ranks, env, report)) == {"n-way-dissemination"}


def test_what_was_not_measured_runs_in_the_built_in_way(openmpi4, tmp_path, report):
    assert used(run(openmpi4, 3, table(tmp_path / "table.json", "dissemination", [2, 4]), report)) == {""}


@pytest.mark.parametrize("barrier", ["auto", "deferred"])
def test_barriers_that_may_be_left_pending_are_none_of_messages(openmpi4, tmp_path, report, barrier):
    env = table(tmp_path / "table.json", "dissemination", [4]) | {"EVENKEEL_BARRIER": barrier}
    outcome = run(openmpi4, 4, env, report)
    assert used(outcome) == {""} and not said(outcome), outcome.err


def test_whoever_comes_last_is_named(openmpi4, tmp_path, report):
    """Nobody counts arrivals in a dissemination; the times of entry say it, scaled up."""
    env = table(tmp_path / "table.json", "dissemination", [4])
    outcome = openmpi4.run(openmpi4.build("late_barriers.c"), 4, "late=2", env=env, report=report)
    assert outcome.code == 0, outcome.err
    assert used(outcome) == {"dissemination"}
    barriers = [
        op
        for rank in json.loads(report.read_text())["ranks"]
        for comm in rank["comms"]
        for op in comm["ops"]
        if op["op"] == "barrier"
    ]
    last, calls = [op["last"] for op in barriers], barriers[0]["calls"]
    assert last[2] > 0.8 * calls and sum(last) <= calls, (last, calls)


def test_killed_rank_is_named(openmpi4, tmp_path):
    program = ["sh", "-c", '"$@"; echo "status $?"', "sh", openmpi4.build("killed_rank.c")]
    env = table(tmp_path / "table.json", "n-wise-exchange", [4])
    outcome = openmpi4.run(
        program, 4, "op=barrier", "victim=2", extra=LEAVE_IT["openmpi4"], env=env, timeout=40
    )
    pid = re.search(r"victim (\d+)", outcome.err).group(1)
    assert outcome.code is not None, f"somebody hung\n{outcome.text}"
    assert sorted(re.findall(r"status (\d+)", outcome.out)) == ["137", "71", "71", "71"], outcome.text
    assert len(said(outcome)) == 1 and re.search(rf"rank 2\b.*\b{pid}\b", said(outcome)[0]), outcome.err


def test_ranks_with_different_tables_use_none(openmpi4, tmp_path, report):
    env = table(tmp_path / "table.json", "dissemination", [4])
    table(tmp_path / "other.json", "mcs", [4])
    program = [
        "sh",
        "-c",
        'test "$OMPI_COMM_WORLD_RANK" != 3 || export EVENKEEL_TABLE="$0"; exec "$@"',
        tmp_path / "other.json",
        build(openmpi4, "barrier"),
    ]
    outcome = result(openmpi4.run(program, 4, "count=300", "spin=200", "check=30", env=env, report=report), 4)
    assert used(outcome) == {""}
    assert len(said(outcome)) == 1 and "rank 3 has another table" in said(outcome)[0], outcome.err


@pytest.mark.parametrize("what", ["missing", "broken", "unknown", "stranger"])
def test_a_table_that_cannot_be_used_is_told_of_once(openmpi4, tmp_path, report, what):
    path = tmp_path / "table.json"
    env = table(
        path,
        "quickest" if what == "unknown" else "dissemination",
        [3],
        machine="another machine" if what == "stranger" else None,
    )
    if what == "missing":
        path.unlink()
    elif what == "broken":
        path.write_text(path.read_text()[:100])
    outcome = run(openmpi4, 3, env, report)
    assert used(outcome) == {""}
    why = {
        "missing": "No such file",
        "broken": "not JSON",
        "unknown": "`quickest`",
        "stranger": "another machine",
    }[what]
    assert len(said(outcome)) == 1 and why in said(outcome)[0] and "built-in way" in said(outcome)[0], (
        outcome.err
    )


def test_the_usual_place_and_none(openmpi4, tmp_path, report):
    (tmp_path / "evenkeel").mkdir()
    table(tmp_path / "evenkeel" / "table.json", "dissemination", [3])
    env = {"XDG_CONFIG_HOME": str(tmp_path), "EVENKEEL_BARRIER": "strict"}
    assert used(run(openmpi4, 3, env, report)) == {"dissemination"}
    assert used(run(openmpi4, 3, env | {"EVENKEEL_TABLE": "none"}, report)) == {""}


def test_what_tune_writes_run_uses(openmpi4, tmp_path, report):
    """From end to end; whether anything is better here is the machine's affair."""
    path, record = tmp_path / "table.json", tmp_path / "tried.json"
    outcome = mpis.run(
        [
            str(mpis.EVENKEEL),
            "tune",
            "--ranks",
            "2,3",
            "--time-limit",
            "2",
            "--table",
            str(path),
            "--json",
            str(record),
        ],
        60,
    )
    assert outcome.code == 0, outcome.text
    assert not outcome.left_over, outcome.left_over
    written, tried = json.loads(path.read_text()), json.loads(record.read_text())
    assert [entry["ranks"] for entry in written["entries"]] == [2, 3]
    for entry, case in zip(written["entries"], tried["cases"]):
        chosen = case["ways"][case["chosen"]]
        assert entry["schedule"] == chosen["schedule"]
        # Never what is not clearly better than the built-in way.
        assert case["chosen"] == 0 or chosen["found"]["again"]["high"] < 0.98
    assert tried["elapsed_s"] < 10
    schedule = written["entries"][1]["schedule"] or ""
    done = openmpi4.evenkeel(
        build(openmpi4, "barrier"),
        3,
        "count=300",
        "check=10",
        options=["--table", path, "--barrier", "strict"],
        report=report,
    )
    assert used(result(done, 3)) == {schedule}
