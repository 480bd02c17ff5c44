#!/usr/bin/env python3
"""Compares evenkeel's forwarding tables with OpenSM's on the same networks, on one lane.

    build/venv-tools/bin/python bench/routing/study.py [--evenkeel PROGRAM] [--pages] [--only NAME]...

Makes random irregular networks, faulty fat trees, tori, a dragonfly and hierarchical networks. On each of
them `evenkeel route compare` computes and checks tables of evenkeel's schemes and of OpenSM's engines;
ibdmchk checks them too. Writes results.json beside this file, and docs/src/routing-results.md; with --pages
only the latter. Needs Debian's opensm, ibsim-utils and ibutils.
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

HERE = Path(__file__).resolve().parent
SCHEMES = ["ascending", "bfs", "dfs", "minimal"]
ENGINES = ["nue", "updn", "minhop", "sssp"]


def networks():
    """Names, and the arguments of `evenkeel route generate` that make them."""
    yield "fat-tree-36", "fat-tree --children 12,24 --parents 1,12 --cut 6"
    yield "fat-tree-24", "fat-tree --children 8,16 --parents 1,8 --cut 10"
    yield "fat-tree-180", "fat-tree --children 6,6,12 --parents 1,6,6 --cut 10 --dead 3"
    yield "torus-4x4x4", "torus --sizes 4,4,4 --end-nodes 2 --cut 4"
    yield "torus-8x6x4", "torus --sizes 8,6,4 --end-nodes 2 --cut 8"
    yield "torus-8x8", "torus --sizes 8,8 --end-nodes 4 --cut 2"
    yield "dragonfly-36", "dragonfly --groups 9 --switches 4 --global 2 --end-nodes 2"
    yield "hierarchical-64", "hierarchical --groups 8 --switches 8 --degree 4 --uplinks 4 --end-nodes 2"
    for switches, degrees, seeds, hosts in [
        (64, (3, 4, 6, 8), 5, 4),
        (128, (3, 4, 5, 6, 8), 3, 2),
        (256, (3, 4, 5, 6, 8), 2, 2),
    ]:
        for degree in degrees:
            for seed in range(1, seeds + 1):
                size = f"--switches {switches} --degree {degree} --end-nodes {hosts}"
                yield f"random-{switches}-{degree}-{seed}", f"irregular {size} --seed {seed}"


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def compare(evenkeel, folder, name, description, schemes, engines):
    """Rows of one network."""
    topology, record = folder / f"{name}.topo", folder / "record.json"
    run([evenkeel, "route", "generate", *description.split(), "-o", topology])
    ours = [word for scheme in schemes for word in ("--scheme", scheme)]
    opensm = ["--opensm", ",".join(engines), "--ibdmchk"]
    run([evenkeel, "route", "compare", topology, *ours, *opensm, "--json", record])
    rows = json.loads(record.read_text())
    for row in rows:
        if row["figures"]:
            # The description of a cycle is long; a second's computation makes it again.
            row["figures"]["faults"] = len(row["figures"]["faults"])
    return rows


def measure(evenkeel, only):
    """Yields one network after the other."""
    schemes = [s for s in SCHEMES if s in only] if only else SCHEMES
    engines = ([e for e in ENGINES if e in only] or ["none"]) if only else ENGINES
    with tempfile.TemporaryDirectory(prefix="routing-") as folder:
        all_networks = list(networks())
        for i, (name, description) in enumerate(all_networks):
            print(f"{i + 1} of {len(all_networks)}: {name}", file=sys.stderr)
            rows = compare(evenkeel, Path(folder), name, description, schemes, engines)
            yield {"name": name, "made": description, "rows": rows}


def opensm_version():
    done = subprocess.run(["opensm", "--version"], capture_output=True, text=True, check=False)
    lines = (line.strip() for line in done.stdout.splitlines() if line.startswith("OpenSM"))
    return next(lines, "unknown")


def measure_all(evenkeel, only, file):
    """Writes results.json after each network; with `only`, rows that are not measured stay as they are."""
    results = {"opensm": opensm_version(), "networks": []}
    known = {n["name"]: n for n in json.loads(file.read_text())["networks"]} if only else {}
    for network in measure(evenkeel, only):
        kept = known.get(network["name"], {"rows": []})["rows"]
        rows = {row["scheme"]: row for row in [*kept, *network["rows"]]}
        results["networks"].append({**network, "rows": list(rows.values())})
        text = json.dumps(results, separators=(",", ":"))
        file.write_text(text.replace('{"name"', '\n{"name"') + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=EVENKEEL)
    parser.add_argument("--pages", action="store_true", help="measure nothing, write the page")
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        help="measure only this scheme of evenkeel's, or engine of OpenSM's, and keep the other rows; "
        "may be repeated, and must name at least one scheme of evenkeel's",
    )
    arguments = parser.parse_args()
    file = HERE / "results.json"
    if not arguments.pages:
        measure_all(arguments.evenkeel, arguments.only, file)
    page = pages.results(json.loads(file.read_text()))
    (BOOK / "routing-results.md").write_text(page)


if __name__ == "__main__":
    main()
