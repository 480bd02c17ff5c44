"""The section `deferred`: which runs it has, and how its targets are judged, on made-up results."""

import doctest
import json
import os
import subprocess

import pytest

from evenkeel_bench import (
    deferral,
    deferral_tables,
    deferral_targets,
    disturbance,
    judgement,
    launch,
    markdown,
    plan,
    plots,
    programs,
)
from evenkeel_bench.deferral import AUTO, DEFERRED, HOST, IMPLICIT, STRICT
from evenkeel_bench.launch import Outcome
from evenkeel_bench.libraries import Configuration, Library
from evenkeel_bench.results import Results, read_csv, rows_of, write_csv
from evenkeel_bench.run_reports import rows_of_report

EK, EK5 = deferral.OURS
OMPI, MPICH = deferral.HOSTS
LIBRARY = Library("openmpi4", "Open MPI", "mpicc", "mpirun", "openmpi", "openmpi4")
ALL = [
    Configuration(n, LIBRARY, evenkeel="/x.so" if n.endswith("+evenkeel") else "")
    for n in (*deferral.OURS, *deferral.HOSTS, "mpich4")
]


def row(configuration, workload, ranks, barriers, value, round_=1, **more):
    return {
        "round": round_,
        "section": "deferred",
        "configuration": configuration,
        "ranks": ranks,
        "variant": deferral.variant(workload.name, barriers),
        "op": workload.program,
        "bytes": 0,
        "seconds": value,
    } | more


def target_of(rows, beginning):
    found = [t for t in deferral_targets.evaluate(Results(rows)) if t.what.startswith(beginning)]
    assert len(found) == 1, [t.what for t in found]
    return found[0]


@pytest.mark.parametrize("module", [deferral, disturbance, markdown])
def test_examples_in_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_a_target_that_was_not_measured_is_not_met():
    assert {t.verdict for t in deferral_targets.evaluate(Results())} == {judgement.UNKNOWN}
    assert deferral_tables.write(Results()) == ""


def planned(budget=plan.FULL):
    return plan.rounds(budget, ALL, 2, sections=("deferred",))


def test_the_section_runs_only_if_it_is_named():
    assert not any(t.section == "deferred" for tasks in plan.rounds(plan.FULL, ALL, 2) for t in tasks)
    assert all(t.section == "deferred" for t in planned()[0])


def test_every_run_has_its_own_key_and_sets_barriers_only_for_evenkeel():
    for tasks in planned():
        keys = [t.key() for t in tasks]
        assert len(keys) == len(set(keys))
    for t in planned()[0]:
        barriers = deferral.split_variant(t.variant)[1]
        mode = {HOST: None, IMPLICIT: STRICT}.get(barriers, barriers)
        assert t.environment.get("EVENKEEL_BARRIER") == mode
        assert (barriers == HOST) == (t.configuration in deferral.HOSTS)
        assert t.disturbance == next((k for k in disturbance.KINDS if k and k in t.variant), "")
        wait = "block" if "blocking" in t.variant else "spin-block" if barriers == IMPLICIT else None
        assert t.environment.get("EVENKEEL_WAIT") == wait


def test_all_rounds_take_less_than_the_time_that_the_readme_gives():
    assert plan.expected_s(planned()) < 15 * 60
    assert plan.expected_s(planned(plan.QUICK)) < 6 * 60


def test_a_run_of_an_app_becomes_a_row():
    task = next(t for t in planned()[0] if t.program == "scan")
    printed = launch.parse(
        "noise\nRESULT ok app=scan ranks=8 algorithm=optimized n=9 repeat=2 mean_s=0.1 seconds=0.250000\n"
    )
    rows = rows_of(task, 2, Outcome(printed, "", 1))
    assert [(r["op"], r["seconds"], r["variant"]) for r in rows] == [("scan", 0.25, task.variant)]
    wrong = rows_of(
        task, 2, Outcome(launch.parse("RESULT wrong app=scan ranks=8 seconds=0.2\n"), "exit code 1: wrong", 1)
    )
    assert [(r["op"], r.get("seconds"), r["reason"]) for r in wrong] == [("scan", None, "exit code 1: wrong")]
    assert launch.parse("RESULT ok app=scan ranks=8 sec") == []


def test_one_call_is_judged_at_each_number_of_ranks():
    rows = [
        row(EK, deferral.CALL, n, DEFERRED, None, call_ns=30, middle_ns=v)
        for n, v in ((2, 12), (16, 25), (64, 26))
    ]
    assert target_of(rows, "one deferred barrier, 16 ranks").verdict == judgement.MET
    assert target_of(rows, "one deferred barrier, 64 ranks").verdict == judgement.MISSED
    assert target_of(rows, "one deferred barrier, 4 ranks").verdict == judgement.UNKNOWN
    flat = target_of(rows, "the same, 64 ranks to 2")
    assert flat.judgements[0].value == pytest.approx(26 / 12) and flat.verdict == judgement.MISSED


