"""The files by which ranks tell what becomes of each test: lines of JSON, one file for each rank.

A line is written before and after each test, so that a crash or a hang is attributed to the right one. A file
needs no MPI and outlives the rank. In the other direction a file grows by one byte for each test that the
ranks may begin, so that no rank begins a test before all have ended the one before.
"""

import json
import os
import time
from pathlib import Path

# How long a waiting process sleeps between two looks: short at first, so that short tests stay short.
SHORTEST_SLEEP_S = 0.0005
LONGEST_SLEEP_S = 0.01


def sleeps():
    """Lengths of the sleeps of one wait, in seconds."""
    seconds = SHORTEST_SLEEP_S
    while True:
        yield seconds
        seconds = min(seconds * 1.5, LONGEST_SLEEP_S)


def events_path(directory, rank):
    return Path(directory) / f"rank-{rank}.jsonl"


def output_path(directory, rank):
    return Path(directory) / f"rank-{rank}.out"


class EventWriter:
    """Writes the events of one rank. Each line is one write, so that a crash leaves whole lines."""

    def __init__(self, directory, rank):
        self.file = os.open(
            events_path(directory, rank), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )

    def write(self, event, **more):
        line = (json.dumps({"event": event, **more}) + "\n").encode()
        while line:
            line = line[os.write(self.file, line) :]


class EventReader:
    """Reads what a rank has written since the last look."""

    def __init__(self, directory, rank):
        self.path = events_path(directory, rank)
        self.offset = 0

    def read(self):
        """The new events. A line that is not complete yet is left for the next look."""
        try:
            if self.path.stat().st_size <= self.offset:
                return []
            with self.path.open("rb") as file:
                file.seek(self.offset)
                text = file.read()
        except FileNotFoundError:
            return []
        lines = text[: text.rfind(b"\n") + 1]
        self.offset += len(lines)
        return [json.loads(line) for line in lines.splitlines()]


class Gate:
    """How many tests the ranks may have begun: the length of a file, and a second file that says "stop"."""

    def __init__(self, directory):
        self.path = Path(directory) / "go"
        self.stop_path = Path(directory) / "stop"

    def open_for(self, test):
        """Lets the ranks begin the test with this number, and those before it."""
        with self.path.open("ab") as file:
            file.truncate(test + 1)

    def is_open_for(self, test):
        try:
            return self.path.stat().st_size > test
        except FileNotFoundError:
            return False

    def stop(self):
        self.stop_path.touch()

    def stopped(self):
        return self.stop_path.exists()

    def wait(self, test, still_wanted):
        """Waits until the test may begin. False: the ranks are to stop, or it is not `still_wanted()`."""
        for seconds in sleeps():
            if self.is_open_for(test):
                return True
            if self.stopped() or not still_wanted():
                return False
            time.sleep(seconds)
        return False
