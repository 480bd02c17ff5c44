"""Runs one task of the plan on virtual hosts."""

import json
import signal
import subprocess
import time

from evenkeel_bench import launch, programs
from evenkeel_rig.processes import signal_all

from .agents import AgentWatch, read_counts

REPORT = "/tmp/rig/bench-run.json"
COUNTS = "/tmp/rig/bench-agents.jsonl"


def run_task(rig, task, setting, folder):
    """Runs one MPI program: its outcome, and the rows about it that it did not print itself."""
    hosts = rig.hosts[: task.hosts]
    environment = dict(task.environment) if setting.is_evenkeel else {}
    if setting.is_evenkeel:
        environment |= {"EVENKEEL_REPORT": REPORT, "EVENKEEL_AGENT_COUNTS": COUNTS}
        for path in (REPORT, COUNTS):
            rig.path(path).unlink(missing_ok=True)
    program = programs.path(folder, task.program, setting.library)
    names = [host.name for host in hosts]
    command = setting.command(names, task.per_host, program, task.arguments, environment)
    before = {host.name: set(host.processes()) for host in hosts}
    watch = AgentWatch() if setting.is_evenkeel else None
    outcome = run_on_host(hosts[0], command, task.limit_s)
    agents = watch.end() if watch else None
    for host in hosts:  # a run that was cut off may leave processes
        signal_all(set(host.processes()) - before[host.name], signal.SIGKILL)
    more = [{"op": "agents"} | agents | read_counts(rig.path(COUNTS))] if agents else []
    if setting.is_evenkeel and not outcome.reason:
        more.append(read_report(rig.path(REPORT)))
    return outcome, more


def run_on_host(host, command, limit_s):
    """Runs a command on one host, for `limit_s` at most."""
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


def read_report(path):
    """A row with the calls that evenkeel carried out and left to the library, by its own report."""
    try:
        ranks = json.loads(path.read_text())["ranks"]
    except (OSError, ValueError, LookupError) as error:
        return {"op": "record", "reason": f"no record of the run: {error}"}
    entries = [entry for rank in ranks for comm in rank["comms"] for entry in comm["ops"]]
    return {
        "op": "record",
        "calls": sum(entry["calls"] for entry in entries),
        "host_calls": sum(entry["host_calls"] for entry in entries),
    }
