#!/usr/bin/env python3
"""Simulates what routing schemes are worth under traffic.

    build/venv-tools/bin/python bench/switch-sim/study.py          (half an hour on two cores)
    build/venv-tools/bin/python bench/switch-sim/study.py --page   (only the page, from kept results)

Writes docs/src/switch-simulation-results.md. Every simulation is kept in results.json, by its command line;
an interrupted study goes on from there. Needs Debian's opensm and ibsim-utils. Table 1 and reconfigurations
come from

    cargo run --release -p evenkeel-switch-sim --example table1 > bench/switch-sim/table1.jsonl cargo run
    --release -p evenkeel-switch-sim --example reconfigurations > bench/switch-sim/reconfigurations.jsonl
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pages

from evenkeel_bench.checkout import BOOK, EVENKEEL
from evenkeel_bench.kept_results import KeptResults

HERE = Path(__file__).resolve().parent
PAGE = BOOK / "switch-simulation-results.md"
# Many networks with one seed each: networks differ more than seeds.
PAPERS_NETWORKS = 100
ALL_SCHEMES_NETWORKS = {16: 30, 24: 30, 32: 30, 64: 20}
ALL_SCHEMES = " ".join(f"--scheme {s}" for s in pages.SCHEMES) + " --opensm nue --paths table --seeds 1"


def generate(evenkeel, folder, switches, count):
    """Random irregular networks of the papers: eight ports, four of them for hosts."""
    files = []
    for seed in range(1, count + 1):
        file = folder / f"irregular-{switches}-{seed}.net"
        size = ["--switches", switches, "--degree", 4, "--end-nodes", 4, "--seed", seed, "--edges"]
        line = [evenkeel, *map(str, ["route", "generate", "irregular", *size])]
        file.write_text(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
        files.append(file)
    return files


class Simulations:
    """Runs lines of `evenkeel route simulate`, once each."""

    def __init__(self, evenkeel, file, threads):
        self.evenkeel, self.kept, self.threads = evenkeel, KeptResults(file), threads

    def run(self, switches, count, line):
        key = f"{count} networks of {switches} switches: {line}"
        return self.kept.get(key, lambda: self.simulate(switches, count, line))

    def simulate(self, switches, count, line):
        """What the page needs of each network and scheme."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            networks = generate(self.evenkeel, folder, switches, count)
            record = folder / "record.json"
            more = [*line.split(), "--threads", self.threads, "--json", record]
            command = [self.evenkeel, "route", "simulate", *networks, *more]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            keys = ("network", "scheme", "processor_seconds", "throughput")
            return [{k: result[k] for k in keys} for result in json.loads(record.read_text())["cases"]]


def papers_line(pattern):
    return "--seeds 1" if pattern == "uniform" else f"--pattern {pattern} --seeds 1"


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=EVENKEEL, type=Path)
    parser.add_argument("--threads", default="2", help="how many simulations at a time")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    arguments = parser.parse_args()
    evenkeel = "false" if arguments.page else arguments.evenkeel
    simulations = Simulations(evenkeel, HERE / "results.json", arguments.threads)
    of_papers = {
        (switches, pattern): simulations.run(switches, PAPERS_NETWORKS, papers_line(pattern))
        for switches, pattern, _ in pages.PAPERS
    }
    of_all_schemes = {
        switches: simulations.run(switches, count, ALL_SCHEMES)
        for switches, count in ALL_SCHEMES_NETWORKS.items()
    }
    trees, reconfigurations = lines_of(HERE / "table1.jsonl"), lines_of(HERE / "reconfigurations.jsonl")
    PAGE.write_text(pages.results(of_papers, trees, of_all_schemes, reconfigurations))


if __name__ == "__main__":
    main()
