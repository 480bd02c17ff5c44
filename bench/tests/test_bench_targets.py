"""Targets, judged on made-up results whose judgements can be worked out by hand."""

import pytest

from evenkeel_bench import judgement, targets
from evenkeel_bench.results import Results

EK, EK5 = "openmpi4-bound+evenkeel", "mpich5+evenkeel"


def row(configuration, ranks, op, round_=1, bytes_=0, section="collectives", **more):
    return {
        "round": round_,
        "section": section,
        "configuration": configuration,
        "ranks": ranks,
        "variant": "",
        "op": op,
        "bytes": bytes_,
    } | more


def target_of(results, beginning):
    found = [t for t in targets.evaluate(Results(results)) if t.what.startswith(beginning)]
    assert len(found) == 1, [t.what for t in found]
    return found[0]


def test_a_target_that_was_not_measured_is_not_met():
    assert {t.verdict for t in targets.evaluate(Results())} == {judgement.UNKNOWN}


def test_a_barrier_is_compared_with_the_floor_that_waits_in_the_same_way():
    floor = [
        row("floor", 16, "barrier", variant="yield", mean_us=10),
        row("floor", 16, "barrier", variant="futex", mean_us=1),
    ]
    what = "barrier, 16 ranks, to the bare"
    met = target_of([*floor, row(EK, 16, "barrier", mean_us=14)], what)
    assert met.verdict == judgement.MET and met.judgements[0].value == pytest.approx(1.4)
    missed = target_of([*floor, row(EK, 16, "barrier", mean_us=14.1)], what)
    assert missed.verdict == judgement.MISSED
    two = [
        row("floor", 2, "barrier", variant="spin", mean_us=0.07),
        row("floor", 2, "barrier", variant="yield", mean_us=9),
        row(EK, 2, "barrier", mean_us=0.14),
    ]
    assert target_of(two, "barrier, 2 ranks, to the bare").judgements[0].value == pytest.approx(2)


def test_best_library_is_the_best_of_each_round_and_never_evenkeel():
    rows = [
        row("openmpi4", 16, "barrier", 1, mean_us=40),
        row("impi", 16, "barrier", 1, mean_us=30),
        row("openmpi4", 16, "barrier", 2, mean_us=20),
        row("impi", 16, "barrier", 2, mean_us=60),
        row(EK, 16, "barrier", 1, mean_us=12),
        row(EK, 16, "barrier", 2, mean_us=12),
        row(EK5, 16, "barrier", 1, mean_us=1),
        row("floor", 16, "barrier", 1, variant="yield", mean_us=1),
    ]
    t = target_of(rows, "barrier, 16 ranks, to the best library")
    assert {j.configuration: j.value for j in t.judgements} == {
        EK: pytest.approx(0.5),
        EK5: pytest.approx(1 / 30),
    }
    assert t.verdict == "partly: **missed** over openmpi4-bound"


def test_a_speed_up_is_relative_to_the_same_library():
    rows = [
        row("mpich5", 16, "barrier", mean_us=40_000),
        row("impi", 16, "barrier", mean_us=1),
        row(EK5, 16, "barrier", mean_us=20),
        row(EK, 16, "barrier", mean_us=1),
    ]
    t = target_of(rows, "barrier under default MPICH 5")
    assert [(j.configuration, j.value) for j in t.judgements] == [(EK5, 2000)]
    assert t.verdict == judgement.MET


def all_ratios(ratio_of):
    rows = []
    for op, bytes_ in targets.OPERATIONS:
        for ranks in (2, 4, 8, 16, 32):
            rows += [
                row("impi", ranks, op, bytes_=bytes_, mean_us=100, completion_us=200),
                row(
                    EK, ranks, op, bytes_=bytes_, mean_us=100 * ratio_of(op, bytes_, ranks), completion_us=200
                ),
            ]
    return rows


def test_the_geometric_mean_is_over_all_thirty_ratios():
    half = all_ratios(lambda op, bytes_, ranks: 0.5)
    operations = "allreduce 8 B, 32 KiB, reduce 8 B, 1 KiB, bcast 8 B, 64 KiB, 2–32 ranks"
    mean = target_of(half, f"{operations}, to the best library: geometric mean (by")
    assert mean.judgements[0].value == pytest.approx(1) and mean.verdict == judgement.MISSED
    targeted = [t for t in targets.evaluate(Results(half)) if t.what.endswith("geometric mean")]
    assert targeted[0].judgements[0].value == pytest.approx(0.5) and targeted[0].verdict == judgement.MET
    assert "over 30" in targeted[0].judgements[0].text


