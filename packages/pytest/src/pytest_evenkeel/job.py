"""A job: the ranks that a launcher has started for tests of one file, and their files."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pytest_evenkeel import world
from pytest_evenkeel.report_files import EventReader, Gate, output_path, sleeps

# The script that each rank runs.
RANK_SCRIPT = Path(__file__).with_name("rank_main.py")

# Makes a rank print the stack of each of its Python threads.
STACKS_SIGNAL = signal.SIGUSR2

# For how long ranks that were asked for their stacks, or to end, are waited for.
STACKS_S = 1.0
END_S = 5.0

# How much of a text is shown, from its end.
MOST_CHARACTERS = 20_000


# prctl: the signal that this process gets when its parent dies.
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """In the launcher, before it is executed: a pytest that is killed leaves no ranks behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def tail(text):
    """The end of a text. Of stacks that Python prints, pytest's own part is left out."""
    lines, within_pytest = [], False
    for line in text.splitlines(keepends=True):
        of_stack = line.startswith('  File "')
        if not (within_pytest and of_stack):
            lines.append(line)
        within_pytest = of_stack and (within_pytest or line.rstrip().endswith(" in pytest_pyfunc_call"))
    text = "".join(lines)
    return text if len(text) <= MOST_CHARACTERS else "[…]\n" + text[-MOST_CHARACTERS:]


class RankFile:
    """What the starter knows of one rank: its process, the tests that it has begun and ended."""

    def __init__(self, directory, rank):
        self.rank = rank
        self.events = EventReader(directory, rank)
        self.output = output_path(directory, rank)
        self.pid = None
        self.ready = False
        self.missing = []  # numbers of tests that this rank did not find
        self.collection_errors = []
        self.begun = {}  # number of the test: length of the output when it began
        self.ended = {}  # … when it ended
        self.reports = {}  # number of the test: what pytest reported, as data
        self.over = False

    def read(self):
        for event in self.events.read():
            kind = event["event"]
            if kind == "begin":
                self.pid = event["pid"]
            elif kind == "collected":
                self.ready, self.missing = True, event["missing"]
            elif kind == "collection error":
                self.collection_errors.append(event["text"])
            elif kind == "start":
                self.begun[event["test"]] = event["output"]
            elif kind == "report":
                self.reports.setdefault(event["test"], []).append(event["report"])
            elif kind == "finish":
                self.ended[event["test"]] = event["output"]
            elif kind == "end":
                self.over = True

    def failed(self, test):
        return any(report["outcome"] == "failed" for report in self.reports.get(test, []))

    def text(self, test=None):
        """What the rank printed during a test, or altogether."""
        try:
            with self.output.open("rb") as file:
                file.seek(0 if test is None else self.begun.get(test, 0))
                last = None if test is None else self.ended.get(test)
                text = file.read() if last is None else file.read(max(0, last - file.tell()))
        except FileNotFoundError:
            return ""
        return tail(text.decode(errors="replace"))


class Job:
    """Started when it is made. Every method that waits has a bound."""

    def __init__(self, directory, line, ranks, description):
        """`line`: the launcher's command line; `description`: what the ranks read, as data."""
        self.directory = directory
        self.ranks = [RankFile(directory, rank) for rank in range(ranks)]
        self.gate = Gate(directory)
        (directory / "job.json").write_text(json.dumps(description))
        self.launcher_output = directory / "launcher.out"
        environment = dict(os.environ)  # without what an MPI in this process has set for itself
        environment.pop("PYTEST_ADDOPTS", None)
        environment.pop("PYTEST_CURRENT_TEST", None)
        environment[world.DIRECTORY] = str(directory)
        environment.setdefault("EVENKEEL_QUIET", "1")
        environment.setdefault("EVENKEEL_DEADLOCK", "end")  # that is proved; other hangs have a time limit
        environment.setdefault("PYTHONUNBUFFERED", "1")
        with self.launcher_output.open("wb") as output:
            self.process = subprocess.Popen(
                [*line, sys.executable, str(RANK_SCRIPT)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509  (no other thread holds a lock that it takes)
            )

    def read(self):
        """Takes in the ranks' news. Whether the launcher has ended, seen before they were read."""
        ended = self.process.poll() is not None
        for rank in self.ranks:
            rank.read()
        return ended

    def launcher_text(self, since=""):
        """What the launcher has printed: its end, or from a sentence on, if it is there."""
        text = self.launcher_output.read_text(errors="replace")
        if not since:
            return tail(text)
        return text[text.index(since) :][:MOST_CHARACTERS] if since in text else ""

    def pids(self):
        """Process ids of ranks that live on this machine, and are still those of this job."""
        mark = f"{world.DIRECTORY}={self.directory}".encode()
        for rank in self.ranks:
            with contextlib.suppress(OSError):
                if rank.pid and mark in Path(f"/proc/{rank.pid}/environ").read_bytes().split(b"\0"):
                    yield rank.rank, rank.pid

    def ask_for_stacks(self, ranks):
        """Has these ranks print their Python stacks into their output, and gives them time for it."""
        asked = [pid for rank, pid in self.pids() if rank in ranks]
        for pid in asked:
            with contextlib.suppress(OSError):
                os.kill(pid, STACKS_SIGNAL)
        time.sleep(STACKS_S if asked else 0)

    def wait(self, seconds):
        """Waits for the launcher's end. Its exit code, or None if it has not ended in time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, seconds=END_S):
        """Has the ranks stop before their next test; ends what does not stop in time."""
        self.gate.stop()
        if self.wait(seconds) is None:
            self.kill()

    def kill(self):
        """Ends launcher and ranks. Launchers end their ranks when they are asked to end."""
        left = [pid for _, pid in self.pids()]
        with contextlib.suppress(OSError):
            self.process.terminate()
        if self.wait(END_S) is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        alive = [pid for _, pid in self.pids() if pid in left]
        deadline = time.monotonic() + STACKS_S
        for seconds in sleeps():  # ranks may end shortly after their launcher
            alive = [pid for _, pid in self.pids() if pid in alive]
            if not alive or time.monotonic() > deadline:
                break
            time.sleep(seconds)
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
