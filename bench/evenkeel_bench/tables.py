"""The results as Markdown. Pure: takes results, gives text."""

from . import deferral_tables, deferral_targets, statistics, targets
from .markdown import table
from .plan import FLOOR, SPINS
from .results import is_evenkeel
from .targets import host, number, ranged


def size(bytes_):
    if not bytes_:
        return ""
    return f"{bytes_ // 1024} KiB" if bytes_ >= 1024 else f"{bytes_} B"


def named(op, bytes_):
    return f"{op} {size(bytes_)}".strip()


def write(results, machine, libraries, left_out, seconds, plots=()):
    """The whole of results.md."""
    parts = [
        "# evenkeel beside the MPI libraries",
        "\n".join(f"* {line}" for line in machine)
        + "\n"
        + "\n".join(f"* {name}: {text}" for name, text in libraries.items())
        + f"\n* duration: {seconds / 60:.1f} minutes",
    ]
    parts += ["## Targets", target_table(results), METHOD]
    if plots:
        parts.append("\n".join(f"![{title}]({name})" for name, title in plots))
    if results.ranks("collectives"):
        parts += ["## Latency", LATENCY, *latency_tables(results)]
    if results.configurations("collectives", is_evenkeel):
        parts += ["## evenkeel to the best library", RATIO, *ratio_tables(results)]
    for title, text in (
        ("Separating barrier of the library itself", separator_table(results)),
        ("Processor time of MPI_Reduce under skew", skew_table(results)),
        ("A rank that is late", late_table(results)),
        ("A program without collective calls", compute_table(results)),
        ("Cost of recording", record_table(results)),
        ("Deferred barriers", deferral_tables.write(results)),
        ("Memory", memory_table(results)),
        ("What the machine allows", floor_table(results)),
        ("Where the ranks ran", cores_table(results)),
        ("Left to the host library", coverage_table(results)),
        ("Not measured, or cut off", missing_table(results, left_out)),
    ):
        if text:
            parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


METHOD = """Rounds are outermost; within a round every configuration runs once, in an order that a seeded generator shuffles. Ratios are
taken within a round; a cell shows their median over the rounds and, in brackets, the lowest and the highest. "Best library" is
the best of all libraries in that round, each in its default and its best known setting. Every timed call follows the same bare
shared-memory barrier, whatever the library; the barrier itself is called back to back. Bound ranks are bound by the launcher,
one core each in turn; the bare programs are bound the same way. A target counts as met when it is met over every library."""

LATENCY = """Microseconds: mean / median / 99th percentile over ranks and iterations, and in brackets the completion (median over the
iterations of the slowest rank); each the median over the rounds. The best library's mean is bold. "Bare" are the barest programs
that do the same through shared memory, without MPI and without what a library needs beside: no flow control, one operation at a
time."""

RATIO = """By mean over ranks and iterations, and by completion. Below 1 evenkeel is faster."""


def target_table(results):
    rows = []
    deferred = {
        r["section"] == deferral_targets.SECTION for r in results.rows
    }  # what of the two was run: it may be both
    judged = [
        *(targets.evaluate(results) if False in deferred else []),
        *(deferral_targets.evaluate(results) if True in deferred else []),
    ]
    for t in judged:
        measured = (
            "; ".join(f"{host(j.configuration)}: {j.text}" for j in t.judged if j.value is not None) or "-"
        )
        rows.append([t.what, t.target, measured, t.verdict])
    return table(["what", "target", "measured over each library", ""], rows)


def operations(results, section):
    """(operation, bytes) in the order in which they were measured."""
    seen = {}
    for row in results.rows:
        if (
            row["section"] == section
            and row["op"] not in ("start", "memory")
            and row["configuration"] != FLOOR
        ):
            seen.setdefault((row["op"], row.get("bytes", 0)))
    return list(seen)


def latency_tables(results):
    ranks = results.ranks("collectives")
    for op, bytes_ in sorted(operations(results, "collectives"), key=lambda o: (o[0] != "barrier", o)):
        best = {n: results.best_peer_name("mean_us", "collectives", n, op, bytes=bytes_) for n in ranks}
        rows = []
        for c in results.configurations("collectives"):
            rows.append(
                [
                    "bare, no MPI" if c == FLOOR else c,
                    *(latency_cell(results, c, n, op, bytes_, best[n] == c) for n in ranks),
                ]
            )
        yield f"### {named(op, bytes_)}\n\n" + table(["", *(f"{n} ranks" for n in ranks)], rows)


def latency_cell(results, configuration, ranks, op, bytes_, bold):
    more = {"bytes": bytes_}
    if configuration == FLOOR:
        spins = results.series("mean_us", "collectives", FLOOR, ranks, op, bytes=bytes_, variant="spin")
        more["variant"] = "spin" if spins else "yield"
    stats = [
        results.spread(s, "collectives", configuration, ranks, op, **more)
        for s in ("mean_us", "median_us", "p99_us", "completion_us")
    ]
    if stats[0] is None:
        return results.reason("collectives", configuration, ranks, op, **more) or "-"
    mean, median, p99, completion = (number(s.median) if s else "-" for s in stats)
    return f"{'**' + mean + '**' if bold else mean} / {median} / {p99} ({completion})"