def test_a_loop_is_compared_with_its_own_library_without_barriers():
    with_barriers, without = deferral.loop(100), deferral.loop(100, False)
    rows = [
        row(EK, with_barriers, 16, AUTO, 1.04),
        row(EK, without, 16, AUTO, 1.0),
        row(EK, with_barriers, 16, STRICT, 2.0),
        row(EK5, with_barriers, 16, AUTO, 1.2),
        row(EK5, without, 16, AUTO, 1.0),
        row(OMPI, with_barriers, 16, HOST, 3.0),
        row(OMPI, without, 16, HOST, 0.5, compute_s=0.1),
    ]
    t = target_of(rows, "barriers between 0 to 200 µs")
    assert {j.configuration: j.value for j in t.judgements} == {
        EK: pytest.approx(1.04),
        EK5: pytest.approx(1.2),
    }
    assert t.verdict == "partly: **missed** over mpich5-one-session"
    text = deferral_tables.loops(Results(rows))
    assert "6.00 × (6.00–6.00) | - | 200 |" in text and "2.00 × (2.00–2.00) | - | - | - |" in text


@pytest.mark.parametrize(
    "workload, beginning, limit",
    [
        (deferral.SCAN, "prefix scan, idle", 0.81),
        (deferral.NAIVE, "naive", 1.0),
        (deferral.SCAN_DISTURBED, "prefix scan, a competitor", 0.71),
        (deferral.SCAN_DOUBLED, "prefix scan, all ranks on half", 1.03),
        (deferral.SCAN_QUOTA, "prefix scan, half of the cores' time", 1.03),
    ],
)
def test_scans_are_compared_within_a_round(workload, beginning, limit):
    rows = [
        row(EK, workload, 8, barriers, v * r, r)
        for r in (1, 2, 5)
        for barriers, v in ((DEFERRED, limit), (STRICT, 1))
    ]
    assert target_of(rows, beginning).judgements[0].value == pytest.approx(limit)
    more = [row(EK, workload, 8, DEFERRED, 2, r) for r in (6, 7, 8, 9)] + [
        row(EK, workload, 8, STRICT, 1, r) for r in (6, 7, 8, 9)
    ]
    assert target_of(rows + more, beginning).verdict == judgement.MISSED


def radix(configuration, ranks, barriers, idle, disturbed):
    return [
        row(configuration, deferral.RADIX, ranks, barriers, idle),
        row(configuration, deferral.RADIX_DISTURBED, ranks, barriers, disturbed),
    ]


def test_the_slowdown_by_competitors_is_compared_with_that_of_the_best_library():
    rows = radix(EK, 8, AUTO, 1, 3) + radix(OMPI, 8, HOST, 2, 8) + radix(MPICH, 8, HOST, 1, 9)
    t = target_of(rows, "radix sort, 8 ranks: what competitors cost")
    assert t.judgements[0].value == pytest.approx(3 / 4) and t.verdict == judgement.MISSED  # half is wanted
    cells = "1,000 (1,000–1,000) | 9,000 (9,000–9,000) | 9.00 × (9.00–9.00) |"
    text = deferral_tables.radix(Results(rows))
    assert f"| 8 | mpich5-one-session | host | competitors | - | {cells}" in text


def test_each_disturbance_has_a_row_of_its_own():
    rows = [
        row(EK, deferral.RADIX, 8, AUTO, 1),
        row(EK, deferral.RADIX_DOUBLED, 8, AUTO, 2),
        row(EK, deferral.RADIX_QUOTA, 8, AUTO, 4),
    ]
    text = deferral_tables.radix(Results(rows))
    assert (
        "| doubled | - | 1,000" in text
        and "2.00 × (2.00–2.00) |" in text
        and "| quota | - | 1,000" in text
        and "4.00 × (4.00–4.00) |" in text
    )
    assert target_of(rows, "radix sort, 8 ranks: what competitors cost").verdict == judgement.UNKNOWN, (
        "what competitors cost was not measured"
    )


def test_deferred_barriers_are_compared_with_implicit_coscheduling():
    rows = radix(EK, 8, AUTO, 1, 3) + radix(EK, 8, IMPLICIT, 1, 4)
    values = [
        t.judgements[0].value
        for t in deferral_targets.evaluate(Results(rows))
        if "implicit coscheduling" in t.what
    ]
    assert values == [pytest.approx(1), pytest.approx(3 / 4)]
    assert f"| 8 | {EK} | implicit coscheduling | competitors |" in deferral_tables.radix(Results(rows))


def test_half_of_the_ranks_are_compared_with_all_ranks_of_the_fastest_library():
    rows = (
        radix(OMPI, 16, HOST, 2, 8)
        + radix(MPICH, 16, HOST, 1, 9)
        + [row(EK, deferral.RADIX_DISTURBED, 8, DEFERRED, 4.4)]
    )
    t = target_of(rows, "radix sort beside competitors, 8 ranks deferred to 16")
    assert t.judgements[0].value == pytest.approx(0.55) and t.verdict == judgement.MISSED


def test_messages_are_compared_with_those_of_the_library_underneath():
    workload = deferral.MESSAGES[8]
    rows = [
        row(c, workload, 2, barriers, ns)
        for c, barriers, ns in ((EK, AUTO, 110), (OMPI, HOST, 100), (MPICH, HOST, 10))
    ]
    assert target_of(rows, "messages of 8 B").judgements[0].value == pytest.approx(1.1)
    assert "| messages of 8 B | openmpi4-bound |" in deferral_tables.messages(Results(rows))


