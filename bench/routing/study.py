#!/usr/bin/env python3
"""evenkeel's tables against OpenSM's on the same networks, on one lane.

    build/venv-tools/bin/python bench/routing/study.py [--evenkeel PROGRAM] [--pages] [--only NAME]...

Makes random irregular networks, faulty fat trees, tori, a dragonfly and hierarchical networks, has `evenkeel route compare` compute and judge tables of evenkeel's
schemes and of OpenSM's engines (ibdmchk judges them too), and writes results.json beside this file and docs/src/routing-results.md. --pages only writes the page
anew. Takes opensm, ibsim-utils and ibutils of Debian.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
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
                yield (
                    f"random-{switches}-{degree}-{seed}",
                    f"irregular --switches {switches} --degree {degree} --end-nodes {hosts} --seed {seed}",
                )


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def measure(evenkeel, only):
    """One network after the other, as they are done."""
    schemes = [s for s in SCHEMES if s in only] if only else SCHEMES
    engines = [e for e in ENGINES if e in only] or ["none"] if only else ENGINES
    with tempfile.TemporaryDirectory(prefix="routing-") as place:
        place = pathlib.Path(place)
        all_networks = list(networks())
        for i, (name, made) in enumerate(all_networks):
            print(f"{i + 1} of {len(all_networks)}: {name}", file=sys.stderr)
            topology, record = place / f"{name}.topo", place / "record.json"
            run([evenkeel, "route", "generate", *made.split(), "-o", topology])
            run(
                [
                    evenkeel,
                    "route",
                    "compare",
                    topology,
                    *(word for s in schemes for word in ("--scheme", s)),
                    "--opensm",
                    ",".join(engines),
                    "--ibdmchk",
                    "--json",
                    record,
                ]
            )
            rows = json.loads(record.read_text())
            for row in rows:
                if row["figures"]:
                    # Words about a cycle are long, and made anew in a second.
                    row["figures"]["faults"] = len(row["figures"]["faults"])
            yield {"name": name, "made": made, "rows": rows}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evenkeel", default=ROOT / "target" / "release" / "evenkeel")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        help="measure this scheme of evenkeel's, or engine of OpenSM's, anew, and keep what is known of the others; one of "
        "evenkeel's at least, may be given several times",
    )
    arguments = parser.parse_args()
    file = HERE / "results.json"
    if not arguments.pages:
        results = {"opensm": opensm_version(), "networks": []}
        known = {n["name"]: n for n in json.loads(file.read_text())["networks"]} if arguments.only else {}
        for network in measure(arguments.evenkeel, arguments.only):
            rows = {row["scheme"]: row for row in known.get(network["name"], {"rows": []})["rows"]} | {
                row["scheme"]: row for row in network["rows"]
            }
            results["networks"].append({**network, "rows": list(rows.values())})
            file.write_text(json.dumps(results, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
    (ROOT / "docs" / "src" / "routing-results.md").write_text(pages.results(json.loads(file.read_text())))


def opensm_version():
    said = subprocess.run(["opensm", "--version"], capture_output=True, text=True).stdout
    return next((line.strip() for line in said.splitlines() if line.startswith("OpenSM")), "unknown")


if __name__ == "__main__":
    main()