def ratio_tables(results):
    ranks = results.ranks("collectives")
    for c in results.configurations("collectives", is_evenkeel):
        rows = []
        for op, bytes_ in operations(results, "collectives"):
            for stat, said in (("mean_us", "mean"), ("completion_us", "completion")):
                found = [targets.to_best(results, c, n, op, bytes_, stat) for n in ranks]
                rows.append([named(op, bytes_), said, *(ranged(s) for s in found)])
        yield f"### {c}\n\n" + table(["", "by", *(f"{n} ranks" for n in ranks)], rows)


def separator_table(results, much=1.25):
    rows = []
    for c in results.configurations("separator"):
        for op, bytes_ in operations(results, "separator"):
            for stat, said in (("mean_us", "mean"), ("completion_us", "completion")):
                neutral = results.spread(stat, "collectives", c, 16, op, bytes=bytes_)
                own = results.spread(stat, "separator", c, 16, op, bytes=bytes_)
                if neutral and own and neutral.median > 0:
                    ratio = own.median / neutral.median
                    if ratio > much or ratio < 1 / much:
                        rows.append([c, named(op, bytes_), said, ranged(neutral), ranged(own), number(ratio)])
    if not rows:
        return ""
    text = (
        "16 ranks. The order in which a barrier lets its ranks go is part of what the next call costs. Where MPI_Barrier of the "
        f"library itself as separator makes a difference of more than {much} ×, µs:\n\n"
    )
    return text + table(["", "operation", "", "after the neutral barrier", "after its own", "ratio"], rows)


def skew_table(results):
    rows = []
    skews = sorted({r["skew_us"] for r in results.select(section="skew") if r.get("skew_us") is not None})
    for c in results.configurations("skew"):
        for ranks in results.ranks("skew"):
            cells = [c, ranks]
            for skew in skews:
                for stat in ("mean_us", "error_us", "process_mean_us", "root_us"):
                    s = results.spread(stat, "skew", c, ranks, "reduce_skew", skew_us=skew)
                    cells.append(ranged(s) if s else results.reason("skew", c, ranks, "reduce_skew") or "-")
            rows.append(cells)
    if not rows:
        return ""
    head = ["", "ranks"] + [
        f"{what}, skew {s} µs"
        for s in skews
        for what in ("main thread", "standard error of a run", "whole process", "root")
    ]
    return (
        "Processor time per reduction of 4 doubles beyond the delays, µs (benchmark of Wagner et al.: random delay, reduction, "
        "catch-up delay; control windows without the reduction); mean over the ranks, and the root's.\n\n"
        + table(head, rows)
    )


def late_table(results):
    ranks = results.ranks("late")
    ops = operations(results, "late")
    rows = []
    for c in results.configurations("late"):
        for op, bytes_ in ops:
            cells = []
            for n in ranks:
                s = results.spread("worst_ms", "late", c, n, op, bytes=bytes_)
                cells.append(ranged(s) if s else results.reason("late", c, n, op, bytes=bytes_) or "-")
            rows.append([c, named(op.removeprefix("late_"), bytes_), *cells])
    if not rows:
        return ""
    return (
        "How long the ranks are held that need nothing from the late one, ms (the worst of the callers and of the ranks that came "
        "late in turn).\n\n" + table(["", "", *(f"{n} ranks" for n in ranks)], rows)
    )


def compute_table(results):
    rows = []
    for c in results.configurations("compute", is_evenkeel):
        cells = [host(c)]
        for stat in ("mean_us", "trip_us"):
            without = targets._turns(results, "compute", host(c), stat, "compute")
            with_it = targets._turns(results, "compute", c, stat, "compute")
            ratio = statistics.paired_ratio(with_it, without)
            cells += [
                ranged(statistics.spread(without)),
                ranged(statistics.spread(with_it)),
                f"{ratio:.4f}" if ratio else "-",
            ]
        rows.append(cells)
    if not rows:
        return ""
    return (
        "Two ranks, µs per step of a heat equation on a ring (edges by MPI_Isend and MPI_Irecv), and per round trip of 8 bytes.\n\n"
        + table(["", "step without", "step with", "ratio", "trip without", "trip with", "ratio"], rows)
    )


