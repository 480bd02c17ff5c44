"""The tables of the section `deferred`. Pure: takes results, gives text."""

from . import deferral, deferral_targets, statistics
from .deferral import AUTO, DEFERRED, HOST, STRICT
from .deferral_targets import SECTION, penalty_by_round, ratio, seconds
from .markdown import table
from .results import is_evenkeel
from .targets import number, ranged


def write(results):
    """All of it, "" if nothing was measured."""
    parts = [
        (title, text)
        for title, text in (
            ("One call", calls(results)),
            ("Computation between barriers", loops(results)),
            ("Deferred, or not", pairs(results)),
            ("Radix sort, disturbed", radix(results)),
            ("Messages", messages(results)),
        )
        if text
    ]
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in parts)


def _configurations(results):
    return results.configurations(SECTION)


def share(results, configuration, ranks, case, way):
    """Of all barriers of the program those that were left pending, as evenkeel counted them: %."""
    of = {"variant": deferral.variant(case.name, way)}
    deferred, all_ = (
        results.series(stat, SECTION, configuration, ranks, "deferral", **of)
        for stat in ("deferred", "calls")
    )
    s = statistics.ratio_by_round(deferred, all_)
    return f"{100 * s.median:.0f}%" if s else "-"


def calls(results):
    rows = []
    for c in _configurations(results):
        for way in (DEFERRED, HOST):
            for ranks in results.ranks(SECTION):
                found = {
                    stat: deferral_targets.call_ns(results, c, ranks, way, stat)
                    for stat in ("call_ns", "worst_rank_ns", "middle_ns", "row_ns", "waited", "clock_ns")
                }
                if found["waited"]:
                    rows.append(
                        [
                            c,
                            ranks,
                            *(ranged(found[s]) for s in ("middle_ns", "call_ns", "worst_rank_ns", "row_ns")),
                            f"{100 * found['waited'].median:.1f}%",
                            number(found["clock_ns"].median) if found["clock_ns"] else "-",
                        ]
                    )
    if not rows:
        return ""
    return (
        "Nanoseconds of one MPI_Barrier for the rank that calls it, `--barrier deferred`; what two readings of the "
        "processor's counter take (last column) is taken off. Calls of more than 1 µs have waited, or were interrupted, and are left "
        "out. The counter moves in steps; 8 calls in a row share one, and the mean of the middle half is a median without them.\n\n"
        + table(
            [
                "",
                "ranks",
                "mean of the middle half",
                "median",
                "median of the worst rank",
                "8 in a row, each",
                "waited",
                "clock",
            ],
            rows,
        )
    )


def loops(results):
    rows = []
    for mean_us in deferral.MEANS_US:
        case, without = deferral.loop(mean_us), deferral.loop(mean_us, False)
        turns = int(dict(a.split("=") for a in case.arguments)["count"])
        for c in _configurations(results):
            plain = AUTO if is_evenkeel(c) else HOST
            base = seconds(results, c, without, deferral.LOOP_RANKS, plain)
            computed = seconds(results, c, without, deferral.LOOP_RANKS, plain, "compute_s")
            if not base:
                continue
            cells = [
                ranged(ratio(results, c, deferral.LOOP_RANKS, case, way, without, plain), " ×")
                for way in (AUTO, STRICT, HOST)
            ]
            mean = statistics.spread(v / turns * 1e6 for v in computed.values())
            rows.append(
                [
                    mean_us,
                    c,
                    ranged(statistics.spread(base.values()), " s"),
                    *cells,
                    share(results, c, deferral.LOOP_RANKS, case, AUTO),
                    number(mean.median) if mean else "-",
                ]
            )
    if not rows:
        return ""
    return (
        f"{deferral.LOOP_RANKS} ranks compute for a random time, then call a barrier; to the same loop without barriers. The last column "
        "is the mean computation as the program found it on this machine, µs.\n\n"
        + table(
            [
                "mean, µs",
                "",
                "without barriers",
                "evenkeel auto",
                "evenkeel strict",
                "the library's own",
                "pending, auto",
                "computed",
            ],
            rows,
        )
    )


