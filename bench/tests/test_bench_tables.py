"""Plans, runs, rows and tables of the benchmark on one host."""

import doctest

import pytest

from evenkeel_bench import launch, plan, results, statistics, tables
from evenkeel_bench.launch import Outcome
from evenkeel_bench.libraries import Configuration, Library
from evenkeel_bench.results import Results, read_csv, rows_of, write_csv

OPENMPI = Library("openmpi4", "Open MPI", "mpicc", "mpirun", "openmpi", "openmpi4")
MPICH = Library("mpich5", "MPICH", "mpicc", "mpiexec", "mpich", "mpich5")
ALL = [
    Configuration("openmpi4-bound", OPENMPI),
    Configuration("mpich5", MPICH, spins=True),
    Configuration("openmpi4-bound+evenkeel", OPENMPI, evenkeel="/x.so"),
    Configuration("mpich5+evenkeel", MPICH, evenkeel="/y.so"),
]


@pytest.mark.parametrize("module", [launch, statistics, tables])
def test_examples_in_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_the_environment_is_passed_on_to_the_ranks():
    assert ALL[2].command(4, "p", ["--cap", 1], {"EVENKEEL_RECORD": "0"}) == [
        "mpirun",
        "-x",
        "LD_PRELOAD=/x.so",
        "-x",
        "EVENKEEL_QUIET=1",
        "-x",
        "EVENKEEL_BARRIER=strict",
        "-x",
        "EVENKEEL_RECORD=0",
        "-n",
        "4",
        "p",
        "--cap",
        "1",
    ]
    assert ALL[3].command(2, "p", [])[1:4] == ["-genv", "LD_PRELOAD", "/y.so"]


def planned(**more):
    return plan.rounds(plan.FULL, ALL, cores=2, **more)


def test_every_configuration_runs_once_a_round():
    rounds = planned()
    assert len(rounds) == 5
    for tasks in rounds:
        keys = [t.key() for t in tasks]
        assert len(keys) == len(set(keys))
        for ranks in (2, 4, 8, 16, 32):
            assert {t.configuration for t in tasks if t.section == "collectives" and t.ranks == ranks} >= {
                "floor",
                "openmpi4-bound",
                "openmpi4-bound+evenkeel",
                "mpich5+evenkeel",
            }


def test_the_order_is_shuffled_and_repeats_with_its_seed():
    def order(rounds):
        return [[t.key() for t in tasks] for tasks in rounds]

    assert order(planned(seed=1)) == order(planned(seed=1)) != order(planned(seed=2))
    assert order(planned(seed=1))[0] != order(planned(seed=1))[1]


def test_a_spinning_library_is_measured_in_part_and_the_table_says_so():
    first, last = planned()[0], planned()[-1]
    slow = next(t for t in first if t.key() == ("collectives", "mpich5", 16, ""))
    assert "--ops barrier,allreduce:8" in " ".join(map(str, slow.arguments)) and slow.left_out
    assert any(t.key() == ("collectives", "mpich5", 16, "") for t in last)
    assert not any(t.key() == ("collectives", "mpich5", 32, "") for t in last)
    rows = rows_of(slow, 1, Outcome([{"op": "barrier", "bytes": 0, "mean_us": 1}], "", 1))
    assert {(r["op"], r["bytes"]) for r in rows if r.get("reason")} == {
        ("allreduce", 32768),
        ("reduce", 8),
        ("reduce", 1024),
        ("bcast", 8),
        ("bcast", 65536),
    }


def test_all_rounds_take_less_than_the_time_that_the_readme_gives():
    many = [
        c
        for base in (
            "openmpi4",
            "openmpi4-bound",
            "openmpi5-bound",
            "mpich4",
            "mpich5",
            "mpich5-throttled",
            "impi",
        )
        for c in (
            Configuration(base, OPENMPI, spins=base in ("mpich4", "mpich5")),
            Configuration(f"{base}+evenkeel", OPENMPI, evenkeel="/x"),
        )
    ]
    assert plan.expected_s(plan.rounds(plan.FULL, many, 2)) < 12.5 * 60
    assert plan.expected_s(plan.rounds(plan.QUICK, many, 2)) < 3 * 60