def record_table(results):
    rows = []
    for c in results.configurations("record"):
        off = targets._turns(results, "record", c, "mean_us", "barrier", "record=0")
        on = targets._turns(results, "record", c, "mean_us", "barrier", "record=1")
        ratio = statistics.paired_ratio(on, off)
        rows.append(
            [
                c,
                ranged(statistics.spread(off)),
                ranged(statistics.spread(on)),
                f"{ratio:.4f}" if ratio else "-",
            ]
        )
    if not rows:
        return ""
    return "Barrier of 16 ranks, µs, by turns.\n\n" + table(
        ["", "EVENKEEL_RECORD=0", "EVENKEEL_RECORD=1", "ratio"], rows
    )


def memory_table(results):
    rows = []
    for c in results.configurations("collectives", is_evenkeel):
        cells = [c]
        for n in results.ranks("collectives"):
            found = [
                r["segment_bytes_per_rank"]
                for r in results.select(configuration=c, ranks=n, op="memory")
                if r.get("segment_bytes_per_rank") is not None
            ]
            cells.append(f"{max(found) / 1024:.1f}" if found else "-")
        if any(cell != "-" for cell in cells[1:]):
            rows.append(cells)
    if not rows:
        return ""
    head = ["", *(f"{n} ranks" for n in results.ranks("collectives"))]
    return "KiB of segment per communicator and rank, from evenkeel's own record of the run.\n\n" + table(
        head, rows
    )


def floor_table(results):
    ranks = results.ranks("collectives")
    rows = []
    for variant, said in (("spin", "spinning"), ("yield", "yielding"), ("futex", "sleeping on a futex")):
        cells = [
            results.spread("mean_us", "collectives", FLOOR, n, "barrier", variant=variant) for n in ranks
        ]
        if any(cells):
            rows.append([f"barrier, {said}", *(ranged(s) for s in cells)])
    singles = []
    for row in results.select(section="collectives", configuration=FLOOR, variant="single"):
        if (row["op"], row["bytes"]) not in singles:
            singles.append((row["op"], row["bytes"]))
    for op, bytes_ in singles:
        s = results.spread("mean_us", "collectives", FLOOR, 2, op, bytes=bytes_)
        rows.append([named(op.replace("_", " "), bytes_), ranged(s), *("" for _ in ranks[1:])])
    if not rows:
        return ""
    return "Bare programs without MPI, bound, µs.\n\n" + table(["", *(f"{n} ranks" for n in ranks)], rows)


def cores_table(results):
    rows = {}
    for row in results.select(op="start"):
        if (
            row["section"] == "collectives"
            and row["ranks"] == max(results.ranks("collectives"))
            and row.get("cores")
        ):
            masks = row["cores"].split()
            rows[row["configuration"]] = [
                row["configuration"],
                row.get("library", ""),
                row.get("separator", ""),
                ", ".join(f"{masks.count(m)} on {_cores(int(m, 16))}" for m in dict.fromkeys(masks)),
            ]
    if not rows:
        return ""
    return (
        f"{max(results.ranks('collectives'))} ranks; the cores that they may use after MPI_Init, and how they wait in the separating "
        "barrier: by yielding, but where the launcher gives each rank a session and the kernel schedules each session as one "
        "(sched_autogroup), so that sched_yield hands nothing over, by sleeping on a futex.\n\n"
        + table(["", "library", "separating barrier", "ranks on cores"], [rows[k] for k in sorted(rows)])
    )


def _cores(mask):
    found = [str(i) for i in range(64) if mask >> i & 1]
    return ("core " if len(found) == 1 else "cores ") + "+".join(found) if found else "no core"


def coverage_table(results):
    rows = {}
    for row in results.select(op="memory"):
        if row.get("host_calls"):
            rows[row["configuration"], row["ranks"]] = [
                row["configuration"],
                row["ranks"],
                row["calls"],
                row["host_calls"],
                row.get("reason", ""),
            ]
    if not rows:
        return ""
    return (
        "Runs with evenkeel in which collective calls were carried out by the host library all the same; their numbers above are "
        "the host's.\n\n"
        + table(["", "ranks", "evenkeel's calls", "host's calls", "why"], [rows[k] for k in sorted(rows)])
    )


def missing_table(results, left_out):
    """One line for each thing that is missing and why; operations and rounds with the same reason share a line."""
    lines = {}
    for row in results.rows:
        if row.get("reason") and row["op"] != "memory" and row["reason"] != SPINS:
            ops, rounds = lines.setdefault(
                (row["configuration"], row["section"], row["ranks"], row["reason"]), ({}, set())
            )
            ops[row["variant"] if row["section"] == "deferred" else named(row["op"], row.get("bytes", 0))] = (
                None
            )
            rounds.add(row["round"])
    out = [[name, "", "", "", why] for name, why in left_out.items()]
    for (configuration, section, ranks, reason), (ops, rounds) in lines.items():
        out.append(
            [
                configuration,
                section,
                ranks,
                ", ".join(ops),
                f"{reason} (rounds {', '.join(map(str, sorted(rounds)))})",
            ]
        )
    return table(["", "", "ranks", "operations", "reason"], out) if out else ""