def test_a_slower_program_is_a_miss_and_is_named():
    rows = [
        row(EK, workload, 8, barriers, v)
        for workload in deferral.SMALL
        for barriers, v in ((AUTO, 1.04 if workload.program == "mg" else 0.9), (STRICT, 1))
    ]
    t = target_of(rows, "small programs")
    assert t.verdict == judgement.MISSED and "small mg; 1 of 6 above 1.03" in t.judgements[0].text
    assert "| small mg | 8 |" in deferral_tables.pairs(Results(rows))
    assert (
        target_of(
            [row(EK, k, 4, w, 1) for k in deferral.BLOCK for w in (DEFERRED, STRICT)],
            "two ranks on each core, --wait block, deferred",
        ).verdict
        == judgement.MET
    )
    assert (
        target_of(
            [row(EK, k, 4, w, v) for k in deferral.BLOCK for w, v in ((AUTO, 1.1), (STRICT, 1))],
            "two ranks on each core, --wait block, auto",
        ).verdict
        == judgement.MISSED
    )


def test_the_report_of_a_run_says_how_many_barriers_were_left_pending(tmp_path):
    task = next(t for t in planned()[0] if t.program == "scan" and t.wants_report)
    ops = [{"op": "barrier", "calls": 10, "deferred": 9}, {"op": "gather", "calls": 1, "deferred": 0}]
    (tmp_path / "run.json").write_text(
        json.dumps({"ranks": [{"comms": [{"ops": ops}]}, {"comms": [{"ops": ops}, {"ops": []}]}]})
    )
    found = rows_of_report(tmp_path / "run.json", task, 3)
    assert [(r["op"], r["calls"], r["deferred"], r["variant"]) for r in found] == [
        ("deferral", 20, 18, task.variant)
    ]
    name, barriers = deferral.split_variant(task.variant)
    assert (
        deferral_tables.share(
            Results(found), task.configuration, task.ranks, deferral.Workload(name, "scan", ()), barriers
        )
        == "90%"
    )
    assert "no record" in rows_of_report(tmp_path / "none.json", task, 3)[0]["reason"]


def test_rows_read_from_the_csv_make_a_figure(tmp_path):
    rows = [
        row(
            EK,
            deferral.CALL,
            n,
            DEFERRED,
            None,
            call_ns=12.0,
            worst_rank_ns=13.0,
            middle_ns=12.5,
            row_ns=11.0,
            waited=0.01,
            clock_ns=20.0,
        )
        for n in deferral.CALL_RANKS
    ]
    write_csv(tmp_path / "r.csv", rows)
    back = Results(read_csv(tmp_path / "r.csv"))
    assert target_of(back.rows, "one deferred barrier, 2 ranks").judgements[0].value == 12.5
    assert f"| {EK} | 64 | 12.5 (12.5–12.5) | 12.0 (12.0–12.0) |" in deferral_tables.calls(back)
    assert (
        "deferred.svg",
        "What deferred barriers bring, beside what they were to bring",
    ) in plots.write_all(back, tmp_path)
    assert (tmp_path / "deferred.svg").stat().st_size > 1000


def test_doubled_ranks_have_half_of_the_cores():
    cores = sorted(os.sched_getaffinity(0))
    with disturbance.Disturber("competitors") as disturber:
        said = subprocess.check_output(
            disturber.command(
                disturbance.DOUBLED, ["python3", "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
            )
        )
        assert json.loads(said) == cores[: -(-len(cores) // 2)]
        assert disturber.command("", ["a", 1]) == ["a", "1"]


def test_a_quota_limits_the_command_and_is_gone_afterwards():
    with disturbance.Disturber("competitors") as disturber:
        try:
            command = disturber.command(disturbance.QUOTA_SET, ["sh", "-c", "cat /proc/self/cgroup; exit 5"])
        except disturbance.DisturbanceError as e:
            pytest.skip(str(e))
        group = disturber.group
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 5 and group.name in done.stdout
        allowed = [
            int(n)
            for f in ("cpu.cfs_quota_us", "cpu.max")
            if (group / f).exists()
            for n in (group / f).read_text().split()[:1]
        ]
        assert allowed == [disturbance.QUOTA * len(os.sched_getaffinity(0)) * disturbance.PERIOD_US]
    assert not group.exists()


def test_competitors_return_the_exit_code_and_end_with_the_command(tmp_path):
    program = tmp_path / "competitors"
    subprocess.run(["gcc", *programs.FLAGS, "-o", program, programs.SOURCES / "competitors.c"], check=True)

    def run_beside(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=False)

    assert run_beside("1", "true").returncode == 0
    done = run_beside("2", "sh", "-c", "pgrep -P $PPID | wc -l; exit 7")
    assert done.returncode == 7 and int(done.stdout) == 2 * len(os.sched_getaffinity(0)) + 1
    assert run_beside("0", "true").returncode == 2
