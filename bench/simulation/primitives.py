#!/usr/bin/env python3
"""Simulates the primitives, and the schedules that agents use, among 64 to 16,384 nodes.

cargo build --release -p evenkeel-primitives --example at_scale
build/venv-tools/bin/python bench/simulation/primitives.py      (a minute on one core)

Writes docs/src/primitives-results.md, in which they stand beside the figures of Frachtenberg's thesis (2003).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import primitives_page
from primitives_network import OVERHEAD_NS, PS_PER_BYTE, hardware_barrier_us, hardware_mb_s, latency_ns

from evenkeel_bench.checkout import BOOK, RELEASE

NODES = [64, 256, 1024, 4096, 16384]
BYTES = 12 << 20
PIECE = 64 << 10
PIECES = 48
FANOUTS = [2, 4, 8, 16]
# A transfer that is simulated whole has its bytes in each node's memory. Among more nodes fewer bytes are
# sent; `transfer_us` takes the rest from the largest number of nodes that is whole.
WHOLE_UP_TO = 256
SENT = {1024: 1 << 20, 4096: 512 << 10, 16384: 256 << 10}


class Simulations:
    """Runs `evenkeel simulate`, and the example at_scale, which simulates the protocol node by node."""

    def __init__(self, options):
        self.example, self.evenkeel = options.example, options.evenkeel

    def primitive(self, what, nodes, fanout=4, size=0):
        network = [latency_ns(nodes), OVERHEAD_NS, PS_PER_BYTE]
        words = [self.example, what, nodes, fanout, *network, *([size] if size else [])]
        line = [str(word) for word in words]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)

    def schedule(self, name, nodes, *more):
        latency, per_byte = latency_ns(nodes), PS_PER_BYTE / 1000
        machine = f"L={latency}ns,o={OVERHEAD_NS}ns,g={OVERHEAD_NS}ns,G={per_byte}ns"
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            words = [self.evenkeel, "simulate", name, "-n", nodes, "--machine", machine]
            words += ["--work-per-byte", 0, *more, "--json", record]
            subprocess.run([str(word) for word in words], check=True, capture_output=True)
            return json.loads(record.read_text())["runs"][0]


def transfer_us(simulations, nodes):
    """`BYTES` to all nodes.

    In trees with two children below each node, the time that more bytes take hardly depends on the number of
    nodes: once the first bytes have come, each inner node sends its half twice. (Among 1,024 nodes, 4 MiB
    take 2% longer if extrapolated from 1 MiB, and 1% longer from 256 KiB, than simulated.)
    """

    def simulate(nodes, size):
        return simulations.primitive("transfer", nodes, size=size)["us"]

    if nodes <= WHOLE_UP_TO:
        return simulate(nodes, BYTES)
    sent = SENT[nodes]
    return simulate(nodes, sent) + simulate(WHOLE_UP_TO, BYTES) - simulate(WHOLE_UP_TO, sent)


def n_way_us(simulations, nodes, n):
    run = simulations.schedule(f"n-way-dissemination:n={n}", nodes, "--iterations", 1)
    return run["completion"]["mean_ns"] / 1e3


def pieces_us(simulations, nodes):
    """One of several broadcasts of a piece, one after the other, the root eight ahead."""
    more = ["--element-bytes", PIECE, "--iterations", PIECES, "--leave", "bypass", "--window", 8]
    return simulations.schedule("bcast-binomial", nodes, *more)["end_ns"] / 1e3 / PIECES


def row(simulations, nodes):
    print(f"{nodes} nodes", flush=True)
    by_n = {n: n_way_us(simulations, nodes, n) for n in range(1, 16)}
    best = min(by_n, key=lambda n: (by_n[n], n))
    return {
        "nodes": nodes,
        "dissemination_us": by_n[1],
        "n_way_us": by_n[best],
        "n": best,
        "compare_us": simulations.primitive("compare", nodes)["us"],
        "write_us": {f: simulations.primitive("write", nodes, f)["us"] for f in FANOUTS},
        "transfer_us": transfer_us(simulations, nodes),
        "pieces_us": pieces_us(simulations, nodes),
        "hardware_us": hardware_barrier_us(nodes),
        "hardware_mb_s": hardware_mb_s(nodes),
        "latency_ns": latency_ns(nodes),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default=RELEASE / "evenkeel", type=Path)
    parser.add_argument("--example", default=RELEASE / "examples/at_scale", type=Path)
    parser.add_argument("--most", default=max(NODES), type=int, help="the most nodes that are simulated")
    parser.add_argument("--out", default=BOOK / "primitives-results.md", type=Path)
    options = parser.parse_args()
    simulations = Simulations(options)
    rows = [row(simulations, nodes) for nodes in NODES if nodes <= options.most]
    sizes = primitives_page.Sizes(BYTES, PIECE, PIECES, FANOUTS, WHOLE_UP_TO, SENT)
    options.out.write_text(primitives_page.page(rows, sizes))
    print(f"{options.out} written")


if __name__ == "__main__":
    main()
