#!/usr/bin/env python3
"""What routing schemes are worth under traffic, by simulation: makes docs/src/switch-simulation-results.md.

    build/venv-tools/bin/python bench/switch-sim/study.py          (half an hour on two cores; takes Debian's opensm and ibsim-utils)
    build/venv-tools/bin/python bench/switch-sim/study.py --page   (the page alone, from the results that are there)

Each line that it runs stands in results.json, which is also where it goes on if it was interrupted. Table 1 and reconfigurations come from

    cargo run --release -p evenkeel-switch-sim --example table1 > bench/switch-sim/table1.jsonl
    cargo run --release -p evenkeel-switch-sim --example reconfigurations > bench/switch-sim/reconfigurations.jsonl
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/src/switch-simulation-results.md"

# 97.5% quantiles of Student's distribution, by degrees of freedom.
STUDENT = {19: 2.093, 29: 2.045, 99: 1.984}
# How many networks: chance among networks is larger than chance among seeds.
PAPERS_NETWORKS = 100
# Table 1 of the DFS paper, BFS and DFS: mean distance, restrictions per switch, share of longer
# paths, diameter, paths on the busiest channel.
TABLE1 = {
    9: ((1.583, 3.774, 0.05, 3, 12), (1.556, 3.552, 0.037, 3, 6)),
    16: ((2.208, 3.375, 0.09, 4, 37), (2.108, 3.125, 0.04, 4, 23)),
    32: ((3.102, 3.562, 0.21, 7, 173), (2.792, 2.821, 0.09, 6, 73)),
    64: ((4.013, 3.281, 0.26, 8, 593), (3.634, 2.687, 0.14, 7, 204)),
}
FIRST_NETWORKS = {16: 30, 24: 30, 32: 30, 64: 20}
PAPERS = [
    (9, "uniform", 1.17),
    (16, "uniform", None),
    (32, "uniform", 1.65),
    (64, "uniform", 2.0),
    (32, "bit-reversal", 2.0),
    (32, "transpose", 2.1),
    (32, "shuffle", 1.8),
    (32, "local", 1.15),
]
SCHEMES = ["mdst", "post", "bfs", "dfs", "genetic", "ascending"]


def generate(evenkeel, folder, switches, count):
    """Random irregular networks of the papers: eight ports, four of them for hosts."""
    files = []
    for seed in range(1, count + 1):
        file = folder / f"irregular-{switches}-{seed}.net"
        line = [
            "route",
            "generate",
            "irregular",
            "--switches",
            switches,
            "--degree",
            4,
            "--end-nodes",
            4,
            "--seed",
            seed,
            "--edges",
        ]
        file.write_text(
            subprocess.run([evenkeel, *map(str, line)], check=True, capture_output=True, text=True).stdout
        )
        files.append(file)
    return files


def condensed(record):
    """Of each case what the page needs."""
    return [
        {k: case[k] for k in ("network", "scheme", "processor_seconds", "throughput")}
        for case in record["cases"]
    ]


class Simulations:
    """Runs lines of `evenkeel route simulate` once each."""

    def __init__(self, evenkeel, file, threads):
        self.evenkeel, self.file, self.threads = evenkeel, file, threads
        self.known = json.loads(file.read_text()) if file.exists() else {}

    def run(self, switches, count, line):
        key = f"{count} networks of {switches} switches: {line}"
        if key not in self.known:
            print(key, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                networks = generate(self.evenkeel, folder, switches, count)
                record = folder / "record.json"
                subprocess.run(
                    [
                        self.evenkeel,
                        "route",
                        "simulate",
                        *networks,
                        *line.split(),
                        "--threads",
                        self.threads,
                        "--json",
                        record,
                    ],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                self.known[key] = condensed(json.loads(record.read_text()))
            # A line for each, so that changes can be seen.
            self.file.write_text(
                "{\n"
                + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in self.known.items())
                + "\n}\n"
            )
        return self.known[key]


def papers_line(pattern):
    return "--seeds 1" if pattern == "uniform" else f"--pattern {pattern} --seeds 1"


FIRST_LINE = " ".join(f"--scheme {s}" for s in SCHEMES) + " --opensm nue --paths table --seeds 1"


def by_network(cases, scheme):
    return {c["network"]: c["throughput"]["mean"] for c in cases if c["scheme"] == scheme}


def geometric(ratios):
    """Geometric mean and the ends of its 95% interval."""
    logs = [math.log(r) for r in ratios]
    n = len(logs)
    mean = sum(logs) / n
    spread = math.sqrt(sum((x - mean) ** 2 for x in logs) / (n - 1)) * STUDENT[n - 1] / math.sqrt(n)
    return math.exp(mean), math.exp(mean - spread), math.exp(mean + spread)


def shown(ratios):
    mean, low, high = geometric(ratios)
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table1(lines):
    """Means over networks beside the paper's one network."""
    groups = collections.defaultdict(list)
    for line in lines:
        groups[line["switches"], line["scheme"]].append(line)
    text = [
        "",
        "What the trees leave of the networks, means over a hundred of them, and the paper's table 1 of one network of each size, each as BFS / DFS. *restrictions*: forbidden turns per switch; *longer*: pairs without a minimal path; *busiest*: paths over the "
        "channel that has most, one random shortest legal path for each pair of switches. The most that any of the hundred has stands behind the mean.",
        "",
        "| switches | | distance | restrictions | longer | diameter | busiest |",
        "|---|---|---|---|---|---|---|",
    ]
    for switches, paper in TABLE1.items():
        both = [groups[switches, scheme] for scheme in ("bfs", "dfs")]
        mean = lambda key, form: " / ".join(
            form.format(sum(r[key] for r in rows) / len(rows)) for rows in both
        )
        most = " / ".join(str(max(r["load"] for r in rows)) for rows in both)
        text.append(
            f"| {switches} | found | {mean('distance', '{:.3f}')} | {mean('restrictions', '{:.3f}')} | {mean('longer', '{:.1%}')} | {mean('diameter', '{:.1f}')} | {mean('load', '{:.0f}')} (most: {most}) |"
        )
        text.append(
            f"| | paper | {paper[0][0]:.3f} / {paper[1][0]:.3f} | {paper[0][1]:.3f} / {paper[1][1]:.3f} | {paper[0][2]:.1%} / {paper[1][2]:.1%} | {paper[0][3]} / {paper[1][3]} | {paper[0][4]} / {paper[1][4]} |"
        )
    return text


