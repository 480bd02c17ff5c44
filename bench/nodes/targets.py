"""The targets between hosts, judged. Pure: rows in, judgements out.

Ratios are taken within a round; the median over the rounds is judged. "Best library" is the smallest value of
all libraries in that round.
"""

from dataclasses import dataclass

from evenkeel_bench.statistics import best_by_round, spread

from .rows import is_evenkeel, is_library, loss_by_round, to_best

LATENCIES = (
    ("barrier", 0),
    ("allreduce", 8),
    ("reduce", 8),
    ("bcast", 8),
    ("bcast", 65536),
    ("bcast", 1048576),
)


@dataclass(frozen=True)
class Judgement:
    """One target for one setting. `value` and `is_met` are None where nothing was measured."""

    what: str
    target: str
    value: float | None
    is_met: bool | None
    text: str


def judge(rows):
    """All judgements on what is in the rows."""
    out = []
    for ours in rows.names(is_evenkeel):
        out += [
            *_latencies(rows, ours, "collectives"),
            *_latencies(rows, ours, "columns"),
            *_skew(rows, ours),
            *_late(rows, ours),
            *_stopped(rows, ours),
            *_agents(rows, ours),
            *_traffic(rows, ours),
        ]
    return [*out, *_multicast(rows)]


def _latencies(rows, ours, section):
    where = " in columns" if section == "columns" else ""
    for op, bytes_ in LATENCIES:
        # Most ranks return from reductions and broadcasts at once: only the slowest rank's time tells when
        # the work was done.
        stat = "mean_us" if op in ("barrier", "allreduce") else "completion_us"
        mine = {"section": section, "op": op, "bytes": bytes_}
        ratios = []
        for hosts, per_host in rows.cells(**mine):
            ratio = to_best(rows, stat, ours, **mine, hosts=hosts, per_host=per_host)
            if ratio:
                ratios.append((ratio.median, f"{hosts}×{per_host} {ratio.median:.2f}"))
        if ratios:
            worst = max(ratios)[0]
            met = sum(value <= 0.8 for value, _ in ratios)
            yield Judgement(
                f"{op} {bytes_ or ''}{' B' if bytes_ else ''}{where}, {ours}",
                "≤ 0.8 × the best library",
                worst,
                worst <= 0.8,
                f"{met} of {len(ratios)} cells: " + ", ".join(text for _, text in ratios),
            )


def _skew(rows, ours):
    ratio = to_best(rows, "mean_us", ours, section="skew", op="reduce_skew")
    if ratio:
        times = 1 / ratio.median if ratio.median > 0 else float("inf")
        yield Judgement(
            f"processor time of MPI_Reduce, skew 1000 µs, 8 hosts, {ours}",
            "≥ 5.1 × less than the best library",
            times,
            times >= 5.1,
            f"{times:.1f} × less",
        )


def _late(rows, ours):
    for op in ("late_reduce", "late_bcast"):
        worst = spread(rows.series("worst_case_ms", section="late", setting=ours, op=op).values())
        if worst:
            yield Judgement(
                f"held by a rank that is 100 ms late, {op.removeprefix('late_')}, {ours}",
                "≤ 1 ms",
                worst.median,
                worst.median <= 1,
                f"{worst.median:.2f} ms at worst",
            )


def _stopped(rows, ours):
    loss = spread(loss_by_round(rows, ours).values())
    if loss:
        libraries = rows.names(is_library, section="stopped")
        best = spread(best_by_round(loss_by_round(rows, name) for name in libraries).values())
        yield Judgement(
            f"a host stopped 100 ms of each second: what the others lose, {ours}",
            "< 5%",
            loss.median,
            loss.median < 5,
            f"{loss.median:.1f}%" + (f"; the best library {best.median:.1f}%" if best else ""),
        )


def _agents(rows, ours):
    agents = rows.where(op="agents", setting=ours)
    if not agents:
        none = "no process evenkeel-agent was seen"
        yield Judgement(f"agent, {ours}", "idle 0%, ≤ 32 MiB", None, None, none)
        return
    peak = max(row["peak_mib"] for row in agents)
    yield Judgement(f"agent's memory, {ours}", "≤ 32 MiB", peak, peak <= 32, f"{peak:.1f} MiB at most")
    idle = spread(row.get("idle_percent") for row in agents.where(section="idle"))
    if idle:
        yield Judgement(
            f"agent's processor time while nothing happens, {ours}",
            "0.0%",
            idle.median,
            idle.median < 0.05,
            f"{idle.median:.2f}% of a core",
        )
    yield from _time_per_message(agents, ours)


def _time_per_message(agents, ours):
    """Of runs with loops of collectives (in others agents mostly wait) whose agents have all counted."""
    counted = [
        row
        for row in agents.where(section="collectives")
        if row.get("messages") and row.get("agents_counted") == row["hosts"]
    ]
    per_message = spread(row["handling_us"] / row["messages"] for row in counted)
    if per_message:
        total = sum(row["messages"] for row in counted)
        range_ = f"{per_message.low:.2f}–{per_message.high:.2f} over {len(counted)} runs, {total:,} messages"
        yield Judgement(
            f"agent's processor time for a message sent or received, {ours}",
            "≤ 5 µs",
            per_message.median,
            per_message.median <= 5,
            f"{per_message.median:.2f} µs ({range_})",
        )


def _traffic(rows, ours):
    for op in ("reduce", "bcast"):
        for per_host in sorted({row["per_host"] for row in rows.where(section="traffic", op=op)}):
            mine = {"section": "traffic", "setting": ours, "op": op, "per_host": per_host}
            copies = spread(rows.series("copies", **mine).values())
            if copies:
                yield Judgement(
                    f"network bytes of {op} 64 KiB, 4×{per_host}, {ours}",
                    "once per host (≤ 1.1 with headers)",
                    copies.median,
                    copies.median <= 1.1,
                    f"{copies.median:.3f} copies per host",
                )


def _multicast(rows):
    shares = spread(rows.series("share", section="multicast", op="multicast").values())
    if shares:
        yield Judgement(
            "12 MB to 8 hosts by xfer_and_signal",
            "≥ 90% of what TCP alone moves over one of the links",
            shares.median * 100,
            shares.median >= 0.9,
            f"{shares.median * 100:.1f}% ({shares.low * 100:.1f}–{shares.high * 100:.1f})",
        )
