#!/usr/bin/env python3
"""The primitives, and the schedules that agents use, among 64 to 16,384 nodes in virtual time, beside the thesis's figures: makes docs/src/primitives-results.md.

cargo build --release -p evenkeel-primitives --example at_scale
build/venv-tools/bin/python bench/simulation/primitives.py      (a minute on one core)
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NODES = [64, 256, 1024, 4096, 16384]
# Frachtenberg 2003, chapter 2 and section 4.3: a message of up to 64 bytes among 64 nodes, main
# memory to main memory; what a switch and a metre of cable add.
ONE_WAY_NS, AT_NODES = 2400, 64
SWITCH_NS, METRE_NS = 35, 3.94
OVERHEAD_NS = 300  # ours: the thesis does not divide the 2.4 µs
PS_PER_BYTE = 5000  # 200 MB/s
BYTES = 12 << 20
PIECE = 64 << 10
FANOUTS = [2, 4, 8, 16]
PIECES = 48
# What is simulated whole has its bytes in each node's memory: among more nodes less is sent, and the
# rest taken from the largest that is whole (see `transfer_us`).
WHOLE_UP_TO = 256
SENT = {1024: 1 << 20, 4096: 512 << 10, 16384: 256 << 10}


def stages(nodes):
    """Switches between two nodes of a quaternary fat tree."""
    return 2 * math.log(nodes, 4) - 1


def metres(nodes):
    """The longest cable of a square floor with 2 square metres a node."""
    return math.sqrt(2 * nodes)


def latency_ns(nodes):
    """One way between the processors' overheads."""
    further = SWITCH_NS * (stages(nodes) - stages(AT_NODES)) + METRE_NS * (metres(nodes) - metres(AT_NODES))
    return round(ONE_WAY_NS - 2 * OVERHEAD_NS + further)


def round_trip_ns(nodes):
    """Of a packet that hardware multicasts, until the combined acknowledgement (equation 4.3 with one factor for switches, see the digest's correction)."""
    return 580 + 2 * metres(nodes) * METRE_NS + stages(nodes) * 73


def hardware_barrier_us(nodes):
    """A test and its end-of-packet token, one and a half round trips, and a part that is as long everywhere, so that 1,024 nodes take the 10 µs that were measured."""
    return 10 + 1.5 * (round_trip_ns(nodes) - round_trip_ns(1024)) / 1e3


def hardware_mb_s(nodes):
    """One packet of 320 bytes in flight; from main memory 175 MB/s at most, as measured."""
    return min(175, 320e3 / max(953, round_trip_ns(nodes)))


class Simulations:
    def __init__(self, options):
        self.example, self.evenkeel = options.example, options.evenkeel

    def primitive(self, what, nodes, fanout=4, size=0):
        words = [
            self.example,
            what,
            nodes,
            fanout,
            latency_ns(nodes),
            OVERHEAD_NS,
            PS_PER_BYTE,
            *([size] if size else []),
        ]
        return json.loads(
            subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
        )

    def schedule(self, name, nodes, *more):
        machine = f"L={latency_ns(nodes)}ns,o={OVERHEAD_NS}ns,g={OVERHEAD_NS}ns,G={PS_PER_BYTE / 1000}ns"
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "record.json"
            line = [
                self.evenkeel,
                "simulate",
                name,
                "-n",
                nodes,
                "--machine",
                machine,
                "--work-per-byte",
                0,
                *more,
                "--json",
                record,
            ]
            subprocess.run([str(word) for word in line], check=True, capture_output=True)
            return json.loads(record.read_text())["runs"][0]


def transfer_us(simulations, nodes):
    """`BYTES` to all nodes. In trees of two below each, what more bytes take hardly depends on the number of nodes: once the first have come, each inner node sends
    its half twice. (1,024 nodes, 4 MiB: 2% more than simulated if taken from 1 MiB, 1% more from 256 KiB.)"""

    def some(nodes, size):
        return simulations.primitive("transfer", nodes, size=size)["us"]

    if nodes <= WHOLE_UP_TO:
        return some(nodes, BYTES)
    return some(nodes, SENT[nodes]) + some(WHOLE_UP_TO, BYTES) - some(WHOLE_UP_TO, SENT[nodes])


def row(simulations, nodes):
    print(f"{nodes} nodes", flush=True)
    way = {
        n: simulations.schedule(f"n-way-dissemination:n={n}", nodes, "--iterations", 1)["completion"][
            "mean_ns"
        ]
        / 1e3
        for n in range(1, 16)
    }
    best = min(way, key=lambda n: (way[n], n))
    compare = simulations.primitive("compare", nodes)["us"]
    write = {fanout: simulations.primitive("write", nodes, fanout)["us"] for fanout in FANOUTS}
    pieces = simulations.schedule(
        "bcast-binomial",
        nodes,
        "--element-bytes",
        PIECE,
        "--iterations",
        PIECES,
        "--leave",
        "bypass",
        "--window",
        8,
    )
    return {
        "nodes": nodes,
        "dissemination_us": way[1],
        "n_way_us": way[best],
        "n": best,
        "compare_us": compare,
        "write_us": write,
        "transfer_us": transfer_us(simulations, nodes),
        "pieces_us": pieces["end_ns"] / 1e3 / PIECES,
        "hardware_us": hardware_barrier_us(nodes),
        "hardware_mb_s": hardware_mb_s(nodes),
        "latency_ns": latency_ns(nodes),
    }


def table(head, rows):
    return "\n".join(
        [
            "| " + " | ".join(head) + " |",
            "|---|" + "--:|" * (len(head) - 1),
            *("| " + " | ".join(row) + " |" for row in rows),
        ]
    )