def page(simulations, trees, reconfigurations):
    text = [
        "# Simulated: what routing schemes are worth under traffic",
        "",
        "This page is generated: `build/venv-tools/bin/python bench/switch-sim/study.py`; every line that it ran, and what came out, is in `bench/switch-sim/`. What it means, and what it "
        "assumes, is said in [Simulation of fabrics](switch-simulation.md).",
        "",
        "Throughput is the most that was accepted at any load. Ratios are geometric means over random irregular networks (eight ports a switch, four of them for hosts), with 95% intervals over "
        "the networks. Wormhole switching, one lane, switches as in Myrinet, messages of 32 phits.",
        "",
        "## Depth-first over breadth-first trees",
        "",
        "Source routes, one random shortest legal path for each pair, as in the paper (Sancho, Robles, Duato, CANPC 2000), which shows one typical network of ten for each size.",
        "",
        "| switches | traffic | networks | DFS over BFS | least, most | paper |",
        "|---|---|---|---|---|---|",
    ]
    for switches, pattern, paper in PAPERS:
        cases = simulations.run(switches, PAPERS_NETWORKS, papers_line(pattern))
        bfs, dfs = by_network(cases, "bfs"), by_network(cases, "dfs")
        ratios = [dfs[n] / bfs[n] for n in bfs]
        text.append(
            f"| {switches} | {pattern} | {len(ratios)} | {shown(ratios)} | {min(ratios):.2f}, {max(ratios):.2f} | {paper or '-'} |"
        )
    text += table1(trees)
    text += [
        "",
        "## All schemes on the same networks",
        "",
        "Forwarding tables (destination alone decides), balanced by `evenkeel route`, but Nue's, which are OpenSM's. Throughput over that of *mdst*, and what computing took in seconds of processor "
        "time (mean; for Nue, a sweep of OpenSM on a simulated subnet). "
        + ", ".join(str(c) for c in FIRST_NETWORKS.values())
        + " networks of "
        + ", ".join(map(str, FIRST_NETWORKS))
        + " switches.",
        "",
        "| scheme | " + " | ".join(f"{n} switches | seconds" for n in FIRST_NETWORKS) + " |",
        "|---" * (1 + 2 * len(FIRST_NETWORKS)) + "|",
    ]
    first = {n: simulations.run(n, count, FIRST_LINE) for n, count in FIRST_NETWORKS.items()}
    for scheme in [*SCHEMES, "opensm nue"]:
        row = [scheme]
        for n in FIRST_NETWORKS:
            base, own = by_network(first[n], "mdst"), by_network(first[n], scheme)
            seconds = [c["processor_seconds"] for c in first[n] if c["scheme"] == scheme]
            row += [
                "1" if scheme == "mdst" else shown([own[k] / base[k] for k in base]),
                f"{sum(seconds) / len(seconds):.3f}",
            ]
        text.append("| " + " | ".join(row) + " |")
    text += [
        "",
        "The genetic search, whose fitness is the load and not a simulation, against the better of MDST and POST:",
        "",
        "| switches | genetic over the better | paper |",
        "|---|---|---|",
    ]
    for n, paper in [(16, "1.13"), (24, "1.20"), (32, "1.45"), (64, "-")]:
        mdst, post, genetic = (by_network(first[n], s) for s in ("mdst", "post", "genetic"))
        text.append(f"| {n} | {shown([genetic[k] / max(mdst[k], post[k]) for k in mdst])} | {paper} |")
    text += [
        "",
        "## A switch goes and comes back",
        "",
        "The root, switch 0, under uniform traffic of 16-phit packets, minimal adaptive routing. Means over networks. *cycles* until all tables are up to date; *stopped*: cycles in which a host "
        "might not inject, over all hosts; *discarded* by the protocol; control *phits*.",
        "",
        "| | switches | networks | protocol | cycles | stopped | discarded | phits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = collections.defaultdict(list)
    for r in reconfigurations:
        groups[next(iter(r["change"])), r["switches"], r["method"]].append(r["outcome"])
    for kind in ("switch-goes", "switch-comes"):
        for switches in sorted({g[1] for g in groups}):
            for method in ("static", "overlapped", "planned"):
                all_of = groups[kind, switches, method]
                mean = lambda key: sum(o[key] for o in all_of) / len(all_of)
                text.append(
                    f"| {kind.replace('switch-', '')} | {switches} | {len(all_of)} | {method} | {mean('cycles'):,.0f} | {mean('stopped'):,.0f} | {mean('discarded'):.1f} | {mean('phits'):,.0f} |"
                )
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=ROOT / "target/release/evenkeel", type=pathlib.Path)
    parser.add_argument("--threads", default="2", help="how many simulations at a time")
    parser.add_argument("--page", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    simulations = Simulations(arguments.evenkeel, HERE / "results.json", arguments.threads)
    if arguments.page:
        simulations.evenkeel = "false"
    PAGE.write_text(
        page(simulations, lines_of(HERE / "table1.jsonl"), lines_of(HERE / "reconfigurations.jsonl"))
    )


if __name__ == "__main__":
    main()
