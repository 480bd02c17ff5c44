"""The results on one host as Markdown. Pure: takes results, gives text."""

from . import deferral_tables, deferral_targets, statistics, targets
from .judgement import host, number, ranged
from .markdown import table
from .plan import FLOOR, SPINS
from .results import is_evenkeel

METHOD = """Rounds are outermost; within a round every configuration runs once, in an order that a
seeded generator shuffles. Ratios are taken within a round; a cell shows their median over the rounds
and, in brackets, the lowest and the highest. "Best library" is the best of all libraries in that round,
each in its default and its best known setting. Every timed call follows the same bare shared-memory
barrier, whatever the library; the barrier itself is called back to back. Bound ranks are bound by the
launcher, one core each in turn; the bare programs are bound the same way. A target counts as met when
it is met over every library."""

LATENCY = """Microseconds: mean / median / 99th percentile over ranks and iterations, and in brackets the
completion (median over the iterations of the slowest rank); each the median over the rounds. The best
library's mean is bold. "Bare" is the simplest program that does the same through shared memory, without MPI
and without the other duties of a library: no flow control, one operation at a time."""

RATIO = """By mean over ranks and iterations, and by completion. Below 1 evenkeel is faster."""

SKEW = (
    "Processor time per reduction of 4 doubles beyond the delays, µs (benchmark of Wagner et al.: random "
    "delay, reduction, catch-up delay; control windows without the reduction); mean over the ranks, and the "
    "root's."
)
LATE = (
    "How long a late rank blocks ranks that need nothing from it, ms: the maximum over these ranks and over "
    "the ranks that took turns to be late."
)
COMPUTE = (
    "Two ranks, µs per step of a heat equation on a ring (edges by MPI_Isend and MPI_Irecv), and per round "
    "trip of 8 bytes."
)
CORES = (
    "the cores that they may use after MPI_Init, and how they wait in the separating barrier. They yield, "
    "except where the launcher gives each rank a session and the kernel schedules each session as one "
    "(sched_autogroup), so that sched_yield gives no core to another rank: there they sleep on a futex."
)
COVERAGE = (
    "Runs with evenkeel in which the host library carried out collective calls. The numbers above for these "
    "calls are the library's."
)


def size(bytes_):
    if not bytes_:
        return ""
    return f"{bytes_ // 1024} KiB" if bytes_ >= 1024 else f"{bytes_} B"


def label(op, bytes_):
    return f"{op} {size(bytes_)}".strip()


def write(results, machine, libraries, left_out, seconds, plots=()):
    """The whole of results.md."""
    conditions = [*machine, *(f"{name}: {text}" for name, text in libraries.items())]
    head = "\n".join(f"* {line}" for line in [*conditions, f"duration: {seconds / 60:.1f} minutes"])
    parts = ["# evenkeel beside the MPI libraries", head, "## Targets", target_table(results), METHOD]
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


def _with_text(text, head, rows):
    return f"{text}\n\n{table(head, rows)}" if rows else ""


def _per_ranks(results, section):
    return [f"{n} ranks" for n in results.ranks(section)]


def target_table(results):
    """Targets of the sections that were run."""
    is_deferred = {row["section"] == deferral_targets.SECTION for row in results.rows}
    evaluated = [
        *(targets.evaluate(results) if False in is_deferred else []),
        *(deferral_targets.evaluate(results) if True in is_deferred else []),
    ]
    rows = []
    for t in evaluated:
        measured = [f"{host(j.configuration)}: {j.text}" for j in t.judgements if j.value is not None]
        rows.append([t.what, t.target, "; ".join(measured) or "-", t.verdict])
    return table(["what", "target", "measured over each library", ""], rows)


def operations(results, section):
    """(operation, bytes) in the order in which they were measured."""
    seen = {}
    for row in results.rows:
        is_operation = row["op"] not in ("start", "memory") and row["configuration"] != FLOOR
        if row["section"] == section and is_operation:
            seen.setdefault((row["op"], row.get("bytes", 0)))
    return list(seen)


