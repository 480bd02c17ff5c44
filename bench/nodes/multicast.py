"""12 MB to 8 hosts by `xfer_and_signal`, over links that are limited, beside what TCP alone moves over one of them."""

import re
import signal
import subprocess
import sys

from evenkeel_bench import programs
from evenkeel_rig import Rig
from evenkeel_rig.network import LinkShape
from evenkeel_rig.processes import signal_all

from . import rigged

BYTES = 12 << 20
RATES_MBIT = (100, 200)


def expected_s(mode):
    return mode.multicast_rounds * len(RATES_MBIT) * 4.0


def measure(mode, folder, release, bar, rows):
    program = release / "examples" / "multicast"
    common = {"section": "multicast", "setting": "primitives", "hosts": 8, "per_host": 1, "variant": ""}
    if not program.exists():
        rows.append(common | {"round": 1, "op": "run", "reason": f"{program} has not been built"})
        return
    with Rig(9, shared=[release, folder]) as rig:
        for mbit in RATES_MBIT:
            rig.shape(LinkShape(rate_mbit=mbit))
            for number in range(1, mode.multicast_rounds + 1):
                bar.set_description_str(
                    f"round {number}/{mode.multicast_rounds}: multicast over {mbit} Mbit/s",
                    refresh=sys.stderr.isatty(),
                )
                tcp_s, seconds = alone(rig, folder), together(rig, program, f"{mbit}-{number}")
                found = (
                    {"tcp_s": tcp_s, "seconds": seconds, "share": tcp_s / seconds}
                    if tcp_s and seconds
                    else {"reason": "it did not come to its end"}
                )
                rows.append(
                    common | {"round": number, "op": "multicast", "bytes": BYTES, "mbit": mbit} | found
                )
                bar.update(min(4.0, bar.total - bar.n))


def alone(rig, folder):
    """Seconds for the same bytes between two hosts; None if it did not work."""
    server = rig[0].popen([programs.path(folder, "tcp"), "serve", "7000"], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    try:
        done = rigged.on_host(rig[1], [programs.path(folder, "tcp"), "stream", "h0", "7000", str(BYTES)], 30)
        return done.rows[0]["seconds"] if done.rows else None
    finally:
        signal_all(
            [pid for pid, words in rig[0].processes().items() if " serve 7000" in words], signal.SIGKILL
        )
        server.communicate()


def together(rig, program, name):
    """Seconds from the call at the ninth host until its local event: all eight have it. None if it did not work."""
    folder = rig.path(f"/tmp/rig/multicast-{name}")
    folder.mkdir()
    # Over TCP a rendezvous costs round trips through queues that are full of data.
    env = {"UCX_NET_DEVICES": "eth0", "UCX_TLS": "tcp,self", "UCX_RNDV_THRESH": "inf"}
    line = [program, len(rig), f"/tmp/rig/multicast-{name}", BYTES]
    processes = [
        host.popen(
            [line[0], host.index, *line[1:]],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for host in rig.hosts
    ]
    said = []
    for process in processes:
        try:
            said.append("".join(process.communicate(timeout=60)))
        except subprocess.TimeoutExpired:
            process.kill()
            said.append("".join(process.communicate()))
    for host in rig.hosts:
        signal_all([pid for pid, words in host.processes().items() if program.name in words], signal.SIGKILL)
    found = re.search(r"sent \d+ bytes in ([0-9.]+) s", said[-1])
    return float(found.group(1)) if found and all("received all" in text for text in said[:-1]) else None
