"""A rank returns from a collective once it has what it needs, even if another rank is stopped (SIGSTOP).

The operation completes when the stopped rank continues. This is application bypass (Wagner et al. 2004).
Progress is read from counters in a file, never inferred from time.
"""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from counters import Counters
from evenkeel_command import evenkeel
from processes import HUNG_S, until, with_token
from verdicts import assert_passed

pytestmark = pytest.mark.in_turn

# Operation, ranks, the stopped rank, the ranks that need nothing from it. In a binomial tree the stopped
# ranks would be inner ones, or some of the others would be below them.
TREES = [
    ("reduce", 4, 3, [1, 2]),
    ("reduce", 4, 2, [1, 3]),
    ("reduce", 8, 7, [1, 2, 3, 4, 5, 6]),
    ("bcast", 4, 2, [0, 1, 3]),
    ("bcast", 8, 4, [0, 1, 2, 3, 5, 6, 7]),
    ("bcast", 8, 1, [0, 2, 3, 4, 5, 6, 7]),
    ("gather", 5, 4, [1, 2, 3]),
    ("scatter", 5, 2, [0, 1, 3, 4]),
]

# The other operations: the same, then bytes.
RING = 32 * 1024
OTHERS = [
    ("gatherv", 5, 4, [1, 2, 3], 8),
    ("scatterv", 5, 2, [0, 1, 3, 4], 8),
    ("scan", 5, 2, [0, 1], 8),
    ("exscan", 5, 2, [0, 1], 1024),
    ("allgather", 4, 1, [], 8),
    ("allgatherv", 4, 3, [], 1024),
    ("alltoall", 4, 1, [], 8),
    ("alltoallv", 4, 3, [], 1024),
    ("reduce_scatter", 4, 1, [], 8),
    ("allreduce", 4, 3, [], 8),
    ("allreduce", 4, 3, [], 4096),
    ("reduce", 4, 3, [1, 2], RING),
    # Longer deposits go through bounce buffers.
    ("reduce", 4, 3, [1, 2], 8 * RING),
    ("gather", 4, 3, [1, 2], 8 * RING),
    ("gatherv", 4, 3, [1, 2], 8 * RING),
    ("scatter", 4, 2, [0, 1, 3], 4 * RING),
    ("scatterv", 4, 2, [0, 1, 3], 4 * RING),
    ("gather", 4, 3, [1, 2], 64 * RING),  # in slices
    ("reduce", 4, 3, [1, 2], 16 * RING),
]

each_tree = pytest.mark.parametrize(
    "op, ranks, stopped, free", TREES, ids=lambda v: str(v) if not isinstance(v, list) else ""
)
each_other = pytest.mark.parametrize(
    "op, ranks, stopped, free, size",
    OTHERS,
    ids=lambda v: str(v) if not isinstance(v, list) else "",
)


def stopped_process(process, program):
    """The process id of the one rank in state T."""
    for pid, command in with_token(process.token).items():
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        state = re.search(r"^State:\s+(\w)", status, re.MULTILINE).group(1)
        if state == "T" and command.split()[0].endswith(program.name):
            return pid
    return None


def run_with_one_stopped(
    mpi, folder, op, ranks, stopped, free, size, env=None, patience=HUNG_S, rounds=2, reached=None
):
    """Stops a rank until all of `free` have returned (or `patience` seconds are over), then continues it.

    Returns the outcome, and the counters just before the rank was continued. Ranks that are not free have had
    a tenth of a second longer to return, which would be wrong. With `reached`, all of `free` have returned
    from so many of the rounds, and they too have had a tenth of a second longer to return from another one.
    """
    reached = reached or rounds
    counters = Counters(folder / "counters", ranks)
    program = mpi.build("bypass.c")
    held = [r for r in range(ranks) if r != stopped and r not in free]
    seen = {}

    def watch(process):
        counters.wait_until(lambda c: c[stopped] == -1)
        pid = until(lambda: stopped_process(process, program))
        assert pid, f"rank {stopped} did not stop"
        try:
            counters.wait_until(lambda c: all(c[r] >= reached for r in free), patience)
            seen["counters"] = counters.wait_until(
                lambda c: any(c[r] > 0 for r in held) or any(c[r] > reached for r in free), 0.1
            )
        finally:
            os.kill(pid, signal.SIGCONT)

    args = [counters.path, f"op={op}", f"stopped={stopped}", f"rounds={rounds}", f"bytes={size}"]
    outcome = mpi.run(program, ranks, *args, env=env, watch=watch)
    return outcome, seen["counters"]


def assert_only_free_returned(counters, stopped, free, rounds):
    assert all(counters[r] == rounds for r in free), f"rank {stopped} was stopped and held others: {counters}"
    others = [left for rank, left in enumerate(counters) if rank != stopped and rank not in free]
    assert not any(others), f"some ranks returned without the result that they need: {counters}"