def latency_tables(results):
    ranks = results.ranks("collectives")
    for op, bytes_ in sorted(operations(results, "collectives"), key=lambda o: (o[0] != "barrier", o)):
        best = {n: results.best_library_name("mean_us", "collectives", n, op, bytes=bytes_) for n in ranks}
        rows = []
        for c in results.configurations("collectives"):
            cells = [latency_cell(results, c, n, op, bytes_, best[n] == c) for n in ranks]
            rows.append(["bare, no MPI" if c == FLOOR else c, *cells])
        yield f"### {label(op, bytes_)}\n\n" + table(["", *_per_ranks(results, "collectives")], rows)


def latency_cell(results, configuration, ranks, op, bytes_, is_best):
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
    return f"{'**' + mean + '**' if is_best else mean} / {median} / {p99} ({completion})"


def ratio_tables(results):
    ranks = results.ranks("collectives")
    for c in results.configurations("collectives", is_evenkeel):
        rows = []
        for op, bytes_ in operations(results, "collectives"):
            for stat, by in (("mean_us", "mean"), ("completion_us", "completion")):
                found = [targets.to_best(results, c, n, op, bytes_, stat) for n in ranks]
                rows.append([label(op, bytes_), by, *(ranged(s) for s in found)])
        yield f"### {c}\n\n" + table(["", "by", *_per_ranks(results, "collectives")], rows)


def separator_table(results, much=1.25):
    """Where the library's own barrier as separator makes a difference of more than `much`."""
    rows = []
    for c in results.configurations("separator"):
        for op, bytes_ in operations(results, "separator"):
            for stat, by in (("mean_us", "mean"), ("completion_us", "completion")):
                neutral = results.spread(stat, "collectives", c, 16, op, bytes=bytes_)
                own = results.spread(stat, "separator", c, 16, op, bytes=bytes_)
                if neutral and own and neutral.median > 0:
                    ratio = own.median / neutral.median
                    if ratio > much or ratio < 1 / much:
                        rows.append([c, label(op, bytes_), by, ranged(neutral), ranged(own), number(ratio)])
    text = (
        "16 ranks. The order in which ranks leave a barrier is part of what the next call costs. Where "
        f"MPI_Barrier of the library itself as separator makes a difference of more than {much} ×, µs:"
    )
    return _with_text(
        text, ["", "operation", "", "after the neutral barrier", "after its own", "ratio"], rows
    )


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
    columns = ("main thread", "standard error of a run", "whole process", "root")
    return _with_text(SKEW, ["", "ranks", *(f"{what}, skew {s} µs" for s in skews for what in columns)], rows)


def late_table(results):
    rows = []
    for c in results.configurations("late"):
        for op, bytes_ in operations(results, "late"):
            cells = []
            for n in results.ranks("late"):
                s = results.spread("worst_ms", "late", c, n, op, bytes=bytes_)
                cells.append(ranged(s) if s else results.reason("late", c, n, op, bytes=bytes_) or "-")
            rows.append([c, label(op.removeprefix("late_"), bytes_), *cells])
    return _with_text(LATE, ["", "", *_per_ranks(results, "late")], rows)


def _ratio_cells(without, with_it):
    ratio = statistics.paired_ratio(with_it, without)
    spreads = [ranged(statistics.spread(values)) for values in (without, with_it)]
    return [*spreads, f"{ratio:.4f}" if ratio else "-"]


def compute_table(results):
    rows = []
    for c in results.configurations("compute", is_evenkeel):
        cells = [host(c)]
        for stat in ("mean_us", "trip_us"):
            cells += _ratio_cells(
                *(targets.values_of_turns(results, "compute", of, stat, "compute") for of in (host(c), c))
            )
        rows.append(cells)
    head = ["", "step without", "step with", "ratio", "trip without", "trip with", "ratio"]
    return _with_text(COMPUTE, head, rows)


def record_table(results):
    rows = []
    for c in results.configurations("record"):
        off, on = (
            targets.values_of_turns(results, "record", c, "mean_us", "barrier", f"record={record}")
            for record in (0, 1)
        )
        rows.append([c, *_ratio_cells(off, on)])
    head = ["", "EVENKEEL_RECORD=0", "EVENKEEL_RECORD=1", "ratio"]
    return _with_text("Barrier of 16 ranks, µs, in alternating runs.", head, rows)


