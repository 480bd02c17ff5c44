"""The targets on one host, judged for evenkeel over each library. Pure.

Ratios are taken within each round; a target is judged by their median over the rounds, and the spread is
shown beside it. "Best library" is the best of all libraries measured in that round, each in its default and
in its best known setting. Latencies are means over ranks and iterations. Some calls return
before the work of all ranks is done: for them the ratio of completions (the slowest rank) is shown too.
"""

import math

from . import statistics
from .judgement import Judgement, Target, at_least, at_most, host, not_measured, number, ranged
from .plan import FLOOR
from .results import is_evenkeel

# Operations that are compared with the best library, at each number of ranks.
OPERATIONS = (
    ("allreduce", 8),
    ("allreduce", 32768),
    ("reduce", 8),
    ("reduce", 1024),
    ("bcast", 8),
    ("bcast", 65536),
)
TO_BEST_BARRIER = {2: 0.6, 16: 0.4, 32: 0.3}  # ranks → limit


def evaluate(results):
    """All targets, in the order of the table."""
    return [
        *_barriers(results),
        *_speed_ups(results),
        *_latencies(results),
        *_skew(results),
        *_late(results),
        *_costs(results),
    ]


def _target(what, target, configurations, judge):
    return Target(what, target, tuple(judge(c) for c in configurations))


def _measured(results, section="collectives"):
    return results.configurations(section, is_evenkeel)


def _barriers(results):
    ours = _measured(results)
    for ranks in (2, 4, 8, 16, 32):
        bare = "bare two-flag exchange" if ranks == 2 else "bare counter-and-yield barrier"
        yield _target(
            f"barrier, {ranks} ranks, to the {bare}",
            "≤ 1.4 ×",
            ours,
            lambda c, n=ranks: at_most(c, to_floor(results, c, n), 1.4, " ×"),
        )
        if limit := TO_BEST_BARRIER.get(ranks):
            yield _target(
                f"barrier, {ranks} ranks, to the best library",
                f"≤ {limit} ×",
                ours,
                lambda c, n=ranks, m=limit: at_most(c, to_best(results, c, n, "barrier", 0), m, " ×"),
            )


def _speed_ups(results):
    over_default_mpich = [c for c in _measured(results) if host(c) == "mpich5"]
    for op, bytes_ in (("barrier", 0), ("allreduce", 8)):
        yield _target(
            f"{_label(op, bytes_)} under default MPICH 5, 16 ranks, faster than without",
            "≥ 500 ×",
            over_default_mpich,
            lambda c, o=op, b=bytes_: at_least(c, _speed_up(results, c, o, b), 500, " ×"),
        )


def _latencies(results):
    ours = _measured(results)
    operations = "allreduce 8 B, 32 KiB, reduce 8 B, 1 KiB, bcast 8 B, 64 KiB"
    for stat, label in (("mean_us", ""), ("completion_us", " (by completion)")):
        yield _target(
            f"{operations}, 2–32 ranks, to the best library: geometric mean{label}",
            "≤ 0.7 ×",
            ours,
            lambda c, s=stat: _judge_mean(results, c, s),
        )
        yield _target(
            f"the same, the worst of the 30{label}",
            "≤ 1.0 ×",
            ours,
            lambda c, s=stat: _judge_worst(results, c, s),
        )


def _skew(results):
    ours = _measured(results, "skew")
    yield _target(
        "processor time of MPI_Reduce (4 doubles), skew 1000 µs, 16 ranks, less than the best library",
        "≥ 10 ×",
        ours,
        lambda c: _judge_skewed(results, c),
    )
    yield _target(
        "the same without skew, to the best library", "≤ 1.1 ×", ours, lambda c: _judge_unskewed(results, c)
    )


def _late(results):
    ours = _measured(results, "late")
    for ranks in (3, 4, 8):
        yield _target(
            f"all in MPI_Ibarrier, all but rank 0 then away for 100 ms, {ranks} ranks: rank 0 leaves after",
            "< 1 ms",
            ours,
            lambda c, n=ranks: _judge_held(results, c, n, "late_ibarrier"),
        )
    for op in ("reduce", "bcast"):
        for ranks in (4, 8):
            yield _target(
                f"MPI_{op.capitalize()}, {ranks} ranks, a rank that the caller does not need is 100 ms late: "
                "caller held",
                "< 1 ms",
                ours,
                lambda c, n=ranks, o=op: _judge_held(results, c, n, f"late_{o}"),
            )


def _costs(results):
    yield _target(
        "a program without collective calls, time with to time without",
        "< 1.01 ×",
        _measured(results, "compute"),
        lambda c: _judge_compute(results, c),
    )
    yield _target(
        "segment per communicator and rank",
        "≤ 64 KiB",
        _measured(results),
        lambda c: _judge_memory(results, c),
    )
    yield _target(
        "cost of recording, 16-rank barrier",
        "< 1.03 ×",
        _measured(results, "record"),
        lambda c: _judge_recording(results, c),
    )


def floor_series(results, ranks):
    """Round → the bare barrier's time: spinning where there is a core for each rank, yielding otherwise."""
    for variant in ("spin", "yield"):
        series = results.series("mean_us", "collectives", FLOOR, ranks, "barrier", variant=variant)
        if series:
            return series
    return {}


