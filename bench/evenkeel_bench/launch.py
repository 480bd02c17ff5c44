"""One run of one program, bounded in time: what it printed, or the reason why there is nothing."""

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from . import peers


class Outcome:
    """`rows`: the result lines in order; `reason`: "" or why the run did not come to its end."""

    def __init__(self, rows, reason, seconds):
        self.rows, self.reason, self.seconds = rows, reason, seconds


def parse(text):
    """The result lines among whatever else was printed. The programs of apps/ have a form of their own; one whose answer is wrong
    also ends with an exit code, and its time is none.

    >>> parse('hello\\nresult {"op": "barrier", "mean_us": 1.5}\\nresult {"op": "red')
    [{'op': 'barrier', 'mean_us': 1.5}]
    >>> parse('RESULT ok app=scan ranks=8 algorithm=naive n=4096 seconds=0.25\\nRESULT wrong app=scan ranks=8 seconds=1')
    [{'op': 'scan', 'bytes': 0, 'seconds': 0.25}]
    """
    rows = []
    for line in text.splitlines():
        if line.startswith("RESULT ok "):
            said = dict(word.split("=", 1) for word in line.split()[2:] if "=" in word)
            if "app" in said and "seconds" in said:  # else it was cut off in the middle of the line
                rows.append(
                    {"op": said["app"], "bytes": 0}
                    | {k: float(said[k]) for k in ("seconds", "mean_s", "compute_s") if k in said}
                )
        elif line.startswith("result {"):
            try:
                rows.append(json.loads(line[len("result ") :]))
            except ValueError:
                pass  # cut off in the middle of the line
    return rows


def reason_of(code, seconds, limit_s, stderr):
    """Why a run counts as failed, in a few words; "" if it does not."""
    if code == 0:
        return ""
    if code is None or seconds >= limit_s - 0.5:
        return f"cut off after {limit_s:g} s"
    said = [line.strip() for line in stderr.splitlines() if line.strip()]
    telling = [
        line
        for line in said
        if any(w in line for w in ("wrong answer", "evenkeel:", "error", "Error", "signal"))
    ]
    words = (telling or said or ["nothing said"])[0]
    return f"exit code {code}: {words[:160]}"


def run(command, limit_s, environment=None):
    """Starts `command` in a session of its own and waits for it, `limit_s` at most."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env=peers.rank_environment() | (environment or {}),
        )
        try:
            code = process.wait(
                limit_s + 3
            )  # the ranks' own alarm comes first: then the launcher cleans up by itself
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        if code != 0:
            _sweep(time.time() - (time.monotonic() - start))
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return Outcome(parse(out.read()), reason_of(code, seconds, limit_s, err.read()), seconds)


def _sweep(since):
    """Removes the shared memory that MPICH leaves behind when it is killed, if it is of this run and nobody maps it."""
    left = {str(p) for p in Path("/dev/shm").glob("mpich_shm_*") if p.stat().st_mtime >= since}
    if not left:
        return
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            text = maps.read_text()
        except OSError:
            continue  # gone, or somebody else's
        left = {name for name in left if name not in text}
    for name in left:
        Path(name).unlink(missing_ok=True)


def _end(process):
    for how, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, how)
            process.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
