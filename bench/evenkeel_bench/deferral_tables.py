"""The tables of the section `deferred`. Pure: takes results, gives text."""

from . import deferral, deferral_targets, statistics
from .deferral import AUTO, DEFERRED, HOST, IMPLICIT, STRICT
from .deferral_targets import SECTION, penalty_by_round, ratio, seconds
from .judgement import host, number, ranged
from .markdown import table
from .results import is_evenkeel

CALLS = (
    "Nanoseconds of one MPI_Barrier for the rank that calls it, `--barrier deferred`, less the time of two "
    "readings of the processor's counter (last column). Calls of more than 1 µs have waited, or were "
    "interrupted, and are left out. The counter advances in steps: the mean of the middle half is a median "
    "without them, and 8 calls in a row share one step."
)
LOOPS = (
    f"{deferral.LOOP_RANKS} ranks compute for a random time, then call a barrier; relative to the same loop "
    "without barriers. The last column is the mean computation that the program measured on this machine, µs."
)
PAIRS = (
    "Milliseconds of whole programs, the longest rank's; for scans the ratio of the ranks' mean as well. "
    "Pending: of all barriers, those that did not wait."
)
RADIX = (
    "Milliseconds, idle and disturbed: one busy process on each core; all ranks on half of the cores; a "
    "control group with half of the cores' time. Pending: of all barriers, those that did not wait. With "
    "implicit coscheduling, barriers are strict and ranks that wait spin for 50 µs, then sleep "
    "(`--wait spin-block`)."
)
MESSAGES = (
    "Nanoseconds one way between two ranks: the library's messages without evenkeel, and evenkeel's with "
    "`--barrier auto`."
)


def write(results):
    """All tables, "" if nothing was measured."""
    parts = (
        ("One call", calls(results)),
        ("Computation between barriers", loops(results)),
        ("Deferred, or not", pairs(results)),
        ("Radix sort, disturbed", radix(results)),
        ("Messages", messages(results)),
    )
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in parts if text)


def _with_text(text, head, rows):
    return f"{text}\n\n{table(head, rows)}" if rows else ""


def share(results, configuration, ranks, workload, barriers):
    """The share of all barriers of the program that were left pending, as evenkeel counted them, in %."""
    variant = deferral.variant(workload.name, barriers)
    deferred, all_ = (
        results.series(stat, SECTION, configuration, ranks, "deferral", variant=variant)
        for stat in ("deferred", "calls")
    )
    s = statistics.ratio_by_round(deferred, all_)
    return f"{100 * s.median:.0f}%" if s else "-"


def calls(results):
    rows = []
    for c in results.configurations(SECTION):
        for barriers in (DEFERRED, HOST):
            for ranks in results.ranks(SECTION):
                found = {
                    stat: deferral_targets.call_ns(results, c, ranks, barriers, stat)
                    for stat in ("call_ns", "worst_rank_ns", "middle_ns", "row_ns", "waited", "clock_ns")
                }
                if not found["waited"]:
                    continue
                times = [ranged(found[s]) for s in ("middle_ns", "call_ns", "worst_rank_ns", "row_ns")]
                clock = number(found["clock_ns"].median) if found["clock_ns"] else "-"
                rows.append([c, ranks, *times, f"{100 * found['waited'].median:.1f}%", clock])
    head = ["mean of the middle half", "median", "median of the worst rank", "8 in a row, each"]
    return _with_text(CALLS, ["", "ranks", *head, "waited", "clock"], rows)


