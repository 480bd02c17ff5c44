"""12 MiB to 8 hosts by `xfer_and_signal` over limited links, beside what TCP alone moves over one of them."""

import re
import subprocess

from evenkeel_bench import programs
from evenkeel_rig import Rig
from evenkeel_rig.network import LinkShape

from .network_floor import kill_processes, tcp_server
from .runs import run_on_host

BYTES = 12 << 20
RATES_MBIT = (100, 200)
EXPECTED_S = 4.0


def expected_s(budget):
    return budget.multicast_rounds * len(RATES_MBIT) * EXPECTED_S


def measure(budget, folder, release, progress, rows):
    """Adds a row for each rate and round. `release`: the folder with what cargo built."""
    program = release / "examples" / "multicast"
    common = {"section": "multicast", "setting": "primitives", "hosts": 8, "per_host": 1, "variant": ""}
    if not program.exists():
        rows.append(common | {"round": 1, "op": "run", "reason": f"{program} has not been built"})
        return
    with Rig(9, shared=[release, folder]) as rig:
        for mbit in RATES_MBIT:
            rig.shape(LinkShape(rate_mbit=mbit))
            for number in range(1, budget.multicast_rounds + 1):
                progress.begin(f"round {number}/{budget.multicast_rounds}: multicast over {mbit} Mbit/s")
                row = {"round": number, "op": "multicast", "bytes": BYTES, "mbit": mbit}
                rows.append(common | row | compare(rig, folder, program, f"{mbit}-{number}"))
                progress.advance(EXPECTED_S)


def compare(rig, folder, program, name):
    """Seconds of TCP alone and of the multicast, and the share of TCP's rate that the multicast reaches."""
    tcp_s, seconds = send_by_tcp(rig, folder), send_to_all(rig, program, name)
    if not tcp_s or not seconds:
        return {"reason": "it did not come to its end"}
    return {"tcp_s": tcp_s, "seconds": seconds, "share": tcp_s / seconds}


def send_by_tcp(rig, folder):
    """Seconds for the same bytes between two hosts; None if it failed."""
    with tcp_server(rig[0], folder):
        line = [programs.path(folder, "tcp"), "stream", "h0", "7000", str(BYTES)]
        done = run_on_host(rig[1], line, 30)
        return done.rows[0]["seconds"] if done.rows else None


def send_to_all(rig, program, name):
    """Seconds from the call at the ninth host until its local event, when all eight have the data.

    None if it failed.
    """
    folder = f"/tmp/rig/multicast-{name}"
    rig.path(folder).mkdir()
    # Over TCP a rendezvous costs round trips through queues that are full of data.
    env = {"UCX_NET_DEVICES": "eth0", "UCX_TLS": "tcp,self", "UCX_RNDV_THRESH": "inf"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [
        host.popen([program, host.index, len(rig), folder, BYTES], env=env, **pipes) for host in rig.hosts
    ]
    said = []
    for process in processes:
        try:
            said.append("".join(process.communicate(timeout=60)))
        except subprocess.TimeoutExpired:
            process.kill()
            said.append("".join(process.communicate()))
    for host in rig.hosts:
        kill_processes(host, program.name)
    found = re.search(r"sent \d+ bytes in ([0-9.]+) s", said[-1])
    return float(found.group(1)) if found and all("received all" in text for text in said[:-1]) else None
