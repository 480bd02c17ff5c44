"""The targets of deferred barriers, judged as `targets` judges its own. Pure.

Ratios are of whole runs, taken within each round; the median over the rounds is judged. A single call is
judged by the mean of the middle half of all calls that did not wait. That is their median, without the steps
of the processor's counter (10 ns on some machines).
"""

from . import deferral, statistics
from .deferral import AUTO, DEFERRED, HOST, IMPLICIT, STRICT
from .judgement import Judgement, Target, at_most, host, not_measured, number, ranged
from .results import is_evenkeel

SECTION = "deferred"
CALL_NS, FLAT, LOOP, DISTURBED_HALF, NO_LOSS, PENALTY, MESSAGE = 25, 1.5, 1.05, 0.54, 1.03, 0.5, 1.1
SCANS = (
    (deferral.SCAN, "prefix scan, idle machine", 0.81),
    (deferral.SCAN_DISTURBED, "prefix scan, a competitor on each core", 0.71),
    (deferral.SCAN_DOUBLED, "prefix scan, all ranks on half of the cores", NO_LOSS),
    (deferral.SCAN_QUOTA, "prefix scan, half of the cores' time", NO_LOSS),
    (deferral.NAIVE, "naive prefix scan", 1.0),
)
IMPLICIT_COSCHEDULING = (
    (deferral.RADIX, "idle machine", 1.0),
    (deferral.RADIX_DISTURBED, "a competitor on each core", 0.621),
)


def evaluate(results):
    """All targets, in the order of the table."""
    ours = results.configurations(SECTION, is_evenkeel)
    judges = (
        *_calls(results),
        *_loops(results),
        *_scans(results),
        *_radix_sorts(results),
        *_losses(results),
        *_messages(results),
    )
    return [Target(what, target, tuple(judge(c) for c in ours)) for what, target, judge in judges]


def seconds(results, configuration, workload, ranks, barriers, stat="seconds"):
    """Round → how long it took."""
    variant = deferral.variant(workload.name, barriers)
    return results.series(stat, SECTION, configuration, ranks, workload.program, variant=variant)


def ratio(results, configuration, ranks, workload, barriers, to_workload, to_barriers):
    """Ratio of two workloads, or of one with two kinds of barriers."""
    return statistics.ratio_by_round(
        seconds(results, configuration, workload, ranks, barriers),
        seconds(results, configuration, to_workload, ranks, to_barriers),
    )


def call_ns(results, configuration, ranks, barriers=DEFERRED, stat="middle_ns"):
    return statistics.spread(seconds(results, configuration, deferral.CALL, ranks, barriers, stat).values())


def penalty_by_round(results, configuration, ranks, barriers, disturbed=deferral.RADIX_DISTURBED):
    """Round → how many times as long the radix sort takes beside competitors, or disturbed in another way."""
    idle_s = seconds(results, configuration, deferral.RADIX, ranks, barriers)
    disturbed_s = seconds(results, configuration, disturbed, ranks, barriers)
    return {r: disturbed_s[r] / idle_s[r] for r in disturbed_s if r in idle_s and idle_s[r] > 0}


def best_host(results, of_host):
    """Round → the least of any library; `of_host`: name → series."""
    hosts = results.configurations(SECTION, lambda c: not is_evenkeel(c))
    return statistics.best_by_round(of_host(c) for c in hosts)


