"""The results on several hosts as Markdown. Pure."""

from evenkeel_bench.markdown import table
from evenkeel_bench.statistics import spread

from . import targets
from .rows import loss_by_round

METHOD = """All hosts are namespaces of one machine and share its cores and clock. What crosses
between them goes through veth pairs and a bridge. Rounds are outermost; within a round every setting
runs once, in an order that a seeded generator shuffles; ratios are taken within a round. No rank is
bound to a core, and all ranks yield while they wait. Timed calls follow a barrier through shared
memory, the same for all libraries; the barrier itself is called back to back."""

STOPPED = (
    "Eight hosts with one rank each compute 1 ms and meet in a barrier; h1's rank is stopped for 100 ms of "
    "every second. Seconds until the others leave their last barrier."
)
TRAFFIC = "Bytes that all hosts' devices received, relative to one copy of 64 KiB per host but the root's."
COLUMNS = "Each communicator has one rank of each host, and all of them make the same call at the same time."
COLLECTIVES = "µs: mean over ranks and calls (completion: median of the slowest rank)"


def write(rows, head, versions, left_out, figures):
    """The whole of results.md."""
    parts = [
        "# evenkeel beside the MPI libraries, on several hosts",
        "\n".join(f"* {line}" for line in [*head, *versions]),
        "## Targets",
        target_table(rows),
        METHOD,
    ]
    parts += [f"![{title}]({name})" for name, title in figures]
    for title, text in (
        ("Collectives", collectives(rows, "collectives")),
        ("Collectives in columns", columns(rows)),
        ("Processor time under skew, 8 hosts", skew(rows)),
        ("A late rank, 8 hosts", late(rows)),
        ("A stopped host", stopped(rows)),
        ("Bytes on the network", traffic(rows)),
        ("Calls that evenkeel carried out", shares(rows)),
        ("Agents", agents(rows)),
        ("Without MPI", floor(rows)),
        ("12 MB to 8 hosts", multicast(rows)),
        ("Not measured, or cut off", missing(rows, left_out)),
    ):
        if text:
            parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


def _table(head, lines):
    return table(head, lines) if lines else ""


def _with_text(text, head, lines):
    return f"{text}\n\n{table(head, lines)}" if lines else ""


def _cell(values, form="{:.3g}"):
    s = spread(values)
    return form.format(s.median) if s else ""


def target_table(rows):
    verdicts = {True: "met", False: "**missed**", None: "not measured"}
    lines = [[j.what, j.target, verdicts[j.is_met], j.text] for j in targets.judge(rows)]
    return table(["what", "target", "verdict", "measured"], lines)


def columns(rows):
    text = collectives(rows, "columns")
    return f"{COLUMNS}\n\n{text}" if text else ""


def collectives(rows, section):
    mine = rows.where(section=section)
    names = mine.names()
    operations = {(row["op"], row["bytes"]) for row in mine if row.get("mean_us") is not None}
    parts = []
    for op, bytes_ in sorted(operations, key=lambda o: (o[0] != "barrier", o)):
        lines = []
        for hosts, per_host in mine.cells():
            at = mine.where(op=op, bytes=bytes_, hosts=hosts, per_host=per_host)
            lines.append([f"{hosts}×{per_host}", *(_latency(at, name) for name in names)])
        title = f"**{op}{f' {bytes_} B' if bytes_ else ''}**, {COLLECTIVES}"
        parts.append(f"{title}\n\n{table(['hosts × ranks', *names], lines)}")
    return "\n\n".join(parts)


def _latency(rows, name):
    mean, completion = (
        _cell(rows.series(stat, setting=name).values()) for stat in ("mean_us", "completion_us")
    )
    return f"{mean} ({completion})" if mean else "—"


def skew(rows):
    mine = rows.where(section="skew", op="reduce_skew")
    stats = ("mean_us", "process_mean_us", "root_us", "wall_us")
    lines = [
        [name, *(_cell(mine.series(stat, setting=name).values()) for stat in stats)] for name in mine.names()
    ]
    head = ["setting", "processor time per call and rank, µs", "whole process", "root", "µs a turn"]
    return _table(head, lines)