def pairs(results):
    rows = []
    groups = (
        (
            (
                deferral.SCAN,
                deferral.SCAN_DISTURBED,
                deferral.SCAN_DOUBLED,
                deferral.SCAN_QUOTA,
                deferral.NAIVE,
            ),
            DEFERRED,
        ),
        (deferral.BLOCK, DEFERRED),
        (deferral.BLOCK, AUTO),
        (deferral.SMALL, AUTO),
    )
    for cases, way in groups:
        for c in results.configurations(SECTION, is_evenkeel):
            for case, ranks, s in deferral_targets.each(results, c, cases, way):
                took = [
                    statistics.spread(v * 1e3 for v in seconds(results, c, case, ranks, w).values())
                    for w in (way, STRICT)
                ]
                rows.append(
                    [
                        case.name,
                        ranks,
                        c,
                        way,
                        share(results, c, ranks, case, way),
                        ranged(took[0]),
                        ranged(took[1]),
                        ranged(s, " ×"),
                        _by_mean(results, c, case, ranks, way),
                    ]
                )
    if not rows:
        return ""
    return (
        "Milliseconds of whole programs, the longest rank's; for scans the ratio of the ranks' mean as well. Pending: of all barriers, those that did not wait.\n\n"
        + table(["", "ranks", "", "`--barrier`", "pending", "with it", "strict", "ratio", "by mean"], rows)
    )


def _by_mean(results, configuration, case, ranks, way):
    s = statistics.ratio_by_round(
        *(seconds(results, configuration, case, ranks, w, "mean_s") for w in (way, STRICT))
    )
    return ranged(s, " ×") if s else ""


def radix(results):
    rows = []
    for ranks in results.ranks(SECTION):
        for c in _configurations(results):
            for way in (AUTO, DEFERRED, HOST):
                idle = statistics.spread(
                    v * 1e3 for v in seconds(results, c, deferral.RADIX, ranks, way).values()
                )
                found = False
                for case in (deferral.RADIX_DISTURBED, deferral.RADIX_DOUBLED, deferral.RADIX_QUOTA):
                    disturbed = statistics.spread(
                        v * 1e3 for v in seconds(results, c, case, ranks, way).values()
                    )
                    if disturbed:
                        found = True
                        penalty = statistics.spread(penalty_by_round(results, c, ranks, way, case).values())
                        rows.append(
                            [
                                ranks,
                                c,
                                way,
                                case.disturbance,
                                share(results, c, ranks, case, way),
                                ranged(idle),
                                ranged(disturbed),
                                ranged(penalty, " ×"),
                            ]
                        )
                if idle and not found:
                    rows.append([ranks, c, way, "-", "-", ranged(idle), "-", "-"])
    if not rows:
        return ""
    return (
        "Milliseconds, idle and disturbed: one busy process on each core; all ranks on half of the cores; a control group with half of "
        "the cores' time. Pending: of all barriers, those that did not wait.\n\n"
        + table(
            ["ranks", "", "barriers", "disturbed by", "pending", "idle machine", "disturbed", "ratio"], rows
        )
    )


def messages(results):
    rows = []
    for c in results.configurations(SECTION, is_evenkeel):
        theirs = c.removesuffix("+evenkeel")
        for case in deferral.MESSAGES.values():
            took = [
                statistics.spread(deferral_targets.message_ns(results, of, case, way).values())
                for of, way in ((theirs, HOST), (c, AUTO))
            ]
            if all(took):
                rows.append(
                    [
                        case.name,
                        theirs,
                        *map(ranged, took),
                        ranged(deferral_targets.message_ratio(results, c, case), " ×"),
                    ]
                )
    if not rows:
        return ""
    return (
        "Nanoseconds one way between two ranks: the library's messages without evenkeel, and evenkeel's with `--barrier auto`.\n\n"
        + table(["", "", "the library's", "evenkeel's", "ratio"], rows)
    )
