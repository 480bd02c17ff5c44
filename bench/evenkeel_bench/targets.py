"""What was promised, and whether it was kept: judged for evenkeel over each library it was measured with. Pure.

Ratios are taken within each round, then the median over the rounds; the spread is shown beside it. "Best library" is the best
of all libraries measured in that round, each in its default and in its best known setting. Latencies are means over ranks and
iterations; where only the completion (the slowest rank) tells whether the work was done, the same by completion is shown too.
"""

import math
from dataclasses import dataclass

from . import statistics
from .plan import FLOOR
from .results import is_evenkeel

MET, MISSED, PARTLY, UNKNOWN = "met", "**missed**", "partly", "not measured"
CELLS = (
    ("allreduce", 8),
    ("allreduce", 32768),
    ("reduce", 8),
    ("reduce", 1024),
    ("bcast", 8),
    ("bcast", 65536),
)


@dataclass(frozen=True)
class Judged:
    """One promise for one evenkeel configuration. `value` is None where nothing was measured."""

    configuration: str
    value: float | None
    met: bool | None
    text: str


@dataclass(frozen=True)
class Target:
    what: str
    target: str
    judged: tuple

    @property
    def verdict(self):
        known = [j.met for j in self.judged if j.met is not None]
        if not known:
            return UNKNOWN
        if all(known):
            return MET
        if not any(known):
            return MISSED
        missed = ", ".join(host(j.configuration) for j in self.judged if j.met is False)
        return f"{PARTLY}: **missed** over {missed}"


def host(configuration):
    return configuration.removesuffix("+evenkeel")


def number(x):
    """Three significant digits, never an exponent for what people read as a number."""
    if x is None:
        return "-"
    if x == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(x)))
    return f"{x:.{max(0, digits)}f}" if digits > 0 else f"{x:,.0f}"


def ranged(s, unit=""):
    """A spread for people: the median, and lowest–highest over the rounds."""
    return "-" if s is None else f"{number(s.median)}{unit} ({number(s.low)}–{number(s.high)})"


def _at_most(configuration, s, limit, unit=""):
    if s is None:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, s.median, s.median <= limit, ranged(s, unit))


def _at_least(configuration, s, limit, unit=""):
    if s is None:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, s.median, s.median >= limit, ranged(s, unit))


def floor_series(results, ranks):
    """Round → the bare barrier's time: spinning where there is a core for each, yielding otherwise."""
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
        results.best_peer(stat, "collectives", ranks, op, bytes=bytes_),
    )


def cells(results, configuration, stat="mean_us"):
    """(operation, bytes, ranks) → ratio to the best library, for all that were measured."""
    out = {}
    for op, bytes_ in CELLS:
        for ranks in results.ranks("collectives"):
            s = to_best(results, configuration, ranks, op, bytes_, stat)
            if s:
                out[op, bytes_, ranks] = s
    return out


def evaluate(results):
    """All targets in the order of the list they come from."""
    out = []
    ours = results.configurations("collectives", is_evenkeel)

    def add(what, target, judge, configurations=ours):
        out.append(Target(what, target, tuple(judge(c) for c in configurations)))

    for ranks in (2, 4, 8, 16, 32):
        bare = "bare two-flag exchange" if ranks == 2 else "bare counter-and-yield barrier"
        add(
            f"barrier, {ranks} ranks, to the {bare}",
            "≤ 1.4 ×",
            lambda c, n=ranks: _at_most(c, to_floor(results, c, n), 1.4, " ×"),
        )
        limit = {2: 0.6, 16: 0.4, 32: 0.3}.get(ranks)
        if limit:
            add(
                f"barrier, {ranks} ranks, to the best library",
                f"≤ {limit} ×",
                lambda c, n=ranks, m=limit: _at_most(c, to_best(results, c, n, "barrier", 0), m, " ×"),
            )
    for op, bytes_ in (("barrier", 0), ("allreduce", 8)):
        add(
            f"{_called(op, bytes_)} under default MPICH 5, 16 ranks, faster than without",
            "≥ 500 ×",
            lambda c, o=op, b=bytes_: _at_least(c, _speed_up(results, c, o, b), 500, " ×"),
            [c for c in ours if host(c) == "mpich5"],
        )
    for stat, said in (("mean_us", ""), ("completion_us", " (by completion)")):
        add(
            f"allreduce 8 B, 32 KiB, reduce 8 B, 1 KiB, bcast 8 B, 64 KiB, 2–32 ranks, to the best library: geometric mean{said}",
            "≤ 0.7 ×",
            lambda c, s=stat: _geometric(results, c, s),
        )
        add(f"the same, the worst of the 30{said}", "≤ 1.0 ×", lambda c, s=stat: _worst(results, c, s))
    skewed = results.configurations("skew", is_evenkeel)
    add(
        "processor time of MPI_Reduce (4 doubles), skew 1000 µs, 16 ranks, less than the best library",
        "≥ 10 ×",
        lambda c: _skewed(results, c),
        skewed,
    )
    add("the same without skew, to the best library", "≤ 1.1 ×", lambda c: _unskewed(results, c), skewed)
    late = results.configurations("late", is_evenkeel)
    for ranks in (3, 4, 8):
        add(
            f"all in MPI_Ibarrier, all but rank 0 then away for 100 ms, {ranks} ranks: rank 0 leaves after",
            "< 1 ms",
            lambda c, n=ranks: _held(results, c, n, "late_ibarrier"),
            late,
        )
    for op in ("reduce", "bcast"):
        for ranks in (4, 8):
            add(
                f"MPI_{op.capitalize()}, {ranks} ranks, a rank that the caller does not need is 100 ms late: caller held",
                "< 1 ms",
                lambda c, n=ranks, o=op: _held(results, c, n, f"late_{o}"),
                late,
            )
    add(
        "a program without collective calls, time with to time without",
        "< 1.01 ×",
        lambda c: _undisturbed(results, c),
        results.configurations("compute", is_evenkeel),
    )
    add("segment per communicator and rank", "≤ 64 KiB", lambda c: _memory(results, c))
    add(
        "cost of recording, 16-rank barrier",
        "< 1.03 ×",
        lambda c: _recording(results, c),
        results.configurations("record", is_evenkeel),
    )
    return out