def task(ops="barrier,reduce:8"):
    return plan.Task("collectives", "openmpi4-bound", 4, "collectives", ("--ops", ops, "--limit", 5), 5, 1.0)


def test_a_run_that_hangs_has_a_reason_in_the_table():
    rows = rows_of(
        task(), 2, Outcome([{"op": "barrier", "bytes": 0, "mean_us": 3.0}], "cut off after 5 s", 5)
    )
    assert rows[0]["mean_us"] == 3.0 and "reason" not in rows[0]
    assert rows[1] == {
        "round": 2,
        "section": "collectives",
        "configuration": "openmpi4-bound",
        "ranks": 4,
        "variant": "",
        "op": "reduce",
        "bytes": 8,
        "reason": "cut off after 5 s",
    }
    text = tables.write(Results(rows), [], {}, {}, 60)
    assert "cut off after 5 s (rounds 2)" in text
    assert "| openmpi4-bound | cut off after 5 s |" in text


def test_a_failed_run_has_a_reason():
    assert launch.reason_of(0, 1, 5, "") == ""
    assert launch.reason_of(None, 8, 5, "") == "cut off after 5 s"
    assert launch.reason_of(142, 5.1, 5, "killed") == "cut off after 5 s"
    assert (
        launch.reason_of(3, 1, 5, "noise\nwrong answer: 1 instead of 2\n")
        == "exit code 3: wrong answer: 1 instead of 2"
    )


def test_the_latency_table_marks_the_best_library_and_never_evenkeel():
    rows = [
        {
            "round": r,
            "section": "collectives",
            "configuration": c,
            "ranks": 2,
            "variant": "",
            "op": "barrier",
            "bytes": 0,
            "mean_us": m,
            "median_us": m,
            "p99_us": 2 * m,
            "completion_us": m,
        }
        for r in (1, 2, 3)
        for c, m in (("impi", 0.2 + r / 100), ("openmpi4", 0.3), ("impi+evenkeel", 0.1))
    ]
    text = next(tables.latency_tables(Results(rows)))
    assert "| impi | **0.220** / 0.220 / 0.440 (0.220) |" in text
    assert "| impi+evenkeel | 0.100 / 0.100 / 0.200 (0.100) |" in text


def test_rows_survive_writing_and_reading_the_csv(tmp_path):
    rows = [
        {
            "round": 1,
            "section": "late",
            "configuration": "impi",
            "ranks": 3,
            "variant": "",
            "op": "late_ibarrier",
            "bytes": 0,
            "worst_ms": 100.25,
        },
        {
            "round": 2,
            "section": "late",
            "configuration": "impi",
            "ranks": 3,
            "op": "late_ibarrier",
            "bytes": 0,
            "reason": 'a, "b"',
        },
    ]
    write_csv(tmp_path / "r.csv", rows)
    back = read_csv(tmp_path / "r.csv")
    assert back[0]["worst_ms"] == 100.25 and back[0]["ranks"] == 3
    assert back[1]["reason"] == 'a, "b"' and "worst_ms" not in back[1]
    assert Results(back).series("worst_ms", "late", "impi", 3, "late_ibarrier") == {1: 100.25}


def test_separators_are_shown_if_they_make_a_difference():
    def row(section, op, value):
        return {
            "round": 1,
            "section": section,
            "configuration": "impi",
            "ranks": 16,
            "variant": "",
            "op": op,
            "bytes": 8,
            "mean_us": value,
            "completion_us": value,
        }

    text = tables.separator_table(
        Results(
            [
                row("collectives", "reduce", 10),
                row("separator", "reduce", 20),
                row("collectives", "bcast", 10),
                row("separator", "bcast", 11),
            ]
        )
    )
    assert "reduce 8 B" in text and "bcast" not in text


def test_calls_that_the_host_library_carried_out_are_listed():
    row = {
        "round": 1,
        "section": "collectives",
        "configuration": "impi+evenkeel",
        "ranks": 4,
        "op": "memory",
        "calls": 10,
        "host_calls": 5,
        "reason": "no room",
    }
    assert "| impi+evenkeel | 4 | 10 | 5 | no room |" in tables.coverage_table(Results([row]))
    assert (
        results.is_library("impi")
        and not results.is_library("impi+evenkeel")
        and not results.is_library("floor")
    )
