"""The lower bounds of the network between two hosts: TCP and UCX by themselves."""

import contextlib
import re
import shutil
import signal
import subprocess
import time

from evenkeel_bench import programs
from evenkeel_rig.processes import signal_all

from .runs import run_on_host

UCX = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}


@contextlib.contextmanager
def tcp_server(host, folder):
    """Runs the serving side of src/tcp.c on a host, at port 7000."""
    line = [programs.path(folder, "tcp"), "serve", "7000"]
    server = host.popen(line, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    try:
        yield
    finally:
        kill_processes(host, " serve 7000")
        server.communicate()


def kill_processes(host, words):
    """Kills processes of a host whose command line contains these words."""
    signal_all([pid for pid, line in host.processes().items() if words in line], signal.SIGKILL)


def measure(rig, folder):
    """Rows about TCP and UCX between h0 and h1."""
    rows = []
    with tcp_server(rig[0], folder):
        for words in (("pingpong", "h0", "7000", "8", "20000"), ("stream", "h0", "7000", "200000000")):
            rows += run_on_host(rig[1], [programs.path(folder, "tcp"), *words], 20).rows
    if not shutil.which("ucx_perftest"):
        return [*rows, {"op": "ucx_tag_lat", "bytes": 8, "reason": "no ucx_perftest (Debian: ucx-utils)"}]
    return [*rows, ucx(rig, "tag_lat", 8, "one_way_us", 1), ucx(rig, "tag_bw", 65536, "mb_s", 5)]


def ucx(rig, test, size, name, column):
    """A row with one number of `ucx_perftest`.

    Its columns: messages; median, average and overall latency in µs; average and overall bandwidth in MB/s; …
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = rig[0].popen(["ucx_perftest"], env=UCX, **quiet)
    time.sleep(0.3)
    line = ["ucx_perftest", "h0", "-t", test, "-s", size, "-n", "20000", "-w", "1000", "-f"]
    said = ""
    with contextlib.suppress(subprocess.TimeoutExpired):
        said = rig[1].run(line, env=UCX, check=False, timeout=10).stdout
    for host in rig.hosts[:2]:
        kill_processes(host, "ucx_perftest")
    server.communicate()
    lines = re.findall(r"^Final:\s+(.*)$", said, re.MULTILINE)
    values = [float(word) for word in lines[-1].split()] if lines else []
    row = {"op": f"ucx_{test}", "bytes": size}
    if len(values) <= 5:
        return row | {"reason": "ucx_perftest did not come to its end"}
    return row | {name: values[column]}