@pytest.mark.parametrize("size", [8, 1024])
@each_tree
def test_ranks_that_need_nothing_from_a_stopped_rank_go_on(mpi, tmp_path, op, ranks, stopped, free, size):
    if mpi.name != "openmpi4" and (size != 8 or (op, stopped) not in [("reduce", 3), ("bcast", 2)]):
        pytest.skip(
            "operations do not depend on the library; all are tested under Open MPI 4, two under the others"
        )
    outcome, counters = run_with_one_stopped(mpi, tmp_path, op, ranks, stopped, free, size)
    assert_only_free_returned(counters, stopped, free, rounds=2)
    assert_passed(outcome)  # and the results are right once the rank has continued


@each_other
def test_only_ranks_that_need_nothing_go_on(openmpi4, tmp_path, op, ranks, stopped, free, size):
    outcome, counters = run_with_one_stopped(openmpi4, tmp_path, op, ranks, stopped, free, size, rounds=1)
    assert_only_free_returned(counters, stopped, free, rounds=1)
    assert_passed(outcome)


@pytest.mark.parametrize("op", ["reduce", "gather", "gatherv"])
@pytest.mark.parametrize("size", [8, 1024, RING // 2])
def test_ranks_run_far_ahead_of_a_rank_that_they_owe_nothing(openmpi4, tmp_path, op, size):
    """In a chain of operations, ranks that need nothing return from all of them while one rank is stopped."""
    rounds, free = min(20_000, 20_000_000 // size), [1, 2]
    outcome, counters = run_with_one_stopped(
        openmpi4, tmp_path, op, 4, 3, free, size, rounds=rounds, patience=120
    )
    assert_only_free_returned(counters, 3, free, rounds=rounds)
    assert_passed(outcome)


def test_a_vector_longer_than_a_ring_holds_no_rank_that_needs_nothing(openmpi4, tmp_path):
    """It is cut into three instances, the last of which finds no room in the ring."""
    outcome, counters = run_with_one_stopped(
        openmpi4, tmp_path, "reduce", 4, 3, [1, 2], 3 * RING // 2, rounds=1
    )
    assert_only_free_returned(counters, 3, [1, 2], rounds=1)
    assert_passed(outcome)


def test_the_memory_of_ranks_that_run_ahead_is_bounded(openmpi4, tmp_path):
    """A rank has at most 32 deposits in the window, and 32 Ki in its backlog."""
    limit, free = 32 + 32 * 1024, [1, 2]
    outcome, counters = run_with_one_stopped(
        openmpi4, tmp_path, "reduce", 4, 3, free, 8, rounds=limit + 100, reached=limit, patience=120
    )
    assert_only_free_returned(counters, 3, free, rounds=limit)
    assert_passed(outcome)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_results_are_right_while_ranks_run_ahead(openmpi4, report, ranks):
    program = openmpi4.build("run_ahead.c")
    outcome = openmpi4.run(program, ranks, f"seed={ranks}", report=report)
    assert_passed(outcome)
    ahead = max(entry["ahead"] for entry in outcome.operations("reduce", "gather"))
    assert ahead > 64, f"ranks were {ahead} operations ahead at most; this test proves nothing"


def test_without_evenkeel_ranks_are_held(openmpi4, tmp_path):
    """The same run fails for the host library alone: an inner rank of its tree waits for the stopped one."""
    free, off = [1, 2, 3, 4, 5, 6], {"EVENKEEL_OFF": "1"}
    outcome, counters = run_with_one_stopped(openmpi4, tmp_path, "reduce", 8, 7, free, 8, off, patience=2)
    assert any(counters[r] < 2 for r in free), f"no rank was held: {counters}; this test proves nothing"
    assert_passed(outcome)


# The engine's built-in algorithms by their names in the list of schedules.
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


def ranks_that_finish(schedule, ranks, dead, folder):
    """How many ranks finish a simulated call if rank `dead` does not enter it."""
    record = folder / "record.json"
    counts = ["--ranks", ranks, "--iterations", 1]
    evenkeel("simulate", schedule, *counts, "--dead", f"{dead}=0ns", "--json", record)
    return json.loads(record.read_text())["runs"][0]["calls"][-1]["ranks_done"]


@each_tree
def test_schedules_hold_the_ranks_that_the_engine_holds(tmp_path, op, ranks, stopped, free):
    """Hence proofs and simulations of a schedule apply to the engine."""
    assert ranks_that_finish(SCHEDULES[op], ranks, stopped, tmp_path) == len(free)


@each_other
def test_other_schedules_hold_the_ranks_that_the_engine_holds(tmp_path, op, ranks, stopped, free, size):
    schedule = "allreduce-parts" if op == "allreduce" and size > 2048 else SCHEDULES[op]
    assert ranks_that_finish(schedule, ranks, stopped, tmp_path) == len(free)


def test_schedules_of_trees_would_hold_more_ranks(tmp_path):
    assert ranks_that_finish("reduce-binomial", 8, 7, tmp_path) < 6
    assert ranks_that_finish("bcast-binomial", 8, 1, tmp_path) < 7
