"""Runs command lines. Whatever a command line starts is gone when `run` returns.

Processes are found again by a token in their environment, so that ranks that left their launcher's session or
process group are found as well.
"""

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path

# Ends what hangs. No test depends on it in another way, so it is long enough for a busy machine.
HUNG_S = 600

# A launcher of Open MPI's whose ranks have all ended for so long hangs by itself. That of 4.1 does now and
# then, in PMIx_server_finalize.
ALONE_S = 60
LOOK_S = 5
HUNG_BY_ITSELF = "the launcher hangs, though all that it had started has ended"
LAUNCHERS_OF_OPENMPI = re.compile(r"\S*(mpirun\.openmpi|openmpi5/bin/mpirun|prterun)\s")

# For how long the children of a launcher may outlive it.
MOMENT_S = 60


@dataclasses.dataclass
class Outcome:
    """What became of a command line."""

    code: int | None  # exit code; None: it was still running when its time was up
    out: str
    err: str
    report: Path | None  # where evenkeel was told to write its report
    left_over: list[str]  # command lines of processes that outlived the launcher

    @property
    def text(self):
        return self.out + self.err

    @property
    def said(self):
        """Lines that evenkeel itself wrote to standard error."""
        return [line for line in self.err.splitlines() if line.startswith("evenkeel:")]

    def ok(self):
        """The outcome itself; fails the test unless the exit code is 0."""
        assert self.code == 0, f"exit code {self.code}\n{self.out[-3000:]}\n{self.err[-6000:]}"
        return self

    def read_report(self):
        assert self.report and self.report.exists(), f"no report was written\n{self.text}"
        return json.loads(self.report.read_text())

    def operations(self, *names):
        """The report's entries about these operations (all of them if none is named)."""
        return operations(self.read_report(), *names)

    def calls(self, operation, key="calls"):
        """Calls of an operation and of its nonblocking form, by all ranks on all communicators."""
        return sum(entry[key] for entry in self.operations(operation, "i" + operation))


def communicators(report):
    """The entries about communicators in a report: one per rank and communicator."""
    return [comm for rank in report["ranks"] for comm in rank["comms"]]


def operations(report, *names):
    """The entries about operations in a report: one per rank, communicator and operation."""
    return [
        entry for comm in communicators(report) for entry in comm["ops"] if not names or entry["op"] in names
    ]


def with_token(token):
    """Processes that have the token in their environment, except zombies: process id to command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if token.encode() in (entry / "environ").read_bytes():
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = command.decode(errors="replace")
        except OSError:
            pass  # it has ended, or belongs to another user
    return found


def described(token):
    """A line for each process with the token: its state, where it waits in the kernel, its command line."""
    lines = []
    for pid, command in with_token(token).items():
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            waits = Path(f"/proc/{pid}/wchan").read_text()
            lines.append(f"process {pid} {state} {waits} {command[:200]}")
    return "\n".join(lines)


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def pause(pid, seconds):
    """Stops a process for so long, and lets it go on. Whether it was there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        return True
    return False


def kill_with_group(pid):
    """Kills a process and its process group, so that none that is just being forked stays."""
    with contextlib.suppress(ProcessLookupError):
        group = os.getpgid(pid)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
    kill(pid)


def kill_all(token):
    for pid in with_token(token):
        kill_with_group(pid)


def heed_signals():
    """Signals act as for a command that a person types. Shells have what they start in the background ignore
    SIGINT and SIGQUIT, these tests and their children included."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)


def start(line, environment, token, before=None):
    """Starts a command line with the settings that launchers need here, and the token. `before()` is called
    in the new process."""
    settings = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | settings | (environment or {}) | dict([token.split("=")]),
        start_new_session=True,
        preexec_fn=before,  # noqa: PLW1509 - before an exec, and it only resets signals
    )
    process.token = token
    return process


def is_alone(process):
    """Whether this is a launcher of Open MPI's that has no other process any more."""
    others = with_token(process.token)
    command = others.pop(process.pid, "")
    return not others and LAUNCHERS_OF_OPENMPI.match(command) is not None


def communicate(process, timeout):
    """As the method of processes, but ends a launcher that hangs by itself, and says so."""
    deadline, alone_since = time.monotonic() + timeout, None
    while True:
        try:
            left = deadline - time.monotonic()
            return process.communicate(timeout=max(0, min(LOOK_S, left)))
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            alone_since = (alone_since or now) if is_alone(process) else None
            if alone_since is not None and now - alone_since >= ALONE_S:
                process.kill()
                out, err = process.communicate()
                return out, f"{err}\n{HUNG_BY_ITSELF}\n"
            if now >= deadline:
                raise


def run(line, timeout=HUNG_S, report=None, watch=None, environment=None):
    """Runs a command line for at most `timeout` seconds; `watch(process)` is called once it has started."""
    token = f"EVENKEEL_TEST_TOKEN={uuid.uuid4()}"
    process = start(line, environment, token)
    try:
        if watch:
            watch(process)
        out, err = communicate(process, timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code = None
        running = described(token)
        kill_all(token)
        process.kill()
        out, err = process.communicate()
        err += f"\nAfter {timeout} s there were still:\n{running}"
    except BaseException:
        kill_all(token)
        raise
    left_over = after_a_moment(token)
    for pid in left_over:
        kill_with_group(pid)
    return Outcome(code, out, err, Path(report) if report else None, list(left_over.values()))


def after_a_moment(token):
    """Processes that outlive their launcher for good; it may end shortly before its children."""
    until(lambda: not with_token(token), MOMENT_S)
    return with_token(token)


def until(answer, seconds=HUNG_S):
    """The first true value of `answer()`, else the last one when so many seconds are over."""
    deadline = time.monotonic() + seconds
    while not (found := answer()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found
