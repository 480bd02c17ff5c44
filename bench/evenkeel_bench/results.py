"""The results: one row per round, configuration, ranks and operation.

Pure, except `write_csv` and `read_csv`.

Rows are plain dictionaries. A row with a `reason` stands for numbers that are missing.
"""

import csv

from . import statistics
from .plan import FLOOR

FIELDS = (
    "round",
    "section",
    "configuration",
    "ranks",
    "variant",
    "op",
    "bytes",
    "skew_us",
    "iterations",
    "mean_us",
    "median_us",
    "p99_us",
    "completion_us",
    "cpu_us",
    "error_us",
    "process_mean_us",
    "root_us",
    "trip_us",
    "median_ms",
    "worst_ms",
    "worst_case_ms",
    "worst_late",
    "separator",
    "segment_bytes_per_rank",
    "host_calls",
    "calls",
    "deferred",
    "seconds",
    "mean_s",
    "compute_s",
    "call_ns",
    "worst_rank_ns",
    "middle_ns",
    "row_ns",
    "waited",
    "clock_ns",
    "library",
    "cores",
    "reason",
)
TEXTS = ("section", "separator", "configuration", "variant", "op", "library", "cores", "reason")


def is_evenkeel(configuration):
    return configuration.endswith("+evenkeel")


def is_library(configuration):
    return configuration != FLOOR and not is_evenkeel(configuration)


def rows_of(task, round_, outcome):
    """The rows of one run: what it printed, and a reason for every operation that it did not reach."""
    common = {
        "round": round_,
        "section": task.section,
        "configuration": task.configuration,
        "ranks": task.ranks,
        "variant": task.variant,
    }
    rows, seen = [], set()
    for printed in outcome.rows:
        row = common | {k: v for k, v in printed.items() if k in FIELDS and k not in ("ranks", "cores")}
        if task.configuration == FLOOR:
            row["variant"] = printed.get("variant", "")
        if "program" in printed:
            row |= {"op": "start", "cores": " ".join(printed.get("cores", []))}
        if "skipped" in printed:
            row["reason"] = printed["skipped"]
        seen.add((printed.get("op"), printed.get("bytes")))
        rows.append(row)
    for op, bytes_ in _split(task.left_out):
        rows.append(common | {"op": op, "bytes": bytes_, "reason": task.why_left_out})
    if outcome.reason:
        for op, bytes_ in _operations(task):
            if (op, bytes_) not in seen:
                rows.append(common | {"op": op, "bytes": bytes_, "reason": outcome.reason})
    return rows


def _operations(task):
    if task.program not in ("collectives", "late"):
        yield ("barrier" if task.program == "floor" else task.program), 0
        return
    words = task.arguments[task.arguments.index("--ops") + 1].split(",")
    prefix = "late_" if task.program == "late" else ""
    yield from ((prefix + op, bytes_) for op, bytes_ in _split(words))


def _split(words):
    for word in words:
        op, _, bytes_ = word.partition(":")
        yield op, int(bytes_ or 0)


class Results:
    """All rows, with the questions that tables and targets ask of them."""

    def __init__(self, rows=()):
        self.rows = list(rows)

    def add(self, rows):
        self.rows += rows

    def select(self, **wanted):
        return [r for r in self.rows if all(r.get(k) == v for k, v in wanted.items())]

    def series(self, stat, section, configuration, ranks, op, **more):
        """Round → value of one statistic. Several runs in a round: their mean."""
        found = {}
        for row in self.select(section=section, configuration=configuration, ranks=ranks, op=op, **more):
            if row.get(stat) is not None:
                found.setdefault(row["round"], []).append(row[stat])
        return {r: sum(v) / len(v) for r, v in sorted(found.items())}

    def spread(self, stat, section, configuration, ranks, op, **more):
        return statistics.spread(self.series(stat, section, configuration, ranks, op, **more).values())

    def reason(self, section, configuration, ranks, op, **more):
        """Why there is no number; "" if no row gives a reason."""
        reasons = [
            r["reason"]
            for r in self.select(section=section, configuration=configuration, ranks=ranks, op=op, **more)
            if r.get("reason")
        ]
        return reasons[-1] if reasons else ""

    def configurations(self, section=None, kind=None):
        """Names, the libraries first, then evenkeel, then the floor; `kind`: a predicate on the name."""
        names = {r["configuration"] for r in self.rows if section in (None, r["section"])}
        return sorted(
            (n for n in names if kind is None or kind(n)), key=lambda n: (n == FLOOR, is_evenkeel(n), n)
        )

    def best_library(self, stat, section, ranks, op, **more):
        """Round → the best of all libraries in all settings."""
        return statistics.best_by_round(
            self.series(stat, section, c, ranks, op, **more) for c in self.configurations(section, is_library)
        )

    def best_library_name(self, stat, section, ranks, op, **more):
        """The library with the smallest median over the rounds; "" if none was measured."""
        medians = {
            c: self.spread(stat, section, c, ranks, op, **more)
            for c in self.configurations(section, is_library)
        }
        medians = {c: s.median for c, s in medians.items() if s}
        return min(medians, key=medians.get) if medians else ""

    def ranks(self, section):
        return sorted({r["ranks"] for r in self.rows if r["section"] == section})


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: "" if v is None else v for k, v in row.items()})


def read_csv(path):
    """Rows as `write_csv` wrote them: numbers are numbers again, empty cells are left out."""
    with path.open(newline="") as file:
        return [
            {k: v if k in TEXTS else _number(v) for k, v in row.items() if v != ""}
            for row in csv.DictReader(file)
        ]


def _number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)
