"""The results as Markdown. Pure."""

from evenkeel_bench.markdown import table
from evenkeel_bench.statistics import spread

from . import targets

METHOD = """All hosts are namespaces of one machine and share its cores and clock; what crosses between them goes through veth pairs and a bridge. Rounds are outermost;
within a round every setting runs once, in an order that a seeded generator shuffles; ratios are taken within a round. Nobody is bound, and everybody yields.
Timed calls follow a barrier through shared memory, the same for all libraries; the barrier itself is called back to back."""


def write(rows, head, versions, left_out, pictures):
    """The whole of results.md."""
    parts = [
        "# evenkeel beside the MPI libraries, on several hosts",
        "\n".join(f"* {line}" for line in [*head, *versions]),
        "## Targets",
        target_table(rows),
        METHOD,
    ]
    parts += [f"![{title}]({name})" for name, title in pictures]
    for title, text in (
        ("Collectives", collectives(rows)),
        ("Processor time under skew, 8 hosts", skew(rows)),
        ("A late rank, 8 hosts", late(rows)),
        ("A stopped host", stopped(rows)),
        ("Bytes on the network", traffic(rows)),
        ("Whose the calls were", shares(rows)),
        ("Agents", agents(rows)),
        ("Without MPI", floor(rows)),
        ("12 MB to 8 hosts", multicast(rows)),
        ("Not measured, or cut off", missing(rows, left_out)),
    ):
        if text:
            parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


def target_table(rows):
    said = {True: "met", False: "**missed**", None: "not measured"}
    return table(
        ["what", "target", "verdict", "measured"],
        [[j.what, j.target, said[j.met], j.text] for j in targets.judged(rows)],
    )


def cell(values, form="{:.3g}"):
    s = spread(values)
    return form.format(s.median) if s else ""


def collectives(rows):
    mine = rows.where(section="collectives")
    names = mine.names()
    parts = []
    for op, bytes_ in sorted(
        {(row["op"], row["bytes"]) for row in mine if row.get("mean_us") is not None},
        key=lambda o: (o[0] != "barrier", o),
    ):
        lines = []
        for hosts, per_host in sorted({(row["hosts"], row["per_host"]) for row in mine}):
            at = mine.where(op=op, bytes=bytes_, hosts=hosts, per_host=per_host)
            cells = []
            for name in names:
                mean, completion = (
                    cell(at.series(stat, setting=name).values()) for stat in ("mean_us", "completion_us")
                )
                cells.append(f"{mean} ({completion})" if mean else "—")
            lines.append([f"{hosts}×{per_host}", *cells])
        parts.append(
            f"**{op}{f' {bytes_} B' if bytes_ else ''}**, µs: mean over ranks and calls (completion: median of the slowest rank)\n\n"
            + table(["hosts × ranks", *names], lines)
        )
    return "\n\n".join(parts)


def skew(rows):
    mine = rows.where(section="skew", op="reduce_skew")
    return mine and table(
        ["setting", "processor time per call and rank, µs", "whole process", "root", "µs a turn"],
        [
            [
                name,
                *(
                    cell(mine.series(stat, setting=name).values())
                    for stat in ("mean_us", "process_mean_us", "root_us", "wall_us")
                ),
            ]
            for name in mine.names()
        ],
    )


def late(rows):
    mine = rows.where(section="late")
    return mine and table(
        ["setting", "reduce: held, ms", "bcast: held, ms"],
        [
            [
                name,
                *(
                    cell(mine.series("worst_case_ms", setting=name, op=op).values())
                    for op in ("late_reduce", "late_bcast")
                ),
            ]
            for name in mine.names()
        ],
    )


def stopped(rows):
    mine = rows.where(section="stopped", op="stopped")
    lines = []
    for name in mine.names():
        undisturbed, disturbed = (
            cell(mine.series("others_s", setting=name, variant=variant).values())
            for variant in ("undisturbed", "stopped")
        )
        through = cell(mine.series("all_s", setting=name, variant="stopped").values())
        lines.append(
            [name, undisturbed, disturbed, cell(targets._loss(rows, name).values(), "{:.1f}%"), through]
        )
    return (
        lines
        and "Eight hosts with one rank each compute 1 ms and meet in a barrier; h1's rank is stopped for 100 ms of every second. Seconds until the others leave their last barrier.\n\n"
        + table(
            ["setting", "undisturbed, s", "h1 stopped, s", "lost", "h1 stopped: until h1 is through, too, s"],
            lines,
        )
    )


def traffic(rows):
    mine = rows.where(section="traffic")
    lines = [
        [
            name,
            f"4×{per_host}",
            *(
                cell(mine.series("copies", setting=name, per_host=per_host, op=op).values())
                for op in ("reduce", "bcast")
            ),
        ]
        for per_host in sorted({row["per_host"] for row in mine})
        for name in mine.names()
    ]
    return (
        lines
        and "Bytes that all hosts' devices received, to one copy of 64 KiB for each host but the root's.\n\n"
        + table(["setting", "hosts × ranks", "reduce", "bcast"], lines)
    )


def shares(rows):
    mine = rows.where(op="record")
    lines = []
    for name in mine.names():
        for section in sorted({row["section"] for row in mine.where(setting=name)}):
            here = [row for row in mine.where(setting=name, section=section) if row.get("calls")]
            calls, host = sum(row["calls"] for row in here), sum(row["host_calls"] for row in here)
            lines.append([name, section, str(calls), f"{100 * host / calls:.1f}%" if calls else "all"])
    return lines and table(["setting", "section", "calls", "left to the library"], lines)


def agents(rows):
    mine = rows.where(op="agents")
    return mine and table(
        [
            "setting",
            "section",
            "hosts × ranks",
            "agents",
            "processor time, ms",
            "messages",
            "µs each",
            "quietest second",
            "memory, MiB",
        ],
        [
            [
                row["setting"],
                row["section"],
                f"{row['hosts']}×{row['per_host']}",
                str(row["agents"]),
                f"{row['cpu_ms']:.1f}",
                f"{row['messages']:,}" if row.get("messages") else "",
                f"{row['handling_us'] / row['messages']:.2f}" if row.get("messages") else "",
                f"{row['idle_percent']:.2f}%" if row.get("idle_percent") is not None else "",
                f"{row['peak_mib']:.1f}",
            ]
            for row in mine
            if row["round"] == 1
        ],
    )


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
            lines.append([op, cell(values), unit])
    return lines and table(["between two hosts", "", ""], lines)


def multicast(rows):
    mine = rows.where(section="multicast", op="multicast")
    return mine and table(
        ["links, Mbit/s", "TCP alone over one link, s", "12 MB to 8 hosts, s", "share"],
        [
            [f"{row['mbit']:g}", f"{row['tcp_s']:.4f}", f"{row['seconds']:.4f}", f"{row['share'] * 100:.1f}%"]
            for row in mine
        ],
    )


def missing(rows, left_out):
    reasons = {}
    for row in rows:
        if row.get("reason"):
            key = (row["setting"], row["section"], f"{row['hosts']}×{row['per_host']}", row["reason"])
            reasons[key] = reasons.get(key, 0) + 1
    lines = [[*key, str(count)] for key, count in sorted(reasons.items())] + [
        [name, "", "", why, ""] for name, why in sorted(left_out.items())
    ]
    return lines and table(["setting", "section", "hosts × ranks", "why", "times"], lines)