def _called(op, bytes_):
    return f"{op} {bytes_} B" if bytes_ else op


def _speed_up(results, configuration, op, bytes_):
    return statistics.ratio_by_round(
        results.series("mean_us", "collectives", host(configuration), 16, op, bytes=bytes_),
        results.series("mean_us", "collectives", configuration, 16, op, bytes=bytes_),
    )


def _geometric(results, configuration, stat):
    measured = cells(results, configuration, stat)
    if not measured:
        return Judged(configuration, None, None, "-")
    value = statistics.geometric_mean(max(s.median, 1e-6) for s in measured.values())
    return Judged(configuration, value, value <= 0.7, f"{number(value)} × over {len(measured)}")


def _worst(results, configuration, stat):
    measured = cells(results, configuration, stat)
    if not measured:
        return Judged(configuration, None, None, "-")
    (op, bytes_, ranks), s = max(measured.items(), key=lambda item: item[1].median)
    above = sum(1 for s in measured.values() if s.median > 1)
    return Judged(
        configuration,
        s.median,
        above == 0,
        f"{ranged(s, ' ×')}: {_called(op, bytes_)}, {ranks} ranks; {above} of {len(measured)} above 1",
    )


def _skew_pair(results, configuration, skew_us):
    """Medians over the rounds: ours, and the best library's. A library's name comes third."""
    ours = results.spread("mean_us", "skew", configuration, 16, "reduce_skew", skew_us=skew_us)
    name = results.best_peer_name("mean_us", "skew", 16, "reduce_skew", skew_us=skew_us)
    if not ours or not name:
        return None
    return ours, results.spread("mean_us", "skew", name, 16, "reduce_skew", skew_us=skew_us), name


def _skewed(results, configuration):
    """Differences of two clocks scatter around nothing at all, so medians are divided, not rounds; what is below zero counts
    as its highest round."""
    pair = _skew_pair(results, configuration, 1000)
    if not pair:
        return Judged(configuration, None, None, "-")
    ours, best, name = pair
    text = f"{ranged(ours)} µs, {name} {ranged(best)} µs"
    below = ours.median if ours.median > 0 else ours.high
    if below <= 0:
        return Judged(configuration, math.inf, best.median > 0, f"below what can be measured: {text}")
    return Judged(
        configuration,
        best.median / below,
        best.median / below >= 10,
        f"{number(best.median / below)} ×: {text}",
    )


def _unskewed(results, configuration):
    pair = _skew_pair(results, configuration, 0)
    if not pair:
        return Judged(configuration, None, None, "-")
    ours, best, name = pair
    text = f"{ranged(ours)} µs, {name} {ranged(best)} µs"
    if best.median <= 0:
        return Judged(configuration, ours.median, ours.median <= 0, f"below what can be measured: {text}")
    value = ours.median / best.median
    return Judged(configuration, value, value <= 1.1, f"{number(value)} ×: {text}")


def _held(results, configuration, ranks, op):
    stat = "worst_ms"
    s = results.spread(stat, "late", configuration, ranks, op)
    if s is None:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, s.median, s.median < 1, ranged(s, " ms"))


def _turns(results, section, configuration, stat, op, variant=""):
    return [
        r[stat]
        for r in results.select(section=section, configuration=configuration, op=op)
        if r.get("variant", "").startswith(variant) and r.get(stat) is not None
    ]


def _undisturbed(results, configuration):
    value = statistics.paired_ratio(
        _turns(results, "compute", configuration, "mean_us", "compute"),
        _turns(results, "compute", host(configuration), "mean_us", "compute"),
    )
    if value is None:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, value, value < 1.01, f"{value:.4f} ×")


def _recording(results, configuration):
    value = statistics.paired_ratio(
        _turns(results, "record", configuration, "mean_us", "barrier", "record=1"),
        _turns(results, "record", configuration, "mean_us", "barrier", "record=0"),
    )
    if value is None:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, value, value < 1.03, f"{value:.4f} ×")


def _memory(results, configuration):
    found = [
        r["segment_bytes_per_rank"]
        for r in results.select(configuration=configuration, op="memory")
        if r.get("segment_bytes_per_rank") is not None
    ]
    if not found:
        return Judged(configuration, None, None, "-")
    return Judged(configuration, max(found), max(found) <= 65536, f"{max(found) / 1024:.1f} KiB")
