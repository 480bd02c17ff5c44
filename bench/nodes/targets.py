"""What was promised across hosts, and whether it was kept. Pure: rows in, judgements out.

Ratios are taken within a round, then the median over the rounds. "Best library" is the smallest value of all libraries in that round.
"""

from dataclasses import dataclass

from evenkeel_bench.statistics import best_by_round, ratio_by_round, spread


@dataclass(frozen=True)
class Judged:
    what: str
    target: str
    value: float | None
    met: bool | None  # None: not measured
    text: str


def is_evenkeel(name):
    return name.endswith("+evenkeel")


class Rows(list):
    """Dictionaries, one per round, setting, hosts, ranks on each, and operation."""

    def where(self, **wanted):
        return Rows(row for row in self if all(row.get(key) == value for key, value in wanted.items()))

    def series(self, stat, **wanted):
        """Round → value."""
        return {row["round"]: row[stat] for row in self.where(**wanted) if row.get(stat) is not None}

    def names(self, which=lambda name: True, **wanted):
        return sorted(
            {
                row["setting"]
                for row in self.where(**wanted)
                if which(row["setting"]) and row["setting"] != "floor"
            }
        )


def to_best(rows, stat, ours, **wanted):
    """Spread over the rounds of evenkeel's value to the best library's; None where one is missing."""
    peers = rows.names(lambda name: not is_evenkeel(name), **wanted)
    best = best_by_round(rows.series(stat, setting=name, **wanted) for name in peers)
    return ratio_by_round(rows.series(stat, setting=ours, **wanted), best)


LATENCIES = (
    ("barrier", 0),
    ("allreduce", 8),
    ("reduce", 8),
    ("bcast", 8),
    ("bcast", 65536),
    ("bcast", 1048576),
)


def judged(rows):
    """All judgements for what is in the rows."""
    out = []
    for ours in rows.names(is_evenkeel):
        out += [
            *_latencies(rows, ours),
            *_skew(rows, ours),
            *_late(rows, ours),
            *_stopped(rows, ours),
            *_agent(rows, ours),
            *_traffic(rows, ours),
        ]
    return out + _multicast(rows)


def _latencies(rows, ours):
    for op, bytes_ in LATENCIES:
        ratios = []
        cells = sorted(
            {
                (row["hosts"], row["per_host"])
                for row in rows.where(section="collectives", op=op, bytes=bytes_)
            }
        )
        # Reductions and broadcasts let most ranks go at once: only the slowest rank's time tells when the
        # work was done.
        stat = "mean_us" if op in ("barrier", "allreduce") else "completion_us"
        for hosts, per_host in cells:
            ratio = to_best(
                rows, stat, ours, section="collectives", op=op, bytes=bytes_, hosts=hosts, per_host=per_host
            )
            if ratio:
                ratios.append((ratio.median, f"{hosts}×{per_host} {ratio.median:.2f}"))
        if ratios:
            worst = max(ratios)[0]
            kept = sum(value <= 0.8 for value, _ in ratios)
            yield Judged(
                f"{op} {bytes_ or ''}{' B' if bytes_ else ''}, {ours}",
                "≤ 0.8 × the best library",
                worst,
                worst <= 0.8,
                f"{kept} of {len(ratios)} cells: " + ", ".join(text for _, text in ratios),
            )


def _skew(rows, ours):
    ratio = to_best(rows, "mean_us", ours, section="skew", op="reduce_skew")
    if ratio:
        times = 1 / ratio.median if ratio.median > 0 else float("inf")
        yield Judged(
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
            yield Judged(
                f"held by a rank that is 100 ms late, {op.removeprefix('late_')}, {ours}",
                "≤ 1 ms",
                worst.median,
                worst.median <= 1,
                f"{worst.median:.2f} ms at worst",
            )


def _loss(rows, setting):
    """Round → how much longer the others' loop takes when a host is stopped, in per cent."""
    stopped = rows.series("others_s", section="stopped", setting=setting, variant="stopped")
    undisturbed = rows.series("others_s", section="stopped", setting=setting, variant="undisturbed")
    return {r: (stopped[r] / undisturbed[r] - 1) * 100 for r in stopped if undisturbed.get(r)}


def _stopped(rows, ours):
    loss = spread(_loss(rows, ours).values())
    peers = rows.names(lambda name: not is_evenkeel(name), section="stopped")
    best = best_by_round(_loss(rows, name) for name in peers)
    if loss:
        beside = spread(best.values())
        yield Judged(
            f"a host stopped 100 ms of each second: what the others lose, {ours}",
            "< 5%",
            loss.median,
            loss.median < 5,
            f"{loss.median:.1f}%" + (f"; the best library {beside.median:.1f}%" if beside else ""),
        )


def _agent(rows, ours):
    agents = rows.where(op="agents", setting=ours)
    if not agents:
        yield Judged(f"agent, {ours}", "idle 0%, ≤ 32 MiB", None, None, "no process evenkeel-agent was seen")
        return
    peak = max(row["peak_mib"] for row in agents)
    yield Judged(f"agent's memory, {ours}", "≤ 32 MiB", peak, peak <= 32, f"{peak:.1f} MiB at most")
    idle = spread(row.get("idle_percent") for row in agents.where(section="idle"))
    if idle:
        yield Judged(
            f"agent's processor time while nothing happens, {ours}",
            "0.0%",
            idle.median,
            idle.median < 0.05,
            f"{idle.median:.2f}% of a core",
        )
    # Loops of collectives one after the other: elsewhere agents mostly wait.
    counted = [
        row
        for row in agents.where(section="collectives")
        if row.get("messages") and row.get("agents_counted") == row["hosts"]
    ]
    messages = spread(row["handling_us"] / row["messages"] for row in counted)
    if messages:
        yield Judged(
            f"agent's processor time for a message sent or taken in, {ours}",
            "≤ 5 µs",
            messages.median,
            messages.median <= 5,
            f"{messages.median:.2f} µs ({messages.low:.2f}–{messages.high:.2f} over {len(counted)} runs, {sum(row['messages'] for row in counted):,} messages)",
        )


def _traffic(rows, ours):
    for op in ("reduce", "bcast"):
        for per_host in sorted({row["per_host"] for row in rows.where(section="traffic", op=op)}):
            copies = spread(
                rows.series("copies", section="traffic", setting=ours, op=op, per_host=per_host).values()
            )
            if copies:
                yield Judged(
                    f"network bytes of {op} 64 KiB, 4×{per_host}, {ours}",
                    "once per host (≤ 1.1 with headers)",
                    copies.median,
                    copies.median <= 1.1,
                    f"{copies.median:.3f} copies per host",
                )


def _multicast(rows):
    shares = spread(rows.series("share", section="multicast", op="multicast").values())
    if not shares:
        return []
    return [
        Judged(
            "12 MB to 8 hosts by xfer_and_signal",
            "≥ 90% of what TCP alone moves over one of the links",
            shares.median * 100,
            shares.median >= 0.9,
            f"{shares.median * 100:.1f}% ({shares.low * 100:.1f}–{shares.high * 100:.1f})",
        )
    ]
