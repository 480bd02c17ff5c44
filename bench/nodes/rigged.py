"""Runs the plan's tasks on virtual hosts, and watches evenkeel's agents meanwhile. All input and output of the benchmark on several hosts is here."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from evenkeel_bench import launch, programs
from evenkeel_rig.processes import signal_all

AGENT = "evenkeel-agent"
REPORT = "/tmp/rig/bench-run.json"
COUNTS = "/tmp/rig/bench-agents.jsonl"


class Agents(threading.Thread):
    """Looks every 20 ms which agents there are, how much processor time each has used and how much memory at most."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self._end = {}, threading.Event()
        self.start()

    def run(self):
        while not self._end.wait(0.02):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    folder = Path("/proc") / pid
                    if (folder / "comm").read_text().strip() != AGENT[:15]:
                        continue
                    cpu_ns = sum(
                        int((thread / "schedstat").read_text().split()[0])
                        for thread in (folder / "task").iterdir()
                    )
                    peak = int(re.search(r"VmHWM:\s+(\d+)", (folder / "status").read_text()).group(1))
                    self.seen.setdefault(int(pid), []).append((time.monotonic(), cpu_ns, peak))

    def end(self):
        """A row about the agents of this run; None if there were none."""
        self._end.set()
        self.join()
        if not self.seen:
            return None
        total_ns = sum(samples[-1][1] - samples[0][1] for samples in self.seen.values())
        # The quietest second of each: what an agent uses while nothing is asked of it.
        idle = [quietest(samples) for samples in self.seen.values()]
        return {
            "agents": len(self.seen),
            "cpu_ms": total_ns / 1e6,
            "peak_mib": max(samples[-1][2] for samples in self.seen.values()) / 1024,
            "idle_percent": max((part for part in idle if part is not None), default=None),
        }


def quietest(samples, window_s=1.0):
    """The smallest share of a core, in per cent, that was used within a window; None if there was no such time.

    >>> quietest([(0.0, 0, 1), (1.0, 10_000_000, 1), (2.0, 10_000_000, 1)])
    0.0
    """
    shares = []
    first = 0
    for at, cpu_ns, _ in samples:
        while at - samples[first][0] > window_s * 1.2:
            first += 1
        span = at - samples[first][0]
        if span >= window_s:
            shares.append((cpu_ns - samples[first][1]) / span / 1e7)
    return min(shares, default=None)


def run_task(rig, task, setting, folder):
    """Runs one MPI program; its outcome, and the rows about it that it did not print itself."""
    hosts = rig.hosts[: task.hosts]
    environment = dict(task.environment) if setting.is_evenkeel else {}
    if setting.is_evenkeel:
        environment |= {"EVENKEEL_REPORT": REPORT, "EVENKEEL_AGENT_COUNTS": COUNTS}
        for path in (REPORT, COUNTS):
            rig.path(path).unlink(missing_ok=True)
    program = programs.path(folder, task.program, setting.library)
    command = setting.command(
        [host.name for host in hosts], task.per_host, program, task.arguments, environment
    )
    before = {host.name: set(host.processes()) for host in hosts}
    watch = Agents() if setting.is_evenkeel else None
    outcome = on_host(hosts[0], command, task.limit_s)
    agents = watch.end() if watch else None
    for host in hosts:  # what a run that was cut off has left
        signal_all(set(host.processes()) - before[host.name], signal.SIGKILL)
    more = [{"op": "agents"} | agents | counted(rig.path(COUNTS))] if agents else []
    if setting.is_evenkeel and not outcome.reason:
        more += carried_out(rig.path(REPORT))
    return outcome, more


def on_host(host, command, limit_s):
    start = time.monotonic()
    process = host.popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        out, err = process.communicate(timeout=limit_s + 5)
        code = process.returncode
    except subprocess.TimeoutExpired:
        signal_all(host.processes(), signal.SIGKILL)
        process.kill()
        out, err = process.communicate()
        code = None
    seconds = time.monotonic() - start
    return launch.Outcome(launch.parse(out), launch.reason_of(code, seconds, limit_s, err), seconds)


def counted(path):
    """Messages that all agents of a run have sent and taken in, and the processor time that they say they have used meanwhile. An agent says so at its end."""
    until = time.monotonic() + 1
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    if not path.exists():
        return {}
    agents = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        "messages": sum(agent["sent"] + agent["taken"] for agent in agents),
        "handling_us": sum(agent["processor_us"] for agent in agents),
        "agents_counted": len(agents),
    }


def carried_out(path):
    """How many calls were evenkeel's and how many the library's, by evenkeel's own record."""
    try:
        ranks = json.loads(path.read_text())["ranks"]
    except (OSError, ValueError, LookupError) as error:
        return [{"op": "record", "reason": f"no record of the run: {error}"}]
    ops = [op for rank in ranks for comm in rank["comms"] for op in comm["ops"]]
    return [
        {
            "op": "record",
            "calls": sum(op["calls"] for op in ops),
            "host_calls": sum(op["host_calls"] for op in ops),
        }
    ]


def floor(rig, folder):
    """TCP and UCX by themselves between two hosts."""
    rows = []
    server = rig[0].popen([programs.path(folder, "tcp"), "serve", "7000"], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    try:
        for line in (("pingpong", "h0", "7000", "8", "20000"), ("stream", "h0", "7000", "200000000")):
            rows += on_host(rig[1], [programs.path(folder, "tcp"), *line], 20).rows
    finally:
        signal_all(
            [pid for pid, words in rig[0].processes().items() if " serve 7000" in words], signal.SIGKILL
        )
        server.communicate()
    if not shutil.which("ucx_perftest"):
        return rows + [{"op": "ucx_tag_lat", "bytes": 8, "reason": "no ucx_perftest (Debian: ucx-utils)"}]
    env = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
    for test, size, name in (("tag_lat", "8", "one_way_us"), ("tag_bw", "65536", "mb_s")):
        server = rig[0].popen(["ucx_perftest"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        said = ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            said = (
                rig[1]
                .run(
                    ["ucx_perftest", "h0", "-t", test, "-s", size, "-n", "20000", "-w", "1000", "-f"],
                    env=env,
                    check=False,
                    timeout=10,
                )
                .stdout
            )
        for host in rig.hosts[:2]:
            signal_all(
                [pid for pid, words in host.processes().items() if "ucx_perftest" in words], signal.SIGKILL
            )
        server.communicate()
        numbers = re.findall(r"^Final:\s+(.*)$", said, re.M)
        values = [float(word) for word in numbers[-1].split()] if numbers else []
        # Columns: messages; median, average and overall latency in µs; average and overall bandwidth in MB/s;
        # …
        found = (
            {name: values[1] if name == "one_way_us" else values[5]}
            if len(values) > 5
            else {"reason": "ucx_perftest did not come to its end"}
        )
        rows.append({"op": f"ucx_{test}", "bytes": int(size)} | found)
    return rows
