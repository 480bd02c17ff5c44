"""Watches evenkeel's agents during a run: processor time, memory, and the messages that they count."""

import contextlib
import json
import os
import re
import threading
import time
from pathlib import Path

AGENT = "evenkeel-agent"


class AgentWatch(threading.Thread):
    """Samples, every 20 ms, the processor time of each agent and the most memory that it has used."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self._is_over = {}, threading.Event()  # process id → [(seconds, processor ns, KiB)]
        self.start()

    def run(self):
        while not self._is_over.wait(0.02):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    folder = Path("/proc") / pid
                    if (folder / "comm").read_text().strip() != AGENT[:15]:
                        continue
                    threads = (folder / "task").iterdir()
                    cpu_ns = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
                    peak = re.search(r"VmHWM:\s+(\d+)", (folder / "status").read_text())
                    sample = time.monotonic(), cpu_ns, int(peak.group(1))
                    self.samples.setdefault(int(pid), []).append(sample)

    def end(self):
        """A row about the agents of this run; None if there were none."""
        self._is_over.set()
        self.join()
        if not self.samples:
            return None
        total_ns = sum(samples[-1][1] - samples[0][1] for samples in self.samples.values())
        idle = [quietest(samples) for samples in self.samples.values()]
        return {
            "agents": len(self.samples),
            "cpu_ms": total_ns / 1e6,
            "peak_mib": max(samples[-1][2] for samples in self.samples.values()) / 1024,
            "idle_percent": max((share for share in idle if share is not None), default=None),
        }


def quietest(samples, window_s=1.0):
    """The smallest share of a core, in per cent, that was used within a window; None for a shorter time.

    It is what an agent uses while it has nothing to do.

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


def read_counts(path):
    """Messages of all agents of a run, and the processor time that they say they used for them.

    An agent writes its counts when it ends, so this waits for up to a second.
    """
    deadline = time.monotonic() + 1
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    if not path.exists():
        return {}
    agents = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        "messages": sum(agent["sent"] + agent["taken"] for agent in agents),
        "handling_us": sum(agent["processor_us"] for agent in agents),
        "agents_counted": len(agents),
    }