def page(rows):
    barriers = table(
        [
            "nodes",
            "dissemination",
            "n-way, best n",
            "`compare_and_write`, asked",
            "written everywhere",
            "best fan-out",
            "hardware combines",
            "measured then",
        ],
        [
            [
                f"{r['nodes']:,}",
                f"{r['dissemination_us']:.1f}",
                f"{r['n_way_us']:.1f} (n = {r['n']})",
                f"{r['compare_us']:.1f}",
                f"{r['write_us'][4]:.1f}",
                "{1:.1f} ({0})".format(*min(r["write_us"].items(), key=lambda item: item[1])),
                f"{r['hardware_us']:.1f}",
                {1024: "10 hardware, 30 software"}.get(r["nodes"], ""),
            ]
            for r in rows
        ],
    )
    transfers = table(
        [
            "nodes",
            "`xfer_and_signal`",
            "pieces of 64 KiB by a binomial tree",
            "hardware multicasts",
            "measured then",
        ],
        [
            [
                f"{r['nodes']:,}",
                f"{BYTES / r['transfer_us']:.0f}",
                f"{PIECE / r['pieces_us']:.0f}",
                f"{r['hardware_mb_s']:.0f}",
                {64: "175 by itself, 131 in a launch", 1024: "140"}.get(r["nodes"], ""),
            ]
            for r in rows
        ],
    )
    at = {r["nodes"]: r for r in rows}
    mb_s = {nodes: BYTES / r["transfer_us"] for nodes, r in at.items()}
    verdict = f"""Among 1,024 nodes, with messages alone, a barrier takes {at[1024]["n_way_us"]:.0f} to {at[1024]["write_us"][4]:.0f} µs, where Elan's own software barrier took 30: {at[1024]["n_way_us"] / 10:.1f} to
{at[1024]["write_us"][4] / 10:.1f} times the 10 µs of hardware that combines answers in its switches, which among so many no schedule of messages reaches here. Such hardware grows by the length of cables, messages by their rounds. A
transfer moves {mb_s[64]:.0f} MB/s to each of 64 nodes, which are a chain, and {mb_s[1024]:.0f} to each of 1,024, where each half of the data goes down a tree of its own and who passes one half on is at the
end of the other's: {"more" if mb_s[1024] > 140 else "less"} than the 140 MB/s that were measured. Agents cut a broadcast into pieces, each of which goes down a binomial tree whose root sends it log₂ n times; that is made for short vectors."""
    return (
        "\n\n".join(
            [
                "# Simulated: primitives among 64 to 16,384 nodes",
                "This page is generated: `build/venv-tools/bin/python bench/simulation/primitives.py`, after `cargo build --release -p evenkeel-primitives --example at_scale`. It runs the "
                "[primitives'](primitives.md) protocol itself, node by node, and the schedules that [agents](decisions/agents.md) use, in virtual time on the network of Frachtenberg's thesis (2003): QsNet, "
                "whose switches multicast and combine. evenkeel has no network that does; it has messages.",
                "## Barriers, in µs",
                barriers,
                "*dissemination*, *n-way*: by `evenkeel simulate`, all nodes entering at once. *asked*: a comparison without a write, until its caller knows; *written everywhere*: with a write, until it is in the "
                "memory of every node, which is what a barrier needs; both with four below each node, and the latter with the best of "
                + ", ".join(map(str, FANOUTS))
                + ".",
                "## 12 MiB to all nodes, in MB/s for each",
                transfers,
                f"`xfer_and_signal`: until its sender knows that all nodes have all bytes. Whole up to {WHOLE_UP_TO} nodes; "
                "of more, "
                + ", ".join(f"{size >> 10} KiB ({nodes:,})" for nodes, size in SENT.items())
                + f", and for the rest what it takes among {WHOLE_UP_TO}: 1 to 2% too slow. "
                f"*pieces*: {PIECES} broadcasts one after the other, the root eight ahead.",
                verdict,
                "## What is assumed",
                f"""- One way takes 2.4 µs among 64 nodes (measured there, up to 64 bytes), of which {OVERHEAD_NS} ns are each processor's: this division is ours. On the longest way each further switch adds
  {SWITCH_NS} ns and each further metre {METRE_NS} ns, with 2·log₄ n − 1 switches and √(2n) metres: {", ".join(f"{r['latency_ns'] + 2 * OVERHEAD_NS:,} ns ({r['nodes']:,})" for r in rows)}.
- A link moves 200 MB/s in each direction at the same time, main memory to main memory (measured as a ping, one way at a time: the bus of those machines could not do both).
- A processor does nothing else, and what the protocol computes costs its overhead only; nothing is lost, and nothing is in the way between the links.
- *Hardware combines* is the thesis's packet model, 580 ns + 7.88 ns a metre + 73 ns a switch for a round trip, one and a half of them, and what is missing then to the 10 µs that were measured among 1,024 nodes; another
  machine of 768 nodes needed 6.5 µs. *Hardware multicasts*: 320 bytes a round trip, one packet in flight, and 175 MB/s at most, as measured from main memory.""",
            ]
        )
        + "\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--example", default=ROOT / "target/release/examples/at_scale", type=pathlib.Path)
    parser.add_argument("--most", default=max(NODES), type=int, help="the most nodes that are simulated")
    parser.add_argument("--out", default=ROOT / "docs/src/primitives-results.md", type=pathlib.Path)
    options = parser.parse_args()
    simulations = Simulations(options)
    rows = [row(simulations, nodes) for nodes in NODES if nodes <= options.most]
    options.out.write_text(page(rows))
    print(f"{options.out} written")


if __name__ == "__main__":
    main()
