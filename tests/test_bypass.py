"""Whoever is not owed a result does not wait for a rank that is stopped (SIGSTOP); the operation completes when it
continues. Progress is read from counters in a file, never inferred from time."""

import json
import os
import re
import signal
import struct
import subprocess
import time

import pytest

import mpis
from test_matrix import result


class Counters:
    """One 64-bit counter per rank in a file that the ranks map."""

    def __init__(self, path, ranks):
        self.path, self.ranks = path, ranks
        path.write_bytes(b"\0" * 8 * ranks)

    def read(self):
        return struct.unpack(f"{self.ranks}q", self.path.read_bytes())

    def wait_until(self, condition, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            now = self.read()
            if condition(now):
                return now
            time.sleep(0.01)
        return self.read()


def stopped_rank(process, marked, program):
    """The pid of the one rank in state T."""
    for pid, command in marked(process.token).items():
        try:
            state = re.search(r"^State:\s+(\w)", open(f"/proc/{pid}/status").read(), re.M).group(1)
        except OSError:
            continue
        if state == "T" and command.split()[0].endswith(program.name):
            return pid
    return None


def run_with_one_stopped(mpi, tmp_path, op, ranks, stopped, free, bytes, env=None, patience=20, rounds=2):
    """Returns the outcome and the counters when all of `free` had left their calls and the others had had some time to, or patience ran out."""
    counters = Counters(tmp_path / "counters", ranks)
    program = mpi.build("bypass.c")
    held = [r for r in range(ranks) if r != stopped and r not in free]
    seen = {}

    def watch(process):
        counters.wait_until(lambda c: c[stopped] == -1, 30)
        deadline = time.monotonic() + 30
        while not (pid := stopped_rank(process, mpis.marked, program)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert pid, f"rank {stopped} did not stop"
        try:
            counters.wait_until(lambda c: all(c[r] == rounds for r in free), patience)
            seen["counters"] = counters.wait_until(lambda c: any(c[r] > 0 for r in held), 0.1)
        finally:
            os.kill(pid, signal.SIGCONT)

    outcome = mpi.run(
        program,
        ranks,
        counters.path,
        f"op={op}",
        f"stopped={stopped}",
        f"rounds={rounds}",
        f"bytes={bytes}",
        env=env,
        watch=watch,
        timeout=60,
    )
    return outcome, seen["counters"]


# operation, ranks, who is stopped, who may go on. In a binomial tree the stopped ranks would be inner
# ones or below some.
CASES = [
    ("reduce", 4, 3, [1, 2]),
    ("reduce", 4, 2, [1, 3]),
    ("reduce", 8, 7, [1, 2, 3, 4, 5, 6]),
    ("bcast", 4, 2, [0, 1, 3]),
    ("bcast", 8, 4, [0, 1, 2, 3, 5, 6, 7]),
    ("bcast", 8, 1, [0, 2, 3, 4, 5, 6, 7]),
    ("gather", 5, 4, [1, 2, 3]),
    ("scatter", 5, 2, [0, 1, 3, 4]),
]


@pytest.mark.parametrize("bytes", [8, 1024])
@pytest.mark.parametrize(
    "op, ranks, stopped, free", CASES, ids=lambda v: str(v) if not isinstance(v, list) else ""
)
def test_the_others_go_on(mpi, tmp_path, op, ranks, stopped, free, bytes):
    if mpi.name != "openmpi4" and (bytes != 8 or (op, stopped) not in [("reduce", 3), ("bcast", 2)]):
        pytest.skip(
            "the operations do not depend on the MPI library: all of them under Open MPI 4, two under each other one"
        )
    outcome, counters = run_with_one_stopped(mpi, tmp_path, op, ranks, stopped, free, bytes)
    assert all(counters[r] == 2 for r in free), f"some were held while rank {stopped} was stopped: {counters}"
    assert nobody_else_left(counters, stopped, free), f"some cannot have had the result: {counters}"
    result(outcome)  # and it completed, with the right results, once the rank continued


def nobody_else_left(counters, stopped, free):
    return all(left == 0 for rank, left in enumerate(counters) if rank != stopped and rank not in free)


# The operations that are left: operation, ranks, who is stopped, who may go on, bytes, instances. A
# vector of a ring's bytes is one instance; half as many more are three, and the third finds no room
# before the root has read the first: that needs the stopped rank.
RING = 32 * 1024
OTHERS = [
    ("gatherv", 5, 4, [1, 2, 3], 8, 1),
    ("scatterv", 5, 2, [0, 1, 3, 4], 8, 1),
    ("scan", 5, 2, [0, 1], 8, 1),
    ("exscan", 5, 2, [0, 1], 1024, 1),
    ("allgather", 4, 1, [], 8, 1),
    ("allgatherv", 4, 3, [], 1024, 1),
    ("alltoall", 4, 1, [], 8, 1),
    ("alltoallv", 4, 3, [], 1024, 1),
    ("reduce_scatter", 4, 1, [], 8, 1),
    ("allreduce", 4, 3, [], 8, 1),
    ("allreduce", 4, 3, [], 4096, 1),
    ("reduce", 4, 3, [1, 2], RING, 1),
    ("reduce", 4, 3, [], 3 * RING // 2, 3),
]


@pytest.mark.parametrize(
    "op, ranks, stopped, free, bytes, instances",
    OTHERS,
    ids=lambda v: str(v) if not isinstance(v, list) else "",
)
def test_who_needs_nothing_goes_on_and_nobody_else(
    openmpi4, tmp_path, op, ranks, stopped, free, bytes, instances
):
    outcome, counters = run_with_one_stopped(openmpi4, tmp_path, op, ranks, stopped, free, bytes, rounds=1)
    assert all(counters[r] == 1 for r in free), f"some were held while rank {stopped} was stopped: {counters}"
    assert nobody_else_left(counters, stopped, free), f"some cannot have had the result: {counters}"
    result(outcome)


# What the engine's own ways are in the list of algorithms (crates/runtime/engine/src/builtin.rs).
SCHEDULES = {
    "reduce": "reduce-flat",
    "bcast": "bcast-flag-tree:r=7",
    "gather": "gather-flat",
    "gatherv": "gather-flat",
    "scatter": "scatter-flat",
    "scatterv": "scatter-flat",
    "allgather": "allgather-flat",
    "allgatherv": "allgather-flat",
    "alltoall": "alltoall-flat",
    "alltoallv": "alltoall-flat",
    "reduce_scatter": "reduce-scatter-flat",
    "allreduce": "allreduce-central-counter",
    "scan": "scan-flat",
    "exscan": "exscan-flat",
}


def done_without(schedule, ranks, dead, tmp_path, instances=1):
    """How many ranks of a schedule come through the last of so many calls of which one rank enters none."""
    record = tmp_path / "record.json"
    line = [schedule, "--ranks", ranks, "--iterations", instances, "--dead", f"{dead}=0ns", "--json", record]
    subprocess.run([mpis.EVENKEEL, "simulate", *map(str, line)], check=True, capture_output=True)
    return json.loads(record.read_text())["runs"][0]["calls"][-1]["ranks_done"]


@pytest.mark.parametrize(
    "op, ranks, stopped, free", CASES, ids=lambda v: str(v) if not isinstance(v, list) else ""
)
def test_the_schedules_hold_whom_the_engine_holds(tmp_path, op, ranks, stopped, free):
    """The same cases as above, so that what is proved and simulated of a schedule is said of the engine."""
    assert done_without(SCHEDULES[op], ranks, stopped, tmp_path) == len(free)


@pytest.mark.parametrize(
    "op, ranks, stopped, free, bytes, instances",
    OTHERS,
    ids=lambda v: str(v) if not isinstance(v, list) else "",
)
def test_the_other_schedules_hold_whom_the_engine_holds(tmp_path, op, ranks, stopped, free, bytes, instances):
    schedule = "allreduce-parts" if op == "allreduce" and bytes > 2048 else SCHEDULES[op]
    assert done_without(schedule, ranks, stopped, tmp_path, instances) == len(free)


def test_a_tree_would_hold_others(tmp_path):
    assert (
        done_without("reduce-binomial", 8, 7, tmp_path) < 6
        and done_without("bcast-binomial", 8, 1, tmp_path) < 7
    )


def test_it_is_evenkeel_that_lets_them_go(openmpi4, tmp_path):
    """The same test fails for the host library alone: an inner rank waits for the stopped one."""
    outcome, counters = run_with_one_stopped(
        openmpi4, tmp_path, "reduce", 8, 7, [1, 2, 3, 4, 5, 6], 8, {"EVENKEEL_OFF": "1"}, 2
    )
    assert any(counters[r] < 2 for r in range(1, 7)), (
        f"nobody was held: {counters}; this test proves nothing any more"
    )
    result(outcome)