def to_floor(results, configuration, ranks):
    return statistics.ratio_by_round(
        results.series("mean_us", "collectives", configuration, ranks, "barrier"),
        floor_series(results, ranks),
    )


def to_best(results, configuration, ranks, op, bytes_, stat="mean_us"):
    return statistics.ratio_by_round(
        results.series(stat, "collectives", configuration, ranks, op, bytes=bytes_),
        results.best_library(stat, "collectives", ranks, op, bytes=bytes_),
    )


def ratios_to_best(results, configuration, stat="mean_us"):
    """(operation, bytes, ranks) → ratio to the best library, for all that were measured."""
    found = {}
    for op, bytes_ in OPERATIONS:
        for ranks in results.ranks("collectives"):
            if ratio := to_best(results, configuration, ranks, op, bytes_, stat):
                found[op, bytes_, ranks] = ratio
    return found


def values_of_turns(results, section, configuration, stat, op, variant=""):
    """Values of alternating runs whose variant begins so, of all rounds."""
    return [
        row[stat]
        for row in results.select(section=section, configuration=configuration, op=op)
        if row.get("variant", "").startswith(variant) and row.get(stat) is not None
    ]


def _label(op, bytes_):
    return f"{op} {bytes_} B" if bytes_ else op


def _speed_up(results, configuration, op, bytes_):
    return statistics.ratio_by_round(
        results.series("mean_us", "collectives", host(configuration), 16, op, bytes=bytes_),
        results.series("mean_us", "collectives", configuration, 16, op, bytes=bytes_),
    )


def _judge_mean(results, configuration, stat):
    measured = ratios_to_best(results, configuration, stat)
    if not measured:
        return not_measured(configuration)
    value = statistics.geometric_mean(max(s.median, 1e-6) for s in measured.values())
    return Judgement(configuration, value, value <= 0.7, f"{number(value)} × over {len(measured)}")


def _judge_worst(results, configuration, stat):
    measured = ratios_to_best(results, configuration, stat)
    if not measured:
        return not_measured(configuration)
    (op, bytes_, ranks), worst = max(measured.items(), key=lambda item: item[1].median)
    above = sum(1 for ratio in measured.values() if ratio.median > 1)
    where = f"{_label(op, bytes_)}, {ranks} ranks; {above} of {len(measured)} above 1"
    return Judgement(configuration, worst.median, above == 0, f"{ranged(worst, ' ×')}: {where}")


def _skew_pair(results, configuration, skew_us):
    """Spreads of evenkeel and of the best library, and that library's name; None if one is missing."""
    ours = results.spread("mean_us", "skew", configuration, 16, "reduce_skew", skew_us=skew_us)
    name = results.best_library_name("mean_us", "skew", 16, "reduce_skew", skew_us=skew_us)
    if not ours or not name:
        return None
    return ours, results.spread("mean_us", "skew", name, 16, "reduce_skew", skew_us=skew_us), name


def _judge_skewed(results, configuration):
    """Differences of two clocks scatter around zero, so medians are divided, not rounds.

    A median below zero counts as its highest round.
    """
    pair = _skew_pair(results, configuration, 1000)
    if not pair:
        return not_measured(configuration)
    ours, best, name = pair
    text = f"{ranged(ours)} µs, {name} {ranged(best)} µs"
    positive = ours.median if ours.median > 0 else ours.high
    if positive <= 0:
        return Judgement(configuration, math.inf, best.median > 0, f"below what can be measured: {text}")
    value = best.median / positive
    return Judgement(configuration, value, value >= 10, f"{number(value)} ×: {text}")


def _judge_unskewed(results, configuration):
    pair = _skew_pair(results, configuration, 0)
    if not pair:
        return not_measured(configuration)
    ours, best, name = pair
    text = f"{ranged(ours)} µs, {name} {ranged(best)} µs"
    if best.median <= 0:
        return Judgement(configuration, ours.median, ours.median <= 0, f"below what can be measured: {text}")
    value = ours.median / best.median
    return Judgement(configuration, value, value <= 1.1, f"{number(value)} ×: {text}")


def _judge_held(results, configuration, ranks, op):
    s = results.spread("worst_ms", "late", configuration, ranks, op)
    if s is None:
        return not_measured(configuration)
    return Judgement(configuration, s.median, s.median < 1, ranged(s, " ms"))


def _judge_pair(configuration, with_it, without, limit):
    value = statistics.paired_ratio(with_it, without)
    if value is None:
        return not_measured(configuration)
    return Judgement(configuration, value, value < limit, f"{value:.4f} ×")


def _judge_compute(results, configuration):
    with_it, without = (
        values_of_turns(results, "compute", c, "mean_us", "compute")
        for c in (configuration, host(configuration))
    )
    return _judge_pair(configuration, with_it, without, 1.01)


def _judge_recording(results, configuration):
    on, off = (
        values_of_turns(results, "record", configuration, "mean_us", "barrier", f"record={record}")
        for record in (1, 0)
    )
    return _judge_pair(configuration, on, off, 1.03)


def _judge_memory(results, configuration):
    rows = results.select(configuration=configuration, op="memory")
    found = [r["segment_bytes_per_rank"] for r in rows if r.get("segment_bytes_per_rank") is not None]
    if not found:
        return not_measured(configuration)
    return Judgement(configuration, max(found), max(found) <= 65536, f"{max(found) / 1024:.1f} KiB")
