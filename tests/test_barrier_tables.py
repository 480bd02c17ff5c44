"""Barriers follow the schedule that a table names.

They are right, the report says which schedule was used, and evenkeel names a table that cannot be used.
"""

import json
import platform
from pathlib import Path

import pytest

import processes
from apps import assert_right, build
from dead_ranks import assert_dead_rank_is_named, run_until_a_rank_dies
from paths import EVENKEEL
from processes import communicators

SCHEDULES = [
    "central-counter",
    "n-way-dissemination:n=3",
    "n-wise-exchange",
    "mcs:n=2,release=binomial",
    "flag-groups:r=3",
    "climbing-tree:n=2",
]


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def write_table(path, schedule, counts, machine=None):
    """Writes a table as `evenkeel tune` does, for these numbers of ranks on any number of cores.

    Returns the environment that makes evenkeel use it. It asks for strict barriers: deferred ones use no
    schedule.
    """
    measured = {"measured_unix_s": 0, "builtin_ns": 1, "best_ns": 1, "turns": 0}
    ratios = {"ratio": 1, "ratio_low": 1, "ratio_high": 1}
    entries = [
        {"operation": "barrier", "ranks": ranks, "cores": cores, "schedule": schedule, **measured, **ratios}
        for ranks in counts
        for cores in range(1, 65)
    ]
    machine = {"processor": machine or processor()}
    path.write_text(json.dumps({"schema": 1, "version": "0", "machine": machine, "entries": entries}))
    return {"EVENKEEL_TABLE": str(path), "EVENKEEL_BARRIER": "strict"}


def schedules_used(outcome):
    """The schedules of all communicators that had barriers, from the report."""
    return {
        comm.get("schedule", "")
        for comm in communicators(outcome.read_report())
        if any(entry["op"] == "barrier" for entry in comm["ops"])
    }


def run(mpi, ranks, env, report):
    args = ["count=300", "spin=200", "check=30"]
    return assert_right(mpi.run(build(mpi, "barrier"), ranks, *args, env=env, report=report), ranks)


@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_barriers_of_the_table_are_right(openmpi4, tmp_path, report, schedule, ranks):
    outcome = run(openmpi4, ranks, write_table(tmp_path / "table.json", schedule, [ranks]), report)
    assert schedules_used(outcome) == {schedule}
    assert not outcome.said, outcome.err


def test_barriers_of_the_table_are_right_under_every_library(mpi, tmp_path, report):
    env = write_table(tmp_path / "table.json", "dissemination", [3])
    assert schedules_used(run(mpi, 3, env, report)) == {"dissemination"}


@pytest.mark.parametrize("wait", ["block", "spin-block", "yield", "spin"])
def test_barriers_of_the_table_are_right_however_ranks_wait(openmpi4, tmp_path, report, wait):
    ranks = 2 if wait == "spin" else 4  # on two cores, four ranks that spin take seconds
    env = write_table(tmp_path / "table.json", "n-way-dissemination:n=2", [ranks]) | {"EVENKEEL_WAIT": wait}
    assert schedules_used(run(openmpi4, ranks, env, report)) == {"n-way-dissemination"}


def test_numbers_of_ranks_that_were_not_measured_use_the_built_in_barrier(openmpi4, tmp_path, report):
    env = write_table(tmp_path / "table.json", "dissemination", [2, 4])
    assert schedules_used(run(openmpi4, 3, env, report)) == {""}


@pytest.mark.parametrize("barrier", ["auto", "deferred"])
def test_barriers_that_may_be_deferred_use_no_schedule(openmpi4, tmp_path, report, barrier):
    env = write_table(tmp_path / "table.json", "dissemination", [4]) | {"EVENKEEL_BARRIER": barrier}
    outcome = run(openmpi4, 4, env, report)
    assert schedules_used(outcome) == {""} and not outcome.said, outcome.err


def test_the_last_rank_to_arrive_is_named(openmpi4, tmp_path, report):
    """A dissemination barrier counts no arrivals; the report takes them from sampled times of entry."""
    env = write_table(tmp_path / "table.json", "dissemination", [4])
    program = openmpi4.build("late_barriers.c")
    outcome = openmpi4.run(program, 4, "late=2", env=env, report=report)
    assert outcome.code == 0, outcome.err
    assert schedules_used(outcome) == {"dissemination"}
    barriers = outcome.operations("barrier")
    last, calls = [entry["last"] for entry in barriers], barriers[0]["calls"]
    assert 0.8 * calls < last[2] == sum(last) <= calls, (last, calls)