def test_a_ratio_above_one_is_a_miss_and_is_named():
    rows = all_ratios(lambda op, bytes_, ranks: 1.25 if (op, bytes_, ranks) == ("bcast", 8, 4) else 0.1)
    worst = next(t for t in targets.evaluate(Results(rows)) if t.what == "the same, the worst of the 30")
    assert worst.verdict == judgement.MISSED
    assert "bcast 8 B, 4 ranks; 1 of 30 above 1" in worst.judgements[0].text


def skew(ours, best, skew_us=1000):
    return (
        [
            row(EK, 16, "reduce_skew", i, section="skew", skew_us=skew_us, mean_us=v)
            for i, v in enumerate(ours)
        ]
        + [
            row("openmpi4-bound", 16, "reduce_skew", i, section="skew", skew_us=skew_us, mean_us=v)
            for i, v in enumerate(best)
        ]
        + [row("mpich5-throttled", 16, "reduce_skew", 0, section="skew", skew_us=skew_us, mean_us=300)]
    )


@pytest.mark.parametrize(
    "ours, best, met",
    [
        ([0.7, 0.7, 0.7], [8, 7, 9], True),
        ([0.9, 0.9, 0.9], [8, 7, 9], False),
        ([-0.1, -0.2, 0.3], [8, 7, 9], True),  # below zero: the highest round counts
        ([-0.1, -0.2, 2.0], [8, 7, 9], False),
        ([-0.1, -0.2, -0.3], [8, 7, 9], True),
    ],
)
def test_reduction_under_skew(ours, best, met):
    t = target_of(skew(ours, best), "processor time of MPI_Reduce")
    assert t.judgements[0].is_met is met
    assert "openmpi4-bound" in t.judgements[0].text


def test_reduction_without_skew():
    assert target_of(skew([2.2], [2.0], 0), "the same without skew").verdict == judgement.MET
    assert target_of(skew([2.3], [2.0], 0), "the same without skew").verdict == judgement.MISSED


def test_a_late_rank_is_judged_by_the_worst_caller():
    rows = [
        row(EK, 8, "late_reduce", i, 8, "late", median_ms=0.01, worst_ms=w)
        for i, w in enumerate((0.1, 0.2, 50))
    ]
    t = target_of(rows, "MPI_Reduce, 8 ranks")
    assert t.judgements[0].value == pytest.approx(0.2) and t.verdict == judgement.MET
    assert "50" in t.judgements[0].text
    rows = [row(EK, 8, "late_reduce", i, 8, "late", worst_ms=w) for i, w in enumerate((0.1, 2, 50))]
    assert target_of(rows, "MPI_Reduce, 8 ranks").verdict == judgement.MISSED


def test_costs_compare_medians_of_alternating_runs():
    rows = [
        row(c, 2, "compute", 1, section="compute", variant=f"turn {t}", mean_us=v)
        for c, values in ((EK, (101, 103)), ("openmpi4-bound", (100, 104)))
        for t, v in enumerate(values)
    ]
    assert target_of(rows, "a program without collective calls").judgements[0].value == pytest.approx(1)
    rows = [
        row(EK, 16, "barrier", 1, section="record", variant=f"record={on}, turn {t}", mean_us=v)
        for on, values in ((0, (10, 10)), (1, (10.2, 10.6)))
        for t, v in enumerate(values)
    ]
    t = target_of(rows, "cost of recording")
    assert t.judgements[0].value == pytest.approx(1.04) and t.verdict == judgement.MISSED


def test_memory_is_judged_by_the_largest_segment():
    rows = [row(EK, n, "memory", segment_bytes_per_rank=b) for n, b in ((2, 65536), (16, 40000))]
    rows.append(row(EK, 2, "barrier", mean_us=1))
    assert target_of(rows, "segment per communicator").verdict == judgement.MET
    rows.append(row(EK, 32, "memory", segment_bytes_per_rank=65537))
    assert target_of(rows, "segment per communicator").verdict == judgement.MISSED


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (1.5, "1.50"),
        (46.04, "46.0"),
        (123.4, "123"),
        (40123.4, "40,123"),
        (-2.5, "-2.50"),
        (None, "-"),
        (9.999, "10.00"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert judgement.number(value) == text