def memory_table(results):
    rows = []
    for c in results.configurations("collectives", is_evenkeel):
        cells = []
        for n in results.ranks("collectives"):
            of_runs = results.select(configuration=c, ranks=n, op="memory")
            found = [
                r["segment_bytes_per_rank"] for r in of_runs if r.get("segment_bytes_per_rank") is not None
            ]
            cells.append(f"{max(found) / 1024:.1f}" if found else "-")
        if any(cell != "-" for cell in cells):
            rows.append([c, *cells])
    text = "KiB of segment per communicator and rank, from evenkeel's own record of the run."
    return _with_text(text, ["", *_per_ranks(results, "collectives")], rows)


def floor_table(results):
    ranks = results.ranks("collectives")
    rows = []
    for variant, waiting in (("spin", "spinning"), ("yield", "yielding"), ("futex", "sleeping on a futex")):
        cells = [
            results.spread("mean_us", "collectives", FLOOR, n, "barrier", variant=variant) for n in ranks
        ]
        if any(cells):
            rows.append([f"barrier, {waiting}", *(ranged(s) for s in cells)])
    singles = results.select(section="collectives", configuration=FLOOR, variant="single")
    for op, bytes_ in dict.fromkeys((row["op"], row["bytes"]) for row in singles):
        s = results.spread("mean_us", "collectives", FLOOR, 2, op, bytes=bytes_)
        rows.append([label(op.replace("_", " "), bytes_), ranged(s), *("" for _ in ranks[1:])])
    text = "Bare programs without MPI, bound, µs."
    return _with_text(text, ["", *_per_ranks(results, "collectives")], rows)


def cores_table(results):
    ranks = max(results.ranks("collectives"), default=0)
    rows = {}
    for row in results.select(op="start", section="collectives", ranks=ranks):
        if masks := row.get("cores", "").split():
            places = ", ".join(f"{masks.count(m)} on {_cores(int(m, 16))}" for m in dict.fromkeys(masks))
            name = row["configuration"]
            rows[name] = [name, row.get("library", ""), row.get("separator", ""), places]
    head = ["", "library", "separating barrier", "ranks on cores"]
    return _with_text(f"{ranks} ranks; {CORES}", head, [rows[name] for name in sorted(rows)])


def _cores(mask):
    found = [str(i) for i in range(64) if mask >> i & 1]
    if not found:
        return "no core"
    return ("core " if len(found) == 1 else "cores ") + "+".join(found)


def coverage_table(results):
    rows = {}
    for row in results.select(op="memory"):
        if row.get("host_calls"):
            key = row["configuration"], row["ranks"]
            rows[key] = [*key, row["calls"], row["host_calls"], row.get("reason", "")]
    head = ["", "ranks", "evenkeel's calls", "host's calls", "why"]
    return _with_text(COVERAGE, head, [rows[key] for key in sorted(rows)])


def missing_table(results, left_out):
    """A line for each thing that is missing, and why; operations and rounds with one reason share a line."""
    lines = {}
    for row in results.rows:
        if row.get("reason") and row["op"] != "memory" and row["reason"] != SPINS:
            key = row["configuration"], row["section"], row["ranks"], row["reason"]
            ops, rounds = lines.setdefault(key, ({}, set()))
            is_deferral = row["section"] == deferral_targets.SECTION
            ops[row["variant"] if is_deferral else label(row["op"], row.get("bytes", 0))] = None
            rounds.add(row["round"])
    rows = [[name, "", "", "", why] for name, why in left_out.items()]
    for (configuration, section, ranks, reason), (ops, rounds) in lines.items():
        why = f"{reason} (rounds {', '.join(map(str, sorted(rounds)))})"
        rows.append([configuration, section, ranks, ", ".join(ops), why])
    return table(["", "", "ranks", "operations", "reason"], rows) if rows else ""
