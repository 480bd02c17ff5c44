"""What deferred barriers were to bring, and whether they do. Pure; judged like all targets, see `targets`.

Ratios are of whole runs, taken within each round, then the median over the rounds. A single call is judged by the mean of the middle
half of all calls that did not wait: their median, but not rounded to the steps of the processor's counter (10 ns on some).
"""

from . import deferral, statistics
from .deferral import AUTO, DEFERRED, HOST, STRICT
from .results import is_evenkeel
from .targets import Judged, Target, _at_most, number, ranged

SECTION = "deferred"
CALL_NS, FLAT, LOOP, DISTURBED_HALF, NO_LOSS, PENALTY, MESSAGE = 25, 1.5, 1.05, 0.54, 1.03, 0.5, 1.1


def seconds(results, configuration, case, ranks, way, stat="seconds"):
    """Round → what it took."""
    return results.series(
        stat, SECTION, configuration, ranks, case.program, variant=deferral.variant(case.name, way)
    )


def ratio(results, configuration, ranks, case, way, to_case, to_way):
    return statistics.ratio_by_round(
        seconds(results, configuration, case, ranks, way),
        seconds(results, configuration, to_case, ranks, to_way),
    )


def call_ns(results, configuration, ranks, way=DEFERRED, stat="middle_ns"):
    return statistics.spread(seconds(results, configuration, deferral.CALL, ranks, way, stat).values())


def penalty_by_round(results, configuration, ranks, way, disturbed_case=deferral.RADIX_DISTURBED):
    """Round → how many times as long the radix sort takes beside competitors, or disturbed in another way."""
    idle = seconds(results, configuration, deferral.RADIX, ranks, way)
    disturbed = seconds(results, configuration, disturbed_case, ranks, way)
    return {r: disturbed[r] / idle[r] for r in disturbed if r in idle and idle[r] > 0}


def best_host(results, of_host):
    """Round → the least of any library; `of_host`: name → series."""
    return statistics.best_by_round(
        of_host(c) for c in results.configurations(SECTION, lambda c: not is_evenkeel(c))
    )