def late(rows):
    mine = rows.where(section="late")
    ops = ("late_reduce", "late_bcast")
    lines = [
        [name, *(_cell(mine.series("worst_case_ms", setting=name, op=op).values()) for op in ops)]
        for name in mine.names()
    ]
    return _table(["setting", "reduce: held, ms", "bcast: held, ms"], lines)


def stopped(rows):
    mine = rows.where(section="stopped", op="stopped")
    lines = []
    for name in mine.names():
        undisturbed, disturbed = (
            _cell(mine.series("others_s", setting=name, variant=variant).values())
            for variant in ("undisturbed", "stopped")
        )
        lost = _cell(loss_by_round(rows, name).values(), "{:.1f}%")
        all_s = _cell(mine.series("all_s", setting=name, variant="stopped").values())
        lines.append([name, undisturbed, disturbed, lost, all_s])
    head = ["setting", "undisturbed, s", "h1 stopped, s", "lost", "h1 stopped: until h1 is through, too, s"]
    return _with_text(STOPPED, head, lines)


def traffic(rows):
    mine = rows.where(section="traffic")
    lines = []
    for per_host in sorted({row["per_host"] for row in mine}):
        for name in mine.names():
            at = mine.where(setting=name, per_host=per_host)
            copies = (_cell(at.series("copies", op=op).values()) for op in ("reduce", "bcast"))
            lines.append([name, f"4×{per_host}", *copies])
    return _with_text(TRAFFIC, ["setting", "hosts × ranks", "reduce", "bcast"], lines)


def shares(rows):
    mine = rows.where(op="record")
    lines = []
    for name in mine.names():
        for section in sorted({row["section"] for row in mine.where(setting=name)}):
            here = [row for row in mine.where(setting=name, section=section) if row.get("calls")]
            calls, host = sum(row["calls"] for row in here), sum(row["host_calls"] for row in here)
            lines.append([name, section, str(calls), f"{100 * host / calls:.1f}%" if calls else "all"])
    return _table(["setting", "section", "calls", "left to the library"], lines)


def agents(rows):
    lines = []
    for row in rows.where(op="agents", round=1):
        messages, idle = row.get("messages"), row.get("idle_percent")
        lines.append(
            [
                row["setting"],
                row["section"],
                f"{row['hosts']}×{row['per_host']}",
                str(row["agents"]),
                f"{row['cpu_ms']:.1f}",
                f"{messages:,}" if messages else "",
                f"{row['handling_us'] / messages:.2f}" if messages else "",
                f"{idle:.2f}%" if idle is not None else "",
                f"{row['peak_mib']:.1f}",
            ]
        )
    head = ["setting", "section", "hosts × ranks", "agents", "processor time, ms", "messages", "µs each"]
    return _table([*head, "quietest second", "memory, MiB"], lines)


def floor(rows):
    mine = rows.where(section="floor")
    lines = []
    for op, stat, unit in (
        ("tcp_pingpong", "one_way_us", "µs one way, 8 B"),
        ("tcp_stream", "mb_s", "MB/s"),
        ("ucx_tag_lat", "one_way_us", "µs one way, 8 B"),
        ("ucx_tag_bw", "mb_s", "MB/s, 64 KiB"),
    ):
        values = list(mine.series(stat, op=op).values())
        if values:
            lines.append([op, _cell(values), unit])
    return _table(["between two hosts", "", ""], lines)


def multicast(rows):
    lines = [
        [f"{row['mbit']:g}", f"{row['tcp_s']:.4f}", f"{row['seconds']:.4f}", f"{row['share'] * 100:.1f}%"]
        for row in rows.where(section="multicast", op="multicast")
    ]
    head = ["links, Mbit/s", "TCP alone over one link, s", "12 MB to 8 hosts, s", "share"]
    return _table(head, lines)


def missing(rows, left_out):
    reasons = {}
    for row in rows:
        if row.get("reason"):
            key = (row["setting"], row["section"], f"{row['hosts']}×{row['per_host']}", row["reason"])
            reasons[key] = reasons.get(key, 0) + 1
    lines = [[*key, str(count)] for key, count in sorted(reasons.items())]
    lines += [[name, "", "", why, ""] for name, why in sorted(left_out.items())]
    return _table(["setting", "section", "hosts × ranks", "why", "times"], lines)