def loops(results):
    rows = []
    ranks = deferral.LOOP_RANKS
    for mean_us in deferral.MEANS_US:
        with_barriers, without = deferral.loop(mean_us), deferral.loop(mean_us, False)
        for c in results.configurations(SECTION):
            plain = AUTO if is_evenkeel(c) else HOST
            base = seconds(results, c, without, ranks, plain)
            if not base:
                continue
            ratios = [
                ranged(ratio(results, c, ranks, with_barriers, barriers, without, plain), " ×")
                for barriers in (AUTO, STRICT, HOST)
            ]
            computed = seconds(results, c, without, ranks, plain, "compute_s")
            count = with_barriers.parameter("count")
            mean = statistics.spread(v / count * 1e6 for v in computed.values())
            pending = share(results, c, ranks, with_barriers, AUTO)
            alone = ranged(statistics.spread(base.values()), " s")
            rows.append([mean_us, c, alone, *ratios, pending, number(mean.median) if mean else "-"])
    head = ["without barriers", "evenkeel auto", "evenkeel strict", "the library's own", "pending, auto"]
    return _with_text(LOOPS, ["mean, µs", "", *head, "computed"], rows)


def _milliseconds(results, configuration, workload, ranks, barriers):
    values = seconds(results, configuration, workload, ranks, barriers).values()
    return statistics.spread(v * 1e3 for v in values)


def pairs(results):
    rows = []
    scans = tuple(workload for workload, _, _ in deferral_targets.SCANS)
    compared = (
        (scans, DEFERRED),
        (deferral.BLOCK, DEFERRED),
        (deferral.BLOCK, AUTO),
        (deferral.SMALL, AUTO),
    )
    for workloads, barriers in compared:
        for c in results.configurations(SECTION, is_evenkeel):
            for workload, ranks, s in deferral_targets.ratios_to_strict(results, c, workloads, barriers):
                took = [ranged(_milliseconds(results, c, workload, ranks, b)) for b in (barriers, STRICT)]
                pending = share(results, c, ranks, workload, barriers)
                by_mean = _by_mean(results, c, workload, ranks, barriers)
                ratio_ = ranged(s, " ×")
                rows.append([workload.name, ranks, c, barriers, pending, *took, ratio_, by_mean])
    head = ["", "ranks", "", "`--barrier`", "pending", "with it", "strict", "ratio", "by mean"]
    return _with_text(PAIRS, head, rows)


def _by_mean(results, configuration, workload, ranks, barriers):
    with_it, strict = (
        seconds(results, configuration, workload, ranks, b, "mean_s") for b in (barriers, STRICT)
    )
    s = statistics.ratio_by_round(with_it, strict)
    return ranged(s, " ×") if s else ""


def radix(results):
    rows = []
    for ranks in results.ranks(SECTION):
        for c in results.configurations(SECTION):
            for barriers in (AUTO, DEFERRED, STRICT, IMPLICIT, HOST):
                rows += _radix_rows(results, c, ranks, barriers)
    head = ["ranks", "", "barriers", "disturbed by", "pending", "idle machine", "disturbed", "ratio"]
    return _with_text(RADIX, head, rows)


def _radix_rows(results, configuration, ranks, barriers):
    rows = []
    idle = _milliseconds(results, configuration, deferral.RADIX, ranks, barriers)
    for workload in (deferral.RADIX_DISTURBED, deferral.RADIX_DOUBLED, deferral.RADIX_QUOTA):
        disturbed = _milliseconds(results, configuration, workload, ranks, barriers)
        if disturbed:
            penalty = penalty_by_round(results, configuration, ranks, barriers, workload)
            pending = share(results, configuration, ranks, workload, barriers)
            times = [ranged(idle), ranged(disturbed), ranged(statistics.spread(penalty.values()), " ×")]
            rows.append([ranks, configuration, barriers, workload.disturbance, pending, *times])
    if idle and not rows:
        rows.append([ranks, configuration, barriers, "-", "-", ranged(idle), "-", "-"])
    return rows


def messages(results):
    rows = []
    for c in results.configurations(SECTION, is_evenkeel):
        for workload in deferral.MESSAGES.values():
            took = [
                statistics.spread(deferral_targets.message_ns(results, of, workload, barriers).values())
                for of, barriers in ((host(c), HOST), (c, AUTO))
            ]
            if all(took):
                s = deferral_targets.message_ratio(results, c, workload)
                rows.append([workload.name, host(c), *map(ranged, took), ranged(s, " ×")])
    return _with_text(MESSAGES, ["", "", "the library's", "evenkeel's", "ratio"], rows)
