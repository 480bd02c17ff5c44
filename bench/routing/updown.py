#!/usr/bin/env python3
"""Checks whether OpenSM's up*/down* tables are free of deadlock, with Debian's tools alone.

    python3 bench/routing/updown.py [--seeds 15] [--json FILE]

Makes random networks (64 switches, 2 hosts at each, on average 3, 4 and 6 links to other switches). OpenSM
routes each with up*/down* and with Nue, on one virtual lane; ibdmchk looks for credit loops. The root of
up*/down* is the most central switch; OpenSM's own choice without a root file is checked, too. Needs opensm,
ibsim-utils and ibutils, and nothing of evenkeel.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path

SWITCHES, HOSTS = 64, 2
LIMIT_S = 60  # for one run of one tool
SILENT = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)


def network(degree, seed):
    """Links between switches: a random tree, then random pairs until the mean degree is `degree`."""
    rng = random.Random(1000 * degree + seed)
    links = {tuple(sorted((s, rng.randrange(s)))) for s in range(1, SWITCHES)}
    while len(links) < SWITCHES * degree // 2:
        links.add(tuple(sorted(rng.sample(range(SWITCHES), 2))))
    return sorted(links)


def most_central(links):
    """The switch with the least sum of distances to all others."""
    neighbours = collections.defaultdict(set)
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)

    def sum_of_distances(start):
        distance, queue = {start: 0}, [start]
        for at in queue:
            for n in neighbours[at] - distance.keys():
                distance[n] = distance[at] + 1
                queue.append(n)
        return sum(distance.values())

    return min(range(SWITCHES), key=sum_of_distances)


def topology(links):
    """The network as ibnetdiscover prints it and ibsim reads it."""
    ports = collections.defaultdict(list)
    for s in range(SWITCHES):
        ports[s] = [f'"H-{host_guid(s, h):016x}"[1]' for h in range(HOSTS)]
    for a, b in links:
        pa, pb = len(ports[a]) + 1, len(ports[b]) + 1
        ports[a].append(f'"S-{switch_guid(b):016x}"[{pb}]')
        ports[b].append(f'"S-{switch_guid(a):016x}"[{pa}]')
    text = []
    for s in range(SWITCHES):
        for h in range(HOSTS):
            guid = host_guid(s, h)
            text += [
                f"caguid=0x{guid:x}",
                f'Ca\t1 "H-{guid:016x}"\t\t# "host{s}-{h}"',
                f'[1]\t"S-{switch_guid(s):016x}"[{h + 1}]',
                "",
            ]
    for s in range(SWITCHES):
        text += [
            f"switchguid=0x{switch_guid(s):x}",
            f'Switch\t{len(ports[s])} "S-{switch_guid(s):016x}"\t\t# "switch{s}" base port 0 lid 0 lmc 0',
        ]
        text += [*(f"[{i}]\t{end}" for i, end in enumerate(ports[s], 1)), ""]
    return "\n".join(text)


def switch_guid(s):
    return 0x200000 + s


def host_guid(s, h):
    return 0x100000 + 4 * (HOSTS * s + h)


def wait_for_simulator(socket):
    deadline = time.monotonic() + LIMIT_S
    while f"@{socket}:ctl" not in Path("/proc/net/unix").read_text() and time.monotonic() < deadline:
        time.sleep(0.02)


def run_opensm(folder, engine, roots, socket):
    """Has OpenSM route the simulated network once."""
    command = ["opensm", "-o", "-R", engine, "-D", "0x43", "-f", folder / "log"]
    if roots is not None:
        (folder / "roots").write_text("".join(f"0x{switch_guid(r):016x}\n" for r in roots))
        command += ["-a", folder / "roots"]
    umad = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
    env = {
        **os.environ,
        "SIM_HOST": f"H-{host_guid(0, 0):016x}",
        "IBSIM_SOCKNAME": socket,
        "LD_PRELOAD": str(umad),
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }
    subprocess.run(command, env=env, cwd=folder, check=True, timeout=LIMIT_S, **SILENT)


def has_credit_loop(folder):
    """What ibdmchk says of the tables that OpenSM has set."""
    command = ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"]
    streams = SILENT | {"stdout": subprocess.PIPE}
    done = subprocess.run(command, cwd=folder, timeout=LIMIT_S, text=True, check=False, **streams)
    if "Analyzing Fabric for Credit Loops" not in done.stdout:
        raise RuntimeError("ibdmchk did not reach the search for credit loops:\n" + done.stdout[-500:])
    return "no credit loops found" not in done.stdout


def route(links, engine, roots):
    """The engine that OpenSM says it used, and whether its tables have a credit loop."""
    with tempfile.TemporaryDirectory(prefix="updown-") as name:
        folder, socket = Path(name), f"updown-{os.getpid()}"
        (folder / "net").write_text(topology(links))
        simulator = subprocess.Popen(
            ["ibsim", "-s", "-n", "-L", "4096", folder / "net"],
            env={**os.environ, "IBSIM_SOCKNAME": socket},
            **SILENT,
        )
        try:
            wait_for_simulator(socket)
            run_opensm(folder, engine, roots, socket)
        finally:
            simulator.kill()
            simulator.wait()
        log = (folder / "log").read_text(errors="replace")
        used = re.findall(r"(\S+) tables configured on all switches", log)
        return {"used": used[-1] if used else None, "loop": has_credit_loop(folder)}


def print_table(found):
    print(f"{'asked for':20} {'links':>5}  with credit loops  OpenSM used")
    for name in ("updn", "updn without roots", "nue"):
        for degree in (3, 4, 6):
            runs = [f for f in found if f["asked"] == name and f["degree"] == degree]
            used = ", ".join(f"{u} ({n})" for u, n in collections.Counter(f["used"] for f in runs).items())
            print(f"{name:20} {degree:>5}  {sum(f['loop'] for f in runs):>4} of {len(runs):<9} {used}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = []
    for degree in (3, 4, 6):
        for seed in range(arguments.seeds):
            links = network(degree, seed)
            for name, engine, roots in (
                ("updn", "updn", [most_central(links)]),
                ("updn without roots", "updn", None),
                ("nue", "nue", None),
            ):
                found.append({"degree": degree, "seed": seed, "asked": name, **route(links, engine, roots)})
    print_table(found)
    if arguments.json:
        record = {"switches": SWITCHES, "hosts": HOSTS, "found": found}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
