"""Processes by their ids: command lines run to their end, signals, states."""

import contextlib
import os
import subprocess
from pathlib import Path


def run(line, env=None, timeout=60, check=True, stdin=""):
    """Runs a command line. With `check`, raises OSError with its output if it fails."""
    done = subprocess.run(
        line,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise OSError(f"{' '.join(line)} ended with {done.returncode}: {said}")
    return done


def signal_all(pids, signal):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal)


def state(pid):
    """The state as one character, as in ps. X: there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def of_namespace(kind, name):
    """Processes of a namespace, except zombies: id to command line and PID namespace."""
    found = {}
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.readlink(f"/proc/{entry.name}/ns/{kind}") == name:
                words = Path(f"/proc/{entry.name}/cmdline").read_bytes().replace(b"\0", b" ")
                if words:  # a zombie has none
                    pid_namespace = os.readlink(f"/proc/{entry.name}/ns/pid")
                    found[int(entry.name)] = (words.decode(errors="replace"), pid_namespace)
    return found