def test_a_killed_rank_is_named(openmpi4, tmp_path):
    env = write_table(tmp_path / "table.json", "n-wise-exchange", [4])
    assert_dead_rank_is_named(run_until_a_rank_dies(openmpi4, "op=barrier", "victim=2", env=env), 2)


def test_ranks_with_different_tables_use_none(openmpi4, tmp_path, report):
    env = write_table(tmp_path / "table.json", "dissemination", [4])
    write_table(tmp_path / "other.json", "mcs", [4])
    other_for_rank_3 = 'test "$OMPI_COMM_WORLD_RANK" != 3 || export EVENKEEL_TABLE="$0"; exec "$@"'
    program = ["sh", "-c", other_for_rank_3, tmp_path / "other.json", build(openmpi4, "barrier")]
    args = ["count=300", "spin=200", "check=30"]
    outcome = assert_right(openmpi4.run(program, 4, *args, env=env, report=report), 4)
    assert schedules_used(outcome) == {""}
    assert len(outcome.said) == 1 and "rank 3 has another barrier table" in outcome.said[0], outcome.err


def remove(path):
    path.unlink()


def cut_short(path):
    path.write_text(path.read_text()[:100])


@pytest.mark.parametrize(
    "schedule, machine, spoil, reason",
    [
        ("dissemination", None, remove, "No such file"),
        ("dissemination", None, cut_short, "not JSON"),
        ("quickest", None, None, "`quickest`"),
        ("dissemination", "another machine", None, "another machine"),
    ],
    ids=["missing", "not JSON", "unknown schedule", "of another machine"],
)
def test_a_table_that_cannot_be_used_is_named_once(
    openmpi4, tmp_path, report, schedule, machine, spoil, reason
):
    path = tmp_path / "table.json"
    env = write_table(path, schedule, [3], machine)
    if spoil:
        spoil(path)
    outcome = run(openmpi4, 3, env, report)
    assert schedules_used(outcome) == {""}
    assert len(outcome.said) == 1, outcome.err
    assert reason in outcome.said[0] and "built-in barrier" in outcome.said[0], outcome.err


def test_the_table_in_the_usual_place_is_used_unless_none_is_asked_for(openmpi4, tmp_path, report):
    (tmp_path / "evenkeel").mkdir()
    write_table(tmp_path / "evenkeel" / "table.json", "dissemination", [3])
    env = {"XDG_CONFIG_HOME": str(tmp_path), "EVENKEEL_BARRIER": "strict"}
    assert schedules_used(run(openmpi4, 3, env, report)) == {"dissemination"}
    assert schedules_used(run(openmpi4, 3, env | {"EVENKEEL_TABLE": "none"}, report)) == {""}


def test_run_uses_what_tune_writes(openmpi4, tmp_path, report):
    """The machine decides whether any schedule is better than the built-in barrier."""
    path, record = tmp_path / "table.json", tmp_path / "tried.json"
    limits = ["--ranks", "2,3", "--time-limit", "2"]
    line = [str(EVENKEEL), "tune", *limits, "--table", str(path), "--json", str(record)]
    outcome = processes.run(line)
    assert outcome.code == 0, outcome.text
    assert not outcome.left_over, outcome.left_over
    written, tried = json.loads(path.read_text()), json.loads(record.read_text())
    assert [entry["ranks"] for entry in written["entries"]] == [2, 3]
    for entry, case in zip(written["entries"], tried["cases"], strict=True):
        chosen = case["ways"][case["chosen"]]
        assert entry["schedule"] == chosen["schedule"]
        # Another schedule than the built-in one only if it is clearly better.
        assert case["chosen"] == 0 or chosen["found"]["confirmation"]["high"] < 0.98
    schedule = written["entries"][1]["schedule"] or ""
    options = ["--table", path, "--barrier", "strict"]
    args = ["count=300", "check=10"]
    done = openmpi4.evenkeel(build(openmpi4, "barrier"), 3, *args, options=options, report=report)
    assert schedules_used(assert_right(done, 3)) == {schedule}
