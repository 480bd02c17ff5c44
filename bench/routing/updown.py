#!/usr/bin/env python3
"""Are OpenSM's up*/down* tables free of deadlock? Asked with Debian's tools alone: opensm, ibsim-utils, ibutils.

    python3 bench/routing/updown.py [--seeds 15] [--json FILE]

Makes random networks (64 switches, 2 hosts at each, on average 3, 4 and 6 links to other switches), has OpenSM route each with Up*/Down* and
with Nue on one virtual lane, and asks ibdmchk for credit loops. The root of Up*/Down* is the most central switch; without a root file the same is asked of what
OpenSM does then. Nothing of evenkeel is used.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

SWITCHES, HOSTS = 64, 2
LIMIT = 60  # seconds for one run of one tool


def network(degree, seed):
    """Links between switches: a random tree, then random pairs until each switch has `degree` links on average."""
    rng = random.Random(1000 * degree + seed)
    links = {tuple(sorted((s, rng.randrange(s)))) for s in range(1, SWITCHES)}
    while len(links) < SWITCHES * degree // 2:
        links.add(tuple(sorted(rng.sample(range(SWITCHES), 2))))
    return sorted(links)


def most_central(links):
    near = collections.defaultdict(set)
    for a, b in links:
        near[a].add(b)
        near[b].add(a)

    def sum_of_distances(start):
        distance, queue = {start: 0}, [start]
        for at in queue:
            for n in near[at] - distance.keys():
                distance[n] = distance[at] + 1
                queue.append(n)
        return sum(distance.values())

    return min(range(SWITCHES), key=sum_of_distances)


def topology(links):
    """As ibnetdiscover prints it, and ibsim reads it."""
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
        text += [f"[{i}]\t{end}" for i, end in enumerate(ports[s], 1)] + [""]
    return "\n".join(text)


def switch_guid(s):
    return 0x200000 + s


def host_guid(s, h):
    return 0x100000 + 4 * (HOSTS * s + h)


def route(links, engine, roots):
    """What OpenSM said it used, and what ibdmchk says of it."""
    with tempfile.TemporaryDirectory(prefix="updown-") as place:
        place = pathlib.Path(place)
        (place / "net").write_text(topology(links))
        socket = f"updown-{os.getpid()}"
        simulator = subprocess.Popen(
            ["ibsim", "-s", "-n", "-L", "4096", place / "net"],
            env={**os.environ, "IBSIM_SOCKNAME": socket},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + LIMIT
            while (
                f"@{socket}:ctl" not in pathlib.Path("/proc/net/unix").read_text() and time.monotonic() < end
            ):
                time.sleep(0.02)
            umad = next(pathlib.Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
            command = ["opensm", "-o", "-R", engine, "-D", "0x43", "-f", place / "log"]
            if roots is not None:
                (place / "roots").write_text("".join(f"0x{switch_guid(r):016x}\n" for r in roots))
                command += ["-a", place / "roots"]
            env = {
                **os.environ,
                "SIM_HOST": f"H-{host_guid(0, 0):016x}",
                "IBSIM_SOCKNAME": socket,
                "LD_PRELOAD": str(umad),
                "OSM_TMP_DIR": str(place),
                "OSM_CACHE_DIR": str(place),
            }
            subprocess.run(
                command,
                env=env,
                cwd=place,
                check=True,
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            simulator.kill()
            simulator.wait()
        used = re.findall(
            r"(\S+) tables configured on all switches", (place / "log").read_text(errors="replace")
        )
        judged = subprocess.run(
            ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"],
            cwd=place,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if "Analyzing Fabric for Credit Loops" not in judged.stdout:
            raise RuntimeError("ibdmchk did not get as far as credit loops:\n" + judged.stdout[-500:])
        return {"used": used[-1] if used else None, "loop": "no credit loops found" not in judged.stdout}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    found = []
    for degree in (3, 4, 6):
        for seed in range(arguments.seeds):
            links = network(degree, seed)
            root = most_central(links)
            for name, engine, roots in (
                ("updn", "updn", [root]),
                ("updn without roots", "updn", None),
                ("nue", "nue", None),
            ):
                found.append({"degree": degree, "seed": seed, "asked": name, **route(links, engine, roots)})
    print(f"{'asked for':20} {'links':>5}  with credit loops  OpenSM used")
    for name in ("updn", "updn without roots", "nue"):
        for degree in (3, 4, 6):
            those = [f for f in found if f["asked"] == name and f["degree"] == degree]
            used = ", ".join(f"{u} ({n})" for u, n in collections.Counter(f["used"] for f in those).items())
            print(f"{name:20} {degree:>5}  {sum(f['loop'] for f in those):>4} of {len(those):<9} {used}")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"switches": SWITCHES, "hosts": HOSTS, "found": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