def half_of_the_ranks(results, configuration, ranks):
    """Half as many ranks with deferred barriers to the best library with all, both beside competitors."""
    best = best_host(results, lambda c: seconds(results, c, deferral.RADIX_DISTURBED, ranks, HOST))
    return statistics.ratio_by_round(
        seconds(results, configuration, deferral.RADIX_DISTURBED, ranks // 2, DEFERRED), best
    )


def evaluate(results):
    ours = results.configurations(SECTION, is_evenkeel)
    out = []

    def add(what, target, judge):
        out.append(Target(what, target, tuple(judge(c) for c in ours)))

    for ranks in deferral.CALL_RANKS:
        add(
            f"one deferred barrier, {ranks} ranks, calls that do not wait",
            f"≤ {CALL_NS} ns",
            lambda c, n=ranks: _at_most(c, call_ns(results, c, n), CALL_NS, " ns"),
        )
    first, last = deferral.CALL_RANKS[0], deferral.CALL_RANKS[-1]
    add(
        f"the same, {last} ranks to {first} ranks",
        f"≤ {FLAT} ×",
        lambda c: _at_most(
            c,
            statistics.ratio_by_round(
                seconds(results, c, deferral.CALL, last, DEFERRED, "middle_ns"),
                seconds(results, c, deferral.CALL, first, DEFERRED, "middle_ns"),
            ),
            FLAT,
            " ×",
        ),
    )
    for mean_us in deferral.MEANS_US:
        add(
            f"barriers between 0 to {2 * mean_us} µs of computation, {deferral.LOOP_RANKS} ranks, to the same without barriers",
            f"≤ {LOOP} ×",
            lambda c, m=mean_us: _at_most(
                c,
                ratio(results, c, deferral.LOOP_RANKS, deferral.loop(m), AUTO, deferral.loop(m, False), AUTO),
                LOOP,
                " ×",
            ),
        )
    for case, said, limit in (
        (deferral.SCAN, "prefix scan, idle machine", 0.81),
        (deferral.SCAN_DISTURBED, "prefix scan, a competitor on each core", 0.71),
        (deferral.SCAN_DOUBLED, "prefix scan, all ranks on half of the cores", NO_LOSS),
        (deferral.SCAN_QUOTA, "prefix scan, half of the cores' time", NO_LOSS),
        (deferral.NAIVE, "naive prefix scan", 1.0),
    ):
        add(
            f"{said}, {deferral.SCAN_RANKS} ranks, deferred to strict",
            f"≤ {limit} ×",
            lambda c, k=case, m=limit: _at_most(
                c, ratio(results, c, deferral.SCAN_RANKS, k, DEFERRED, k, STRICT), m, " ×"
            ),
        )
    for ranks in deferral.RADIX_RANKS:
        add(
            f"radix sort, {ranks} ranks: what competitors cost, to what they cost the best library",
            f"≤ {PENALTY} ×",
            lambda c, n=ranks: _at_most(
                c,
                statistics.ratio_by_round(
                    penalty_by_round(results, c, n, AUTO),
                    best_host(results, lambda h: penalty_by_round(results, h, n, HOST)),
                ),
                PENALTY,
                " ×",
            ),
        )
    for ranks in deferral.RADIX_RANKS:
        add(
            f"radix sort beside competitors, {ranks // 2} ranks deferred to {ranks} ranks of the best library",
            f"≤ {DISTURBED_HALF} ×",
            lambda c, n=ranks: _at_most(c, half_of_the_ranks(results, c, n), DISTURBED_HALF, " ×"),
        )
    for way in (DEFERRED, AUTO):
        add(
            f"two ranks on each core, --wait block, {way} to strict: the worst program",
            f"≤ {NO_LOSS} ×",
            lambda c, w=way: _worst(results, c, deferral.BLOCK, w),
        )
    add(
        "small programs, --barrier auto to strict: the worst program",
        f"≤ {NO_LOSS} ×",
        lambda c: _worst(results, c, deferral.SMALL, AUTO),
    )
    for case in deferral.MESSAGES.values():
        add(
            f"{case.name} one way, evenkeel's to the library's",
            f"≤ {MESSAGE} ×",
            lambda c, k=case: _at_most(c, message_ratio(results, c, k), MESSAGE, " ×"),
        )
    return out


def message_ratio(results, configuration, case):
    """evenkeel's messages to those of the library underneath."""
    theirs = configuration.removesuffix("+evenkeel")
    return statistics.ratio_by_round(
        message_ns(results, configuration, case, AUTO), message_ns(results, theirs, case, HOST)
    )


def message_ns(results, configuration, case, way):
    """Round → nanoseconds one way. The program's time is that of its 11 blocks and one to warm up, of so many messages there and back."""
    messages = 2 * 12 * int(dict(a.split("=") for a in case.arguments)["count"])
    return {r: v / messages * 1e9 for r, v in seconds(results, configuration, case, 2, way).items()}


def each(results, configuration, cases, way):
    """(case, ranks, ratio to strict) of those that were measured."""
    for case in cases:
        for ranks in results.ranks(SECTION):
            s = ratio(results, configuration, ranks, case, way, case, STRICT)
            if s:
                yield case, ranks, s


def _worst(results, configuration, cases, way):
    found = list(each(results, configuration, cases, way))
    if not found:
        return Judged(configuration, None, None, "-")
    case, _, worst = max(found, key=lambda f: f[2].median)
    above = sum(1 for _, _, s in found if s.median > NO_LOSS)
    return Judged(
        configuration,
        worst.median,
        above == 0,
        f"{ranged(worst, ' ×')}: {case.name}; {above} of {len(found)} above {number(NO_LOSS)}",
    )