def half_of_the_ranks(results, configuration, ranks):
    """Half of the ranks with deferred barriers, to all ranks of the best library; both beside competitors."""
    workload = deferral.RADIX_DISTURBED
    best = best_host(results, lambda c: seconds(results, c, workload, ranks, HOST))
    return statistics.ratio_by_round(seconds(results, configuration, workload, ranks // 2, DEFERRED), best)


def message_ns(results, configuration, workload, barriers):
    """Round → nanoseconds one way.

    The program's time is that of its 11 blocks, and one to warm up, of so many messages there and back.
    """
    messages = 2 * 12 * workload.parameter("count")
    took = seconds(results, configuration, workload, 2, barriers)
    return {r: v / messages * 1e9 for r, v in took.items()}


def message_ratio(results, configuration, workload):
    """evenkeel's messages to those of the library below it."""
    return statistics.ratio_by_round(
        message_ns(results, configuration, workload, AUTO),
        message_ns(results, host(configuration), workload, HOST),
    )


def ratios_to_strict(results, configuration, workloads, barriers):
    """(workload, ranks, ratio to strict barriers) of those that were measured."""
    for workload in workloads:
        for ranks in results.ranks(SECTION):
            s = ratio(results, configuration, ranks, workload, barriers, workload, STRICT)
            if s:
                yield workload, ranks, s


def _calls(results):
    for ranks in deferral.CALL_RANKS:
        yield (
            f"one deferred barrier, {ranks} ranks, calls that do not wait",
            f"≤ {CALL_NS} ns",
            lambda c, n=ranks: at_most(c, call_ns(results, c, n), CALL_NS, " ns"),
        )
    first, last = deferral.CALL_RANKS[0], deferral.CALL_RANKS[-1]

    def judge_flatness(c):
        of_last, of_first = (
            seconds(results, c, deferral.CALL, n, DEFERRED, "middle_ns") for n in (last, first)
        )
        return at_most(c, statistics.ratio_by_round(of_last, of_first), FLAT, " ×")

    yield f"the same, {last} ranks to {first} ranks", f"≤ {FLAT} ×", judge_flatness


def _loops(results):
    ranks = deferral.LOOP_RANKS

    def judge(c, mean_us):
        with_barriers, without = deferral.loop(mean_us), deferral.loop(mean_us, False)
        return at_most(c, ratio(results, c, ranks, with_barriers, AUTO, without, AUTO), LOOP, " ×")

    for mean_us in deferral.MEANS_US:
        yield (
            f"barriers between 0 to {2 * mean_us} µs of computation, {ranks} ranks, "
            "to the same without barriers",
            f"≤ {LOOP} ×",
            lambda c, m=mean_us: judge(c, m),
        )


def _scans(results):
    def judge(c, workload, limit):
        s = ratio(results, c, deferral.SCAN_RANKS, workload, DEFERRED, workload, STRICT)
        return at_most(c, s, limit, " ×")

    for workload, label, limit in SCANS:
        yield (
            f"{label}, {deferral.SCAN_RANKS} ranks, deferred to strict",
            f"≤ {limit} ×",
            lambda c, w=workload, m=limit: judge(c, w, m),
        )


def _radix_sorts(results):
    def judge_penalty(c, ranks):
        ours = penalty_by_round(results, c, ranks, AUTO)
        best = best_host(results, lambda h: penalty_by_round(results, h, ranks, HOST))
        return at_most(c, statistics.ratio_by_round(ours, best), PENALTY, " ×")

    for ranks in deferral.RADIX_RANKS:
        yield (
            f"radix sort, {ranks} ranks: what competitors cost, to what they cost the best library",
            f"≤ {PENALTY} ×",
            lambda c, n=ranks: judge_penalty(c, n),
        )
    for workload, label, limit in IMPLICIT_COSCHEDULING:
        yield (
            f"radix sort, {deferral.RADIX_RANKS[0]} ranks, {label}, auto to implicit coscheduling",
            f"≤ {limit} ×",
            lambda c, w=workload, m=limit: at_most(
                c, ratio(results, c, deferral.RADIX_RANKS[0], w, AUTO, w, IMPLICIT), m, " ×"
            ),
        )
    for ranks in deferral.RADIX_RANKS:
        yield (
            f"radix sort beside competitors, {ranks // 2} ranks deferred to {ranks} ranks of the best "
            "library",
            f"≤ {DISTURBED_HALF} ×",
            lambda c, n=ranks: at_most(c, half_of_the_ranks(results, c, n), DISTURBED_HALF, " ×"),
        )


def _losses(results):
    for barriers in (DEFERRED, AUTO):
        yield (
            f"two ranks on each core, --wait block, {barriers} to strict: the worst program",
            f"≤ {NO_LOSS} ×",
            lambda c, b=barriers: _judge_worst(results, c, deferral.BLOCK, b),
        )
    yield (
        "small programs, --barrier auto to strict: the worst program",
        f"≤ {NO_LOSS} ×",
        lambda c: _judge_worst(results, c, deferral.SMALL, AUTO),
    )


def _messages(results):
    for workload in deferral.MESSAGES.values():
        yield (
            f"{workload.name} one way, evenkeel's to the library's",
            f"≤ {MESSAGE} ×",
            lambda c, w=workload: at_most(c, message_ratio(results, c, w), MESSAGE, " ×"),
        )


def _judge_worst(results, configuration, workloads, barriers):
    found = list(ratios_to_strict(results, configuration, workloads, barriers))
    if not found:
        return not_measured(configuration)
    workload, _, worst = max(found, key=lambda f: f[2].median)
    above = sum(1 for _, _, s in found if s.median > NO_LOSS)
    where = f"{workload.name}; {above} of {len(found)} above {number(NO_LOSS)}"
    return Judgement(configuration, worst.median, above == 0, f"{ranged(worst, ' ×')}: {where}")
