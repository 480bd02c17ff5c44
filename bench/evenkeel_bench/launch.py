"""One run of one program, bounded in time: what it printed, or the reason why it printed nothing."""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .libraries import rank_environment


@dataclass
class Outcome:
    """`rows`: the result lines in order; `reason`: "", or why the run did not come to its end; `text`: all
    that was printed.
    """

    rows: list
    reason: str
    seconds: float
    text: str = ""


def parse(text):
    """The result lines among whatever else was printed. The programs of apps/ have a form of their own.

    Lines that were cut off, and times of wrong answers, are left out.

    >>> parse('hello\\nresult {"op": "barrier", "mean_us": 1.5}\\nresult {"op": "red')
    [{'op': 'barrier', 'mean_us': 1.5}]
    >>> parse('RESULT ok app=scan ranks=8 n=9 seconds=0.25\\nRESULT wrong app=scan ranks=8 seconds=1')
    [{'op': 'scan', 'bytes': 0, 'seconds': 0.25}]
    """
    rows = []
    for line in text.splitlines():
        if line.startswith("RESULT ok "):
            said = dict(word.split("=", 1) for word in line.split()[2:] if "=" in word)
            if "app" in said and "seconds" in said:
                times = {k: float(said[k]) for k in ("seconds", "mean_s", "compute_s") if k in said}
                rows.append({"op": said["app"], "bytes": 0} | times)
        elif line.startswith("result {"):
            with contextlib.suppress(ValueError):
                rows.append(json.loads(line[len("result ") :]))
    return rows


def reason_of(code, seconds, limit_s, stderr):
    """Why a run counts as failed, in a few words; "" if it does not."""
    if code == 0:
        return ""
    if code is None or seconds >= limit_s - 0.5:
        return f"cut off after {limit_s:g} s"
    said = [line.strip() for line in stderr.splitlines() if line.strip()]
    marks = ("wrong answer", "evenkeel:", "error", "Error", "signal")
    telling = [line for line in said if any(mark in line for mark in marks)]
    words = (telling or said or ["no output"])[0]
    return f"exit code {code}: {words[:160]}"


def run(command, limit_s, environment=None):
    """Runs a command in a session of its own, for `limit_s` at most."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env=rank_environment() | (environment or {}),
        )
        try:
            # The ranks' own alarm comes first, so that the launcher cleans up by itself.
            code = _wait(process, limit_s + 3)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        if code != 0:
            _remove_shared_memory(time.time() - (time.monotonic() - start))
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        text = out.read()
        return Outcome(parse(text), reason_of(code, seconds, limit_s, err.read()), seconds, text)


def _wait(process, limit_s):
    """The exit code. `Popen.wait` with a limit looks every 50 ms only, which would be in the times."""
    descriptor = os.pidfd_open(process.pid)
    try:
        if not select.select([descriptor], [], [], limit_s)[0]:
            raise subprocess.TimeoutExpired(process.args, limit_s)
    finally:
        os.close(descriptor)
    return process.wait()


def _remove_shared_memory(since):
    """Removes what a killed MPICH leaves in /dev/shm, if it is of this run and no process maps it."""
    left = {str(p) for p in Path("/dev/shm").glob("mpich_shm_*") if p.stat().st_mtime >= since}
    if not left:
        return
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            text = maps.read_text()
            left = {name for name in left if name not in text}
    for name in left:
        Path(name).unlink(missing_ok=True)


def _end(process):
    for kind, patience_s in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, kind)
            process.wait(patience_s)
